import type { Destination } from "../../domain/destination.js";
import type { JournalKind } from "../../domain/journal.js";
import type { RailMovement } from "../../domain/payment.js";
import type { Transaction } from "../../domain/transaction.js";
import type { AccountId, DestinationId, TransactionId } from "../../domain/values/ids.js";
import type { Changes, NumberedEntry } from "../../ledger/ports/store.js";
import { newPersonSalt } from "../secrets/book-keys.js";
import { contentOfFreeze, contentOfPerson, contentOfTransaction, proofsOf } from "./journal-rows.js";
import { contentOfApiKey } from "./organization-rows.js";
import { contentOfDeposit } from "./records/deposit-rows.js";
import { contentOfDestination } from "./records/destination-rows.js";

/** What the content hash of an entry covers, besides the entry itself. */
export interface EntryContent {
  readonly created: readonly string[];
  /** The person's random salt for a new account. Otherwise the salt comes from the book's key. */
  readonly salt?: string;
}

export const NOTHING: readonly string[] = [];
/** The kind of the row that books the money of a movement on a rail. */
const BOOKS_MOVEMENT: JournalKind = "transaction.completed";
/** The entries of which the words are evidence. */
const SWITCHES: ReadonlySet<JournalKind> = new Set([
  "organization.suspended",
  "organization.resumed",
  "organization.receipts_required",
  "organization.receipts_optional",
]);
/** The salts of personal data that a batch writes, in hexadecimal. */
export type PersonSalts = Map<AccountId | DestinationId, string>;
/** The entries after which an account has other personal data. */
const SETS_PERSON: ReadonlySet<JournalKind> = new Set(["account.created", "account.updated"]);

/**
 * Returns what the content hash of each entry covers besides the entry itself. Adds the new salts
 * of persons to `personSalts`.
 */
export function entryContents(
  { entries, tables }: Changes,
  personSalts: PersonSalts,
): Map<NumberedEntry | undefined, EntryContent> {
  const contents = new Map<NumberedEntry | undefined, EntryContent>();
  const { created: newTransactions, changed: changedTransactions } = tables.transactions;
  for (const { row, createdBy } of newTransactions) contents.set(createdBy, { created: contentOfTransaction(row) });
  for (const { row, createdBy } of tables.deposits.created) contents.set(createdBy, { created: contentOfDeposit(row) });
  const movements = movementsOf([...newTransactions, ...changedTransactions]);
  for (const numbered of entries) {
    const { kind, transactionId } = numbered.entry;
    const movement = kind === BOOKS_MOVEMENT ? movements.get(transactionId) : undefined;
    const proofs = proofsOf(numbered.entry, movement);
    if (proofs.length > 0) contents.set(numbered, { created: [...(contents.get(numbered)?.created ?? []), ...proofs] });
  }
  for (const { row, createdBy } of tables.freezes.created) {
    contents.set(createdBy, { created: contentOfFreeze(row) });
  }
  for (const numbered of entries) {
    const { kind, freezeId } = numbered.entry;
    if (kind === "account.unfrozen" && freezeId !== undefined)
      contents.set(numbered, { created: [freezeId, ...proofsOf(numbered.entry, undefined)] });
  }
  for (const { row, createdBy } of tables.apiKeys.created) contents.set(createdBy, { created: contentOfApiKey(row) });
  for (const { row, changedBy } of [...tables.apiKeys.created, ...tables.apiKeys.changed]) {
    if (changedBy?.entry.kind === "key.revoked") contents.set(changedBy, { created: [row.id] });
  }
  for (const numbered of entries) {
    if (SWITCHES.has(numbered.entry.kind)) contents.set(numbered, { created: [numbered.entry.reason] });
  }
  for (const numbered of entries) {
    const { kind, actor, reason } = numbered.entry;
    if (kind === "account.revealed") contents.set(numbered, { created: [actor, reason] });
  }
  const { created, changed } = tables.accountHolders;
  const holders = new Map([...created, ...changed].map(({ row }) => [row.accountId, row]));
  // The hash of the last entry that set the personal data covers it. Of earlier entries the salt
  // and the data are gone: nobody can find out an old phone number.
  for (const numbered of entries.filter(({ entry }) => SETS_PERSON.has(entry.kind)).toReversed()) {
    const { accountId } = numbered.entry;
    const holder = accountId === undefined ? undefined : holders.get(accountId);
    if (accountId === undefined || holder === undefined) continue;
    const salt = newPersonSalt();
    const isLast = !personSalts.has(accountId);
    if (isLast) personSalts.set(accountId, salt);
    const content = isLast && holder.person !== undefined ? contentOfPerson(holder.person) : NOTHING;
    contents.set(numbered, { created: content, salt });
  }
  addDestinations({ entries, tables }, { contents, personSalts });
  return contents;
}

/** A destination has its row's salt as long as it has its number. */
function addDestinations(
  { entries, tables }: Pick<Changes, "entries"> & { readonly tables: Pick<Changes["tables"], "destinations"> },
  { contents, personSalts }: { contents: Map<NumberedEntry | undefined, EntryContent>; personSalts: PersonSalts },
): void {
  const { created, changed } = tables.destinations;
  const rows = new Map<string | undefined, Destination>([...created, ...changed].map(({ row }) => [row.id, row]));
  for (const numbered of entries) {
    const { kind, detail } = numbered.entry;
    const destination = kind.startsWith("destination.") ? rows.get(detail) : undefined;
    if (destination === undefined) continue;
    const content = { created: [...contentOfDestination(destination), ...proofsOf(numbered.entry, undefined)] };
    if (kind === "destination.removed") {
      contents.set(numbered, content);
      continue;
    }
    const salt = newPersonSalt();
    personSalts.set(destination.id, salt);
    contents.set(numbered, { ...content, salt });
  }
}

/** Returns the movements that the rows of a batch have, by the ids of their transactions. */
function movementsOf(
  rows: readonly { readonly row: Transaction }[],
): ReadonlyMap<TransactionId | undefined, RailMovement | undefined> {
  return new Map(rows.map(({ row }) => [row.id, row.railMovement]));
}
