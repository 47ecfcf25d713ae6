import type { TableName, Tables } from "../../domain/decision.js";
import type { Destination } from "../../domain/destination.js";
import type { JournalKind } from "../../domain/journal.js";
import type { RailMovement } from "../../domain/payment.js";
import type { AccountId, DestinationId, TransactionId } from "../../domain/values/ids.js";
import type { Changes, NumberedEntry } from "../../ledger/ports/store.js";
import { newPersonSalt } from "../secrets/book-keys.js";
import { proofsOf } from "./journal-rows.js";
import { contentOfDestination } from "./records/destination-rows.js";
import { contentOfPerson } from "./records/holder-rows.js";
import type { Table } from "./table.js";
import { TABLES, TABLES_IN_ORDER } from "./tables.js";

/** What the content hash of an entry covers, besides the entry itself. */
export interface EntryContent {
  readonly created: readonly string[];
  /** The random salt of personal data. Otherwise the salt comes from the book's key. */
  readonly salt?: string;
}

/** The salts of personal data that a batch writes, in hexadecimal. */
export type PersonSalts = Map<AccountId | DestinationId, string>;

type TableRows = Changes["tables"];
type Holder = TableRows["accountHolders"]["created"][number]["row"];

/** The rows of a batch, by what its entries name. */
interface WrittenRows {
  /** The contents of the rows that the entries made. */
  readonly made: ReadonlyMap<NumberedEntry | undefined, readonly string[]>;
  readonly movements: ReadonlyMap<TransactionId | undefined, RailMovement | undefined>;
  readonly holders: ReadonlyMap<AccountId | undefined, Holder>;
  /** The last entry that set the personal data of each account. */
  readonly setsPerson: ReadonlyMap<AccountId | undefined, NumberedEntry>;
  readonly destinations: ReadonlyMap<string | undefined, Destination>;
  readonly personSalts: PersonSalts;
}

type ContentOf = (numbered: NumberedEntry, rows: WrittenRows) => EntryContent;

const NOTHING: readonly string[] = [];
const madeWithProofs: ContentOf = (numbered, { made }) => withProofs(made.get(numbered) ?? NOTHING, numbered);
const madeAlone: ContentOf = (numbered, { made }) => ({ created: made.get(numbered) ?? NOTHING });
/** The words of the entry are evidence. */
const reasonAlone: ContentOf = ({ entry }) => ({ created: [entry.reason] });

/** What the hash covers, by the kind of the entry. `madeWithProofs` is that of all other kinds. */
const CONTENTS: Readonly<Partial<Record<JournalKind, ContentOf>>> = {
  "organization.suspended": reasonAlone,
  "organization.resumed": reasonAlone,
  "organization.receipts_required": reasonAlone,
  "organization.receipts_optional": reasonAlone,
  "key.created": madeAlone,
  "account.created": personOf,
  "account.updated": personOf,
  "account.frozen": madeAlone,
  "account.unfrozen": (numbered) => withProofs([numbered.entry.freezeId ?? ""], numbered),
  "account.revealed": ({ entry }) => ({ created: [entry.actor, entry.reason] }),
  // It books the money of a movement on a rail.
  "transaction.completed": (numbered, { made, movements }) =>
    withProofs(made.get(numbered) ?? NOTHING, numbered, movements.get(numbered.entry.transactionId)),
  "destination.created": destinationOf,
  "destination.removed": destinationOf,
};

/**
 * Returns a function that returns what the content hash of an entry of the batch covers besides the
 * entry itself. Call it once for each entry: it adds the new salts of persons to `personSalts`.
 */
export function entryContents(
  { entries, tables }: Changes,
  personSalts: PersonSalts,
): (numbered: NumberedEntry) => EntryContent {
  const setsPerson = entries.filter(({ entry: { kind } }) => CONTENTS[kind] === personOf);
  const rows: WrittenRows = {
    made: madeBy(tables),
    movements: new Map(rowsOf(tables.transactions).map(({ id, railMovement }) => [id, railMovement])),
    holders: new Map(rowsOf(tables.accountHolders).map((row) => [row.accountId, row])),
    setsPerson: new Map(setsPerson.map((numbered) => [numbered.entry.accountId, numbered])),
    destinations: new Map(rowsOf(tables.destinations).map((row) => [row.id, row])),
    personSalts,
  };
  return (numbered) => (CONTENTS[numbered.entry.kind] ?? madeWithProofs)(numbered, rows);
}

/** An entry makes at most one row that its hash covers. */
function madeBy(tables: TableRows): WrittenRows["made"] {
  const made = new Map<NumberedEntry | undefined, readonly string[]>();
  for (const name of TABLES_IN_ORDER) {
    const { contentOf } = TABLES[name] as Table<Tables[TableName]>;
    if (contentOf === undefined) continue;
    for (const { row, createdBy } of tables[name].created) made.set(createdBy, contentOf(row));
  }
  return made;
}

function withProofs(created: readonly string[], { entry }: NumberedEntry, movement?: RailMovement): EntryContent {
  const proofs = proofsOf(entry, movement);
  return { created: proofs.length === 0 ? created : [...created, ...proofs] };
}

/**
 * The hash of the last entry that set the personal data covers it. Of earlier entries the salt and
 * the data are gone: nobody can find out an old phone number.
 */
function personOf(numbered: NumberedEntry, { holders, setsPerson, personSalts }: WrittenRows): EntryContent {
  const { accountId } = numbered.entry;
  const holder = holders.get(accountId);
  if (accountId === undefined || holder === undefined) return withProofs(NOTHING, numbered);
  const salt = newPersonSalt();
  const isLast = setsPerson.get(accountId) === numbered;
  if (isLast) personSalts.set(accountId, salt);
  return { created: isLast && holder.person !== undefined ? contentOfPerson(holder.person) : NOTHING, salt };
}

/** A destination has its row's salt as long as it has its number. */
function destinationOf(numbered: NumberedEntry, { destinations, personSalts }: WrittenRows): EntryContent {
  const destination = destinations.get(numbered.entry.detail);
  if (destination === undefined) return withProofs(NOTHING, numbered);
  const content = withProofs(contentOfDestination(destination), numbered);
  if (numbered.entry.kind === "destination.removed") return content;
  const salt = newPersonSalt();
  personSalts.set(destination.id, salt);
  return { ...content, salt };
}

/** Returns the rows that a batch writes, as they are after it. */
function rowsOf<Row>({
  created,
  changed,
}: { [Name in "created" | "changed"]: readonly { readonly row: Row }[] }): Row[] {
  return [...created, ...changed].map(({ row }) => row);
}
