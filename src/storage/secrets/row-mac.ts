import { createHmac } from "node:crypto";

import type { TableModel } from "../../model/column.js";
import type { BookKeys } from "./book-keys.js";

/** A table whose rows count only with a true `mac`. */
type BoundTable = TableModel & { readonly bound: readonly string[] };

/** Bytes as a SELECT returns them, or in hexadecimal. */
type BoundValue = string | number | Uint8Array | null;

type BoundRow<Of extends BoundTable> = { readonly [Name in Of["bound"][number]]: BoundValue };

// The first text names the format, so that a later format cannot be mistaken for this one.
const FORMAT = "kesc-row-1";

/**
 * Returns the `mac` of a row in hexadecimal: HMAC-SHA-256 over the columns that the model names,
 * with a key of the book. The key needs the master key, and moves with the book (docs/adr/0072).
 */
export function rowMac<Of extends BoundTable>(
  { index }: Pick<BookKeys, "index">,
  { bound }: Of,
  row: BoundRow<Of>,
): string {
  const values = row as Readonly<Record<string, BoundValue>>;
  return createHmac("sha256", index)
    .update(JSON.stringify([FORMAT, ...bound.map((name) => [name, textOf(values[name])])]))
    .digest("hex");
}

function textOf(value: BoundValue | undefined): Exclude<BoundValue, Uint8Array> | undefined {
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}

/** Returns whether the service wrote the row as it is. */
export function hasTrueMac<Of extends BoundTable>(
  keys: Pick<BookKeys, "index">,
  table: Of,
  row: BoundRow<Of> & { readonly mac: Uint8Array },
): boolean {
  return Buffer.from(row.mac).toString("hex") === rowMac(keys, table, row);
}
