import { createHmac } from "node:crypto";

import type { BookKeys } from "./book-keys.js";

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-proposal-1";

/**
 * Returns the `mac` of a proposal in a book, in hexadecimal: HMAC-SHA-256 with a key of the book.
 * So nobody can write a proposal, or its approval, with the database alone.
 */
export function proposalMac({ index }: Pick<BookKeys, "index">, fields: readonly (string | number | null)[]): string {
  return createHmac("sha256", index)
    .update(JSON.stringify([FORMAT, ...fields]))
    .digest("hex");
}
