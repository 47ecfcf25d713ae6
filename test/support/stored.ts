import { type Effect, type Put, TABLE_KEYS, type TableName, type Tables } from "../../src/domain/decision.js";
import type { BatchBook } from "../../src/ledger/batch-book.js";
import { TABLES } from "../../src/storage/sql/tables.js";

/** The columns of fields that have another name there, or the first of several. */
const COLUMNS: Readonly<Record<string, string>> = {
  statusNote: "status_reason",
  usage: "day_from",
  person: "user_id",
  lifted: "lifted_by",
  number: "phone_number",
  isDefault: "is_usual",
  decided: "decision",
  replay: "replay_seq",
  // It is read from the journal, of a transaction that has ended.
  availableAfterCents: "completed_at",
};

function columnsOf(field: string): readonly string[] {
  const own = field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return [own, COLUMNS[field] ?? own];
}

/**
 * Throws if the effect changes a field whose column no UPDATE of the store sets: the answer to the
 * command would say what is not stored.
 */
export function mustBeStorable(book: BatchBook, { puts }: Effect): void {
  for (const put of puts) mustPutBeStored(book, put);
}

function mustPutBeStored<Name extends TableName>(book: BatchBook, { table, row }: Put<Name>): void {
  const before = book.byKey(table)(row.organizationId, TABLE_KEYS[table].keyOf(row));
  if (before !== undefined) mustBeStored(table, before, row);
}

/** Throws if no UPDATE of the store sets a field that differs. */
export function mustBeStored<Name extends TableName>(table: Name, before: Tables[Name], after: Tables[Name]): void {
  const update = TABLES[table].updates.find(({ fits }) => fits?.(before, after) ?? true);
  const isSet = (field: string): boolean => columnsOf(field).some((column) => update?.sets.includes(column));
  for (const field of Object.keys(after) as (string & keyof Tables[Name])[]) {
    if (before[field] !== after[field] && !isSet(field))
      throw new Error(`the decision changes ${field} of ${table}, and no UPDATE sets that`);
  }
}
