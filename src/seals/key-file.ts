import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

import { codeOf, createOwnerOnlyFile, replaceOwnerOnlyFile } from "../../runtime/files/owner-only-file.js";
import { type ArrivedKey, publicBytesOf, type PublicSealKeys } from "./note.js";

const SECRET_LINE = /^secret ([A-Za-z0-9_-]{43})$/;
const PUBLIC_LINE = /^public ([A-Za-z0-9_-]{43})(?: (org_[0-9a-z]{26}) ([1-9][0-9]{0,15}))?$/;
/** The prefix of the 32 bytes of an Ed25519 key in the encoding of PKCS #8. */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** The keys of a seal key file. */
export interface SealKeys extends Required<PublicSealKeys> {
  /** Signs new seals. */
  readonly privateKey: KeyObject;
  /** The public key of it, and those of earlier keys. */
  readonly publicKeys: readonly [Uint8Array, ...Uint8Array[]];
}

/** The seal key file is missing or malformed. The message never repeats its content. */
export class SealKeyError extends Error {}

/**
 * Reads a file whose first line has the secret key, and whose other lines have the public keys of
 * earlier ones. Throws a SealKeyError.
 */
export function readSealKeys(filename: string): SealKeys {
  return parseSealKeys(textOf(filename));
}

/** Parses the text of a seal key file. Throws a SealKeyError. */
function parseSealKeys(text: string): SealKeys {
  const [first = "", ...others] = linesOf(text);
  const [, secret] = SECRET_LINE.exec(first) ?? [];
  if (secret === undefined) throw new SealKeyError('line 1 is not "secret" with 32 bytes in base64url');
  const earlier: Uint8Array[] = [];
  const arrivedKeys: ArrivedKey[] = [];
  for (const [index, line] of others.entries()) {
    const [, key, organizationId, size] = PUBLIC_LINE.exec(line) ?? [];
    if (key === undefined) {
      throw new SealKeyError(
        `line ${String(index + 2)} is not "public" with 32 bytes in base64url, and a book or none`,
      );
    }
    const bytes = Buffer.from(key, "base64url");
    if (organizationId === undefined) earlier.push(bytes);
    else arrivedKeys.push({ bytes, organizationId, size: Number(size) });
  }
  const der = Buffer.concat([PKCS8_PREFIX, Buffer.from(secret, "base64url")]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return { privateKey, publicKeys: [publicBytesOf(createPublicKey(privateKey)), ...earlier], arrivedKeys };
}

/** Returns the keys of the file. Reads it again when it has changed. Throws a SealKeyError. */
export type SealKeySource = () => SealKeys;

export function sealKeysIn(filename: string): SealKeySource {
  let last: { readonly version: string; readonly keys: SealKeys } | undefined;
  return () => {
    const file = statSync(filename, { throwIfNoEntry: false });
    const version = file === undefined ? "" : [file.ino, file.mtime.toISOString(), file.size].join(" ");
    if (version === "" || last?.version !== version) last = { version, keys: readSealKeys(filename) };
    return last.keys;
  };
}

/** Creates the file with a new key. Only its owner can read it. Returns false if it exists. */
export function createSealKeyFile(filename: string): boolean {
  return orSealKeyError(() => createOwnerOnlyFile(filename, `${newSecretLine()}\n`));
}

/**
 * Puts a new key in the place of the secret one, whose public key stays in the file. After a crash
 * the file has either the old key or the new one. Throws a SealKeyError.
 */
export function rotateSealKey(filename: string): SealKeys {
  return orSealKeyError(() => {
    const { publicKeys, arrivedKeys } = readSealKeys(filename);
    const kept = [...publicKeys.map((bytes) => publicLineOf({ bytes })), ...arrivedKeys.map(publicLineOf)];
    replaceOwnerOnlyFile(filename, [newSecretLine(), ...kept, ""].join("\n"));
    return readSealKeys(filename);
  });
}

/** Returns the line of a public key: of this place, or of one from which a book came. */
export function publicLineOf(key: Pick<ArrivedKey, "bytes"> | ArrivedKey): string {
  const book = "size" in key ? ` ${key.organizationId} ${String(key.size)}` : "";
  return `public ${Buffer.from(key.bytes).toString("base64url")}${book}`;
}

function newSecretLine(): string {
  const { privateKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ type: "pkcs8", format: "der" }).subarray(PKCS8_PREFIX.length);
  return `secret ${seed.toString("base64url")}`;
}

function textOf(filename: string): string {
  try {
    return readFileSync(filename, "utf8");
  } catch (error) {
    const code = codeOf(error);
    throw new SealKeyError(code === "ENOENT" ? "it does not exist" : `it cannot be read (${String(code)})`, {
      cause: error,
    });
  }
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** Calls `work`. Turns an error of the file system into a SealKeyError. */
function orSealKeyError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    const code = codeOf(error);
    throw code === undefined ? error : new SealKeyError(`it cannot be written (${code})`, { cause: error });
  }
}
