import { createHmac, timingSafeEqual } from "node:crypto";

import type { OrganizationId } from "../../domain/values/ids.js";
import type { Cell } from "../database.js";
import { type BookMove, MoveError } from "./book-moves.js";

/**
 * - arrived: the new place has all rows, and they are right. The old place asks for it before it
 *   gives the book away.
 * - released: the old place has given the book away. The new place asks for it before it opens.
 */
export type CodePurpose = "arrived" | "released";

interface CodedMove {
  readonly organizationId: OrganizationId;
  readonly move: BookMove | undefined;
}

type CodeCell = Pick<Cell, "directory"> & { readonly reader: Pick<Cell["reader"], "rows"> };

const MAC_BYTES = 15;
const GROUP = /.{10}(?=.)/g;
const CODE = /^([0-9a-f]{10})((?:-[0-9a-f]{10}){3})$/;

/**
 * Returns a code that only a place with the keys of the book can make. It names one move, one
 * import of it and all rows of the book, so it fits no other copy.
 */
export async function moveCode(
  { directory, reader }: CodeCell,
  { organizationId, move }: CodedMove,
  purpose: CodePurpose,
): Promise<string> {
  if (move?.root === undefined || move.arrivalId === undefined) {
    throw new MoveError(`The move of ${organizationId} has no complete copy yet.`);
  }
  const book = await directory.book(organizationId, ({ sql, bindings }) => reader.rows(sql, bindings));
  const text = JSON.stringify(["kesc-move-1", purpose, organizationId, move.moveId, move.arrivalId, move.root]);
  const mac = createHmac("sha256", book.keys.seal).update(text).digest().subarray(0, MAC_BYTES);
  return `${move.arrivalId}-${mac.toString("hex").replaceAll(GROUP, "$&-")}`;
}

/**
 * Returns the import that a code names, if a place with the keys of the book made the code for this
 * move. Compares in constant time.
 */
export async function arrivalOfCode(
  cell: CodeCell,
  { given, organizationId, move }: CodedMove & { readonly given: string },
  purpose: CodePurpose,
): Promise<string | undefined> {
  const [code = "", arrivalId] = CODE.exec(given.trim().toLowerCase()) ?? [];
  if (arrivalId === undefined || move === undefined) return undefined;
  const expected = await moveCode(cell, { organizationId, move: { ...move, arrivalId } }, purpose);
  const [left, right] = [Buffer.from(code), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right) ? arrivalId : undefined;
}
