import type {
  Destination,
  DestinationKind,
  DestinationNumber,
  MaskedNumber,
  RailName,
} from "../../../domain/destination.js";
import type { AccountId, DestinationId } from "../../../domain/values/ids.js";
import type { Description } from "../../../domain/values/text.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { DESTINATIONS } from "../../../model/accounts.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { decryptPersonal, encryptPersonal } from "../../secrets/personal-data.js";
import type { OpenBook } from "../book-directory.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `destinations`, as both drivers read it. */
export type DestinationRow = RowOf<typeof DESTINATIONS, Uint8Array>;

export const DESTINATION_TABLE: Table<Destination, DestinationRow> = {
  name: "destinations",
  key: "id",
  insertedRow: destinationRowOf,
  reads: ({ table }, { list, keyed }) => [
    {
      finders: ["destination", "idempotencyKeyOfDestination", "destinationsOfAccount"],
      sql: `
        SELECT * FROM ${table("destinations")} WHERE id IN (${list} UNION ALL ${keyed})
        UNION ALL
        SELECT * FROM ${table("destinations")} WHERE removed_at IS NULL AND account_id IN (${list})`,
    },
  ],
  rowOf: destinationOf,
  updates: [{ sets: changedNamesOf(DESTINATIONS) }],
};

/** Decrypts number and name. Throws if they were changed, or belong to another destination. */
export function destinationOf(row: DestinationRow, { organizationId, keys }: OpenBook): Destination {
  const id = row.id as DestinationId;
  const place = { organizationId, ownerId: id, field: "number" } as const;
  const [number, railName] = row.number === null ? [] : decryptPersonal(keys, place, row.number).split(NAME_FOLLOWS);
  return {
    id,
    organizationId,
    accountId: row.account_id as AccountId,
    kind: row.kind as DestinationKind,
    label: row.label as Description,
    number: number as DestinationNumber | undefined,
    maskedNumber: row.masked_number as MaskedNumber,
    railName: railName as RailName | undefined,
    usableAt: toUnixMillis(row.usable_at),
    createdAt: toUnixMillis(row.created_at),
    removedAt: row.removed_at === null ? undefined : toUnixMillis(row.removed_at),
  };
}

/** Neither a number nor a name has it. */
const NAME_FOLLOWS = "\n";

/** The name is stored with the number, so that it goes with it, and the row's hash covers it. */
function storedNumberOf({ number, railName }: Destination): string | undefined {
  return number === undefined || railName === undefined ? number : `${number}${NAME_FOLLOWS}${railName}`;
}

/** One batch may create a destination and remove it: then the row never holds its number. */
function destinationRowOf(destination: Destination, { book, seq, facts }: RowPlace): InsertedRow<typeof DESTINATIONS> {
  const { id, organizationId } = destination;
  const number = storedNumberOf(destination);
  const place = { organizationId, ownerId: id, field: "number" } as const;
  return {
    book: book.number,
    seq,
    id,
    account_id: destination.accountId,
    kind: destination.kind,
    label: destination.label,
    number: number === undefined ? null : encryptPersonal(book.keys, place, number).toString("hex"),
    masked_number: destination.maskedNumber,
    content_salt: number === undefined ? null : facts.personSaltOf(id),
    usable_at: destination.usableAt,
    created_at: destination.createdAt,
    removed_at: destination.removedAt ?? null,
  };
}

/**
 * Returns the fields that the content hash of a destination's row covers. The row that created it
 * covers the number and its name, with a salt that goes together with them. Then nobody can try all
 * numbers. The row that removed it covers what stays.
 */
export function contentOfDestination(destination: Destination): readonly string[] {
  const { kind, label, maskedNumber, usableAt } = destination;
  return [kind, label, maskedNumber, storedNumberOf(destination) ?? "", String(usableAt)];
}
