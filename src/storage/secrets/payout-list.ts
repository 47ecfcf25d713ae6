import { createHmac, hash } from "node:crypto";

import type { ListedText } from "../../domain/payout-list.js";
import type { BookKeys } from "./book-keys.js";

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-payout-list-1";
const ENTRY_CHARACTERS = 32;

/**
 * Returns the entry of a list: half of an HMAC-SHA-256 with a key of the book, in hexadecimal.
 * Equal texts give equal entries, and without the key nobody can test a guess.
 */
export function listEntryOf({ index }: Pick<BookKeys, "index">, text: ListedText): string {
  const digest = createHmac("sha256", index)
    .update(JSON.stringify([FORMAT, text]))
    .digest("hex");
  return digest.slice(0, ENTRY_CHARACTERS);
}

/** Joins the entries of a list as they are stored: each once, in their order, in hexadecimal. */
export function joinEntries(entries: Iterable<string>): string {
  return [...new Set(entries)].sort().join("");
}

/** Splits what `joinEntries` joined, as a driver reads it. */
export function splitEntries(joined: Uint8Array): ReadonlySet<string> {
  const text = Buffer.from(joined).toString("hex");
  const count = Math.floor(text.length / ENTRY_CHARACTERS);
  return new Set(
    Array.from({ length: count }, (_, index) => text.slice(index * ENTRY_CHARACTERS, (index + 1) * ENTRY_CHARACTERS)),
  );
}

/** Returns the hash of a list in hexadecimal, from what `joinEntries` joined. */
export function listHashOf(joined: string): string {
  return hash("sha256", `${FORMAT} ${joined}`, "hex");
}

/** The hash of the list without an entry, which is not stored. */
export const EMPTY_LIST = listHashOf("");

/** Returns whether the service wrote the entries under this hash. */
export function hasListHash(joined: Uint8Array, expected: string): boolean {
  return listHashOf(Buffer.from(joined).toString("hex")) === expected;
}
