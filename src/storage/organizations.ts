import { type JournalEntry, OPERATOR } from "../domain/journal.js";
import type { OrganizationId } from "../domain/values/ids.js";
import { NO_REASON } from "../domain/values/text.js";
import { toUnixMillis } from "../domain/values/time.js";
import type { Cell } from "./database.js";
import { newBookKeys, RowSalts } from "./secrets/book-keys.js";
import type { Columns } from "./sql/engine.js";
import { JOURNAL_COLUMNS, journalRowOf } from "./sql/journal-rows.js";
import { BOOK_COLUMNS } from "./sql/ledger-statements.js";
import { ORGANIZATION_COLUMNS, type OrganizationRow } from "./sql/organization-rows.js";

const NEW_BOOK_COLUMNS = { ...BOOK_COLUMNS, organization_id: "text", state: "text" } as const satisfies Columns;

const BOOK_KEYS_COLUMNS = {
  book: "int64",
  data_key: "bytes",
  index_key: "bytes",
  seal_secret: "bytes",
  master_key_id: "text",
} as const satisfies Columns;

const FIRST_SEQ = 1;

/**
 * Creates the organization, its book with new keys, and the first row of the book.
 *
 * Rejects with a StoreError "conflict" if another process created a book at the same time.
 */
export async function insertOrganization(cell: Cell, row: OrganizationRow): Promise<void> {
  const { table, insertInto } = cell.engine;
  const organizationId = row.id as OrganizationId;
  const [keys, wrapped] = newBookKeys(cell.masterKeys(), organizationId);
  await cell.transact(async (session) => {
    const [last] = (await session.read({
      sql: `SELECT COALESCE(MAX(number), 0) AS number FROM ${table("books")}`,
      bindings: [],
    })) as readonly [{ readonly number: number }];
    const number = last.number + 1;
    const journalRow = journalRowOf(openingEntry(row), {
      book: number,
      seq: FIRST_SEQ,
      previousSeq: null,
      salt: new RowSalts(keys).of(FIRST_SEQ),
      created: [row.name],
    });
    await session.write([
      { sql: insertInto(table("organizations"), ORGANIZATION_COLUMNS), rows: [row] },
      { sql: insertInto(table("books"), NEW_BOOK_COLUMNS), rows: [newBookRow(number, row)] },
      { sql: insertInto(table("book_keys"), BOOK_KEYS_COLUMNS), rows: [{ book: number, ...hexOf(wrapped) }] },
      { sql: insertInto(table("journal"), JOURNAL_COLUMNS), rows: [journalRow] },
    ]);
  });
}

function openingEntry(row: OrganizationRow): JournalEntry {
  return {
    organizationId: row.id as OrganizationId,
    accountId: undefined,
    transactionId: undefined,
    kind: "organization.created",
    posting: undefined,
    balancesAfter: undefined,
    actor: OPERATOR,
    reason: NO_REASON,
    recordedAt: toUnixMillis(row.created_at),
  };
}

function newBookRow(
  number: number,
  row: OrganizationRow,
): Readonly<Record<keyof typeof NEW_BOOK_COLUMNS, string | number>> {
  return {
    number,
    organization_id: row.id,
    state: "OPEN",
    last_seq: FIRST_SEQ,
    last_recorded_at: row.created_at,
    reserve_cents: 0,
    shortfall_cents: 0,
    available_cents: 0,
    held_cents: 0,
    unallocated_cents: 0,
  };
}

function hexOf({ data_key, index_key, seal_secret, master_key_id }: ReturnType<typeof newBookKeys>[1]) {
  return {
    data_key: data_key.toString("hex"),
    index_key: index_key.toString("hex"),
    seal_secret: seal_secret.toString("hex"),
    master_key_id,
  };
}
