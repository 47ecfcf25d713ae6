import { publicLineOf } from "../../seals/key-file.js";
import { type ArrivedKey, keysOfLog, type PublicSealKeys } from "../../seals/note.js";
import { OperatorError } from "../../startup/operator-error.js";
import { publicSealKeys } from "../../startup/seal-keys.js";
import type { SealEvidence } from "../../verify/audit.js";
import type { BookFileHeader } from "./book-file.js";

/**
 * Returns the keys that may have signed the seals of a book, as the file of the book names them:
 * each in base64url. One that came here with the book has a space and its last row after it.
 */
export function exportedKeys(
  { publicKeys, arrivedKeys = [] }: PublicSealKeys,
  organizationId: string,
): readonly string[] {
  const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
  return [
    ...publicKeys.map(textOf),
    ...arrivedKeys
      .filter((key) => key.organizationId === organizationId)
      .map(({ bytes, size }) => `${textOf(bytes)} ${String(size)}`),
  ];
}

/** Throws an OperatorError if the seal key file lacks a key that may have signed seals. */
export function evidenceOf(
  seals: { readonly keyFile: string },
  { sealPublicKeys, organizationId, lastSeq }: Pick<BookFileHeader, "sealPublicKeys" | "organizationId" | "lastSeq">,
): SealEvidence {
  const { publicKeys, arrivedKeys } = publicSealKeys(seals);
  const needed = sealPublicKeys.map((text): ArrivedKey => {
    const [key = "", size = String(lastSeq)] = text.split(" ");
    return { bytes: Buffer.from(key, "base64url"), organizationId, size: Number(size) };
  });
  const missing = needed.filter((key) => {
    return !keysOfLog({ publicKeys, arrivedKeys }, key).some((own) => Buffer.compare(own, key.bytes) === 0);
  });
  if (missing.length > 0) {
    throw new OperatorError(
      `The seals of the book may be signed by keys that ${seals.keyFile} lacks. Compare them with those of the old ` +
        "place, add these lines at the end of the file, and run the command again:\n" +
        missing.map(publicLineOf).join("\n") +
        "\nThey count in the log of this book alone, and up to the row that each line names." +
        "\nWithout a file, make one first: kesc seal rotate. Nothing was imported.",
    );
  }
  return { publicKeys, arrivedKeys, published: undefined };
}
