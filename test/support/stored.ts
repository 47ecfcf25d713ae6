import type { Book, Effect, Put, TableName, Tables } from "../../src/domain/decision.js";
import { TABLES } from "../../src/storage/sql/tables.js";

/** The row that a put would replace. */
const STANDING: { readonly [Name in TableName]: (book: Book, row: Tables[Name]) => Tables[Name] | undefined } = {
  accounts: (book, { organizationId, id }) => book.account(organizationId, id),
  accountHolders: (book, { organizationId, accountId }) => book.accountHolder(organizationId, accountId),
  freezes: (book, { organizationId, id }) => book.freeze(organizationId, id),
  transactions: (book, { organizationId, id }) => book.transaction(organizationId, id),
  payments: (book, { organizationId, transactionId }) => book.payment(organizationId, transactionId),
  deposits: (book, { organizationId, id }) => book.deposit(organizationId, id),
  proposals: (book, { organizationId, subject }) => book.proposal(organizationId, subject),
  apiKeys: (book, { organizationId, id }) => book.apiKey(organizationId, id),
  railAccounts: (book, { organizationId, id }) => book.railAccounts(organizationId).find((each) => each.id === id),
  reservePlaces: (book, { organizationId, place }) =>
    book.reservePlaces(organizationId).find((each) => each.place === place),
  idempotencyKeys: () => undefined,
  destinations: (book, { organizationId, id }) => book.destination(organizationId, id),
};

/** The columns of fields that have another name there, or the first of several. */
const COLUMNS: Readonly<Record<string, string>> = {
  statusNote: "status_reason",
  usage: "day_from",
  person: "user_id",
  lifted: "lifted_by",
  number: "phone_number",
  isDefault: "is_usual",
  decided: "decision",
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
export function mustBeStorable(book: Book, { puts }: Effect): void {
  for (const put of puts) refuseUnstored(book, put);
}

function refuseUnstored<Name extends TableName>(book: Book, { table, row: after }: Put<Name>): void {
  const before = STANDING[table](book, after);
  if (before === undefined) return;
  const { updates } = TABLES[table];
  const update = updates.find(({ fits }) => fits(before, after));
  const isSet = (field: string): boolean => columnsOf(field).some((column) => column in (update?.columns ?? {}));
  for (const field of Object.keys(after) as (string & keyof Tables[Name])[]) {
    if (before[field] !== after[field] && !isSet(field))
      throw new Error(`the decision changes ${field} of ${table}, and no UPDATE sets that`);
  }
}
