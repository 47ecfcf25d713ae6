import { hash } from "node:crypto";

/** The content of a journal row that its `content_hash` covers, with what the row created. */
export interface Content {
  readonly kind: string;
  readonly transactionId: string | null;
  readonly accountId: string | null;
  readonly recordedAt: number;
  /** The fields of the created transaction, account or organization, in a fixed order. */
  readonly created: readonly string[];
}

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-content-1";

/**
 * Returns the SHA-256 of the salt and the content, in hexadecimal. The salt is hexadecimal, too. It
 * keeps a reader of the hash from testing guesses.
 */
export function contentHash(salt: string, { kind, transactionId, accountId, recordedAt, created }: Content): string {
  const fields = [FORMAT, kind, transactionId ?? "", accountId ?? "", String(recordedAt), ...created];
  return hash("sha256", `${salt}${JSON.stringify(fields)}`, "hex");
}
