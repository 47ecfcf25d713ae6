import type { LedgerAccount } from "../domain/account.js";
import type { PersonalSum } from "../domain/alone.js";
import type { StoredApiKey } from "../domain/api-key.js";
import { type BookHead, postedToBook } from "../domain/book.js";
import type { Book, Effect, Put, ResourceId, TableName, Tables } from "../domain/decision.js";
import { type Deposit, isUnallocated, readDepositDetail } from "../domain/deposit.js";
import type { Destination } from "../domain/destination.js";
import type { Freeze } from "../domain/freeze.js";
import { type DecidingRow, isDeciding, type JournalEntry } from "../domain/journal.js";
import type { Resource } from "../domain/operations.js";
import { isUnderWay, type Payment, type RailAccountId, type RailMovement } from "../domain/payment.js";
import type { AlonePerson, Proposal } from "../domain/proposal.js";
import type { RailAccountRecord } from "../domain/rail-account.js";
import type { ReservePlace } from "../domain/reserve.js";
import type { Transaction } from "../domain/transaction.js";
import type { Actor } from "../domain/values/actor.js";
import type { AccountId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { IdempotencyKey } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";
import { BatchReceipts } from "./batch-receipts.js";
import { BatchTable, type BatchTableKeys } from "./batch-table.js";
import {
  type Changes,
  type Loaded,
  type NumberedEntry,
  type RailAccountsOfAll,
  railAccountsText,
} from "./ports/store.js";
import { RowChangedError } from "./row-changed-error.js";

const KEYS: { readonly [Name in TableName]: BatchTableKeys<Tables[Name]> } = {
  accounts: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, depositReference }) =>
      depositReference === undefined ? undefined : within(organizationId, depositReference),
  },
  accountHolders: {
    keyOf: ({ accountId }) => accountId,
    nameOf: ({ organizationId, person, isOpen }) =>
      person === undefined || !isOpen ? undefined : within(organizationId, person.userId),
  },
  freezes: { keyOf: ({ id }) => id, groupOf: ({ accountId }) => accountId },
  transactions: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, reference }) => within(organizationId, reference),
    groupOf: ({ corrects }) => (corrects?.kind === "LATE" ? corrects.transactionId : undefined),
  },
  payments: { keyOf: ({ transactionId }) => transactionId },
  deposits: {
    keyOf: ({ id }) => id,
    nameOf: ({ organizationId, receipt }) => within(organizationId, receipt),
  },
  proposals: { keyOf: ({ subject }) => subject, groupOf: ({ organizationId }) => organizationId },
  apiKeys: { keyOf: ({ id }) => id, nameOf: ({ secretSha256 }) => secretSha256 },
  railAccounts: { keyOf: ({ id }) => id, groupOf: ({ organizationId }) => organizationId },
  reservePlaces: {
    keyOf: ({ organizationId, place }) => within(organizationId, place),
    groupOf: ({ organizationId }) => organizationId,
  },
  idempotencyKeys: { keyOf: ({ organizationId, key }) => within(organizationId, key) },
  destinations: { keyOf: ({ id }) => id, groupOf: ({ accountId }) => accountId },
};

/**
 * The state that the commands of one batch see: the loaded rows with the effects of the batch's
 * earlier commands. It collects the changes that the store saves.
 */
export class BatchBook implements Book {
  readonly #tables: { readonly [Name in TableName]: BatchTable<Tables[Name]> };
  readonly #entries: NumberedEntry[] = [];
  readonly #books = new Map<OrganizationId, BookHead>();
  readonly #changedBooks = new Set<OrganizationId>();
  readonly #receipts = new BatchReceipts();
  /** The ids of the transactions that have a movement, by the book and the movement. */
  readonly #movements = new Map<string, TransactionId>();
  /** By the book and the person. */
  readonly #aloneSums = new Map<string, PersonalSum>();
  readonly #paymentsUnderWay: ReadonlyMap<RailAccountId, number>;
  readonly #unallocatedDepositCents: ReadonlyMap<OrganizationId, number>;
  readonly #railAccountsOfAll: RailAccountsOfAll;
  readonly #decidingRows: DecidingRow[];
  readonly #reveals: ReadonlyMap<Actor, readonly UnixMillis[]>;
  readonly #changedRows: ReadonlySet<string>;

  // A row of another organization is not found.
  readonly account = this.#byKey("accounts");
  readonly accountHolder = this.#byKey("accountHolders");
  readonly freeze = this.#byKey("freezes");
  readonly transaction = this.#byKey("transactions");
  readonly payment = this.#byKey("payments");
  readonly deposit = this.#byKey("deposits");
  readonly proposal = this.#byKey("proposals");
  readonly apiKey = this.#byKey("apiKeys");
  readonly destination = this.#byKey("destinations");
  readonly accountWithDepositReference = this.#byName("accounts");
  readonly accountHolderOfUser = this.#byName("accountHolders");
  readonly transactionWithReference = this.#byName("transactions");
  readonly depositWithReceipt = this.#byName("deposits");
  readonly receipt: Book["receipt"] = (book, name) => this.#receipts.get(within(book, name));
  readonly receiptOfOtherSource: Book["receiptOfOtherSource"] = (book, number) =>
    this.#receipts.withNumber(within(book, number));

  constructor(loaded: Loaded) {
    this.#tables = {
      accounts: new BatchTable(KEYS.accounts, loaded.accounts, loaded.changedRows),
      accountHolders: new BatchTable(KEYS.accountHolders, loaded.accountHolders),
      freezes: new BatchTable(KEYS.freezes, loaded.freezes),
      transactions: new BatchTable(KEYS.transactions, loaded.transactions, loaded.changedRows),
      payments: new BatchTable(KEYS.payments, loaded.payments),
      deposits: new BatchTable(KEYS.deposits, loaded.deposits, loaded.changedRows),
      proposals: new BatchTable(KEYS.proposals, loaded.proposals),
      apiKeys: new BatchTable(KEYS.apiKeys, loaded.apiKeys),
      railAccounts: new BatchTable(KEYS.railAccounts, loaded.railAccounts),
      reservePlaces: new BatchTable(KEYS.reservePlaces, loaded.reservePlaces),
      idempotencyKeys: new BatchTable(KEYS.idempotencyKeys, loaded.idempotencyKeys),
      destinations: new BatchTable(KEYS.destinations, loaded.destinations),
    };
    this.#paymentsUnderWay = loaded.paymentsUnderWay;
    this.#unallocatedDepositCents = loaded.unallocatedDepositCents;
    this.#railAccountsOfAll = loaded.railAccountsOfAll;
    this.#decidingRows = [...loaded.decidingRows];
    this.#reveals = loaded.reveals;
    this.#changedRows = loaded.changedRows;
    for (const sum of loaded.aloneSums) this.#aloneSums.set(within(sum.organizationId, sum.person), sum);
    for (const book of loaded.books) this.#books.set(book.organizationId, book);
    for (const used of loaded.receipts) this.#receipts.add(used);
    for (const { organizationId, movement, transactionId } of loaded.movements) {
      this.#movements.set(within(organizationId, movement), transactionId);
    }
  }

  /** Throws if the organization has no book, and a RowChangedError if its row was changed. */
  bookOf(organizationId: OrganizationId): BookHead {
    if (this.#changedRows.has(organizationId)) throw new RowChangedError(organizationId);
    const book = this.#books.get(organizationId);
    if (book === undefined) throw new Error(`the organization ${organizationId} has no book`);
    return book;
  }

  standingFreezes(organizationId: OrganizationId, id: AccountId): readonly Freeze[] {
    const freezes = this.#tables.freezes.getGroup(id);
    return freezes.filter((freeze) => freeze.organizationId === organizationId && freeze.lifted === undefined);
  }

  railAccounts(organizationId: OrganizationId): readonly RailAccountRecord[] {
    return this.#tables.railAccounts.getGroup(organizationId);
  }

  paymentsUnderWay(id: RailAccountId): number {
    const isOne = (payment: Payment): boolean => payment.railAccountId === id && isUnderWay(payment);
    return (this.#paymentsUnderWay.get(id) ?? 0) + this.#tables.payments.sumAdded((each) => Number(isOne(each)));
  }

  railAccountsOfAll(): string {
    const { count, revisions } = this.#railAccountsOfAll;
    const changes = this.#tables.railAccounts.changes();
    const counted = changes.changed.map(({ before, row }) => row.revision - before.revision);
    const created = changes.created.map(({ row }) => row.revision);
    const sum = [...counted, ...created].reduce((total, change) => total + change, revisions);
    return railAccountsText({ count: count + created.length, revisions: sum });
  }

  decidingRows(organizationId: OrganizationId): readonly DecidingRow[] {
    return this.#decidingRows.filter((row) => row.organizationId === organizationId);
  }

  reveals(actor: Actor): readonly UnixMillis[] {
    const added = this.#entries.filter(({ entry }) => entry.kind === "account.revealed" && entry.actor === actor);
    return [...(this.#reveals.get(actor) ?? []), ...added.map(({ entry }) => entry.recordedAt)];
  }

  aloneSum(organizationId: OrganizationId, person: AlonePerson): PersonalSum | undefined {
    return this.#aloneSums.get(within(organizationId, person));
  }

  reservePlaces(organizationId: OrganizationId): readonly ReservePlace[] {
    return this.#tables.reservePlaces.getGroup(organizationId);
  }

  lateCorrections(organizationId: OrganizationId, id: TransactionId): readonly Transaction[] {
    return this.#tables.transactions.getGroup(id).filter((row) => row.organizationId === organizationId);
  }

  unallocatedDepositCents(organizationId: OrganizationId): number {
    const loaded = this.#unallocatedDepositCents.get(organizationId) ?? 0;
    const open = (deposit: Deposit): number =>
      deposit.organizationId === organizationId && isUnallocated(deposit) ? deposit.amountCents : 0;
    return loaded + this.#tables.deposits.sumAdded(open);
  }

  transactionWithMovement(organizationId: OrganizationId, movement: RailMovement): TransactionId | undefined {
    return this.#movements.get(within(organizationId, movement));
  }

  undecidedProposals(organizationId: OrganizationId): readonly Proposal[] {
    const proposals = this.#tables.proposals.getGroup(organizationId);
    return proposals.filter(({ decided, expiresAt }) => decided === undefined && expiresAt !== undefined);
  }

  apiKeyWithHash(organizationId: OrganizationId, secretSha256: string): StoredApiKey | undefined {
    return ownedBy(organizationId, this.#tables.apiKeys.getByName(secretSha256));
  }

  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): ResourceId | undefined {
    return this.#tables.idempotencyKeys.get(within(organizationId, key))?.resourceId;
  }

  destinations(organizationId: OrganizationId, id: AccountId): readonly Destination[] {
    const destinations = this.#tables.destinations.getGroup(id);
    return destinations.filter((each) => each.organizationId === organizationId && each.removedAt === undefined);
  }

  /** Makes the effect visible to the later commands of the batch, and adds it to the changes. */
  apply({ entries, puts, limits, isSuspended, areReceiptsRequired, reserveRules }: Effect): void {
    const numbered = entries.map((entry) => this.#append(entry));
    if (limits !== undefined) this.#changeHead(numbered, () => ({ limits }));
    if (isSuspended !== undefined) {
      this.#changeHead(numbered, ({ seq }) => ({ suspendedSeq: isSuspended ? seq : undefined }));
    }
    if (areReceiptsRequired !== undefined) {
      this.#changeHead(numbered, ({ seq }) => ({ receiptsRequiredSeq: areReceiptsRequired ? seq : undefined }));
    }
    if (reserveRules !== undefined) this.#changeHead(numbered, () => ({ reserveRules }));
    for (const put of puts) this.#put(withLastSeq(put, numbered), authorOf(put, numbered));
  }

  /** Returns the resource of a decision. An account gets the `seq` of its newest row. */
  numbered(resource: Resource): Resource {
    if ("resource" in resource && resource.resource !== undefined) {
      return { ...resource, resource: this.#numbered(resource.resource) };
    }
    return this.#numbered(resource);
  }

  #numbered<Of extends object>(resource: Of): Of {
    if (!isAccount(resource)) return resource;
    const { lastSeq } = this.account(resource.organizationId, resource.id) ?? resource;
    return { ...resource, lastSeq };
  }

  /**
   * Returns everything to save: each changed row once, with its last values. Returns undefined if
   * nothing changed.
   */
  changes(): Changes | undefined {
    const { payments, idempotencyKeys } = this.#tables;
    // A replay changes no more than idempotency keys. The rail's answers change payments alone.
    if (this.#entries.length === 0 && !payments.isChanged && !idempotencyKeys.isChanged) return undefined;
    return {
      entries: this.#entries,
      tables: changesOf(this.#tables),
      books: [...this.#changedBooks].map((organizationId) => this.bookOf(organizationId)),
    };
  }

  #byKey<Name extends TableName>(table: Name) {
    return (organizationId: OrganizationId, key: string): Tables[Name] | undefined =>
      ownedBy(organizationId, this.#tables[table].get(key));
  }

  #byName<Name extends TableName>(table: Name) {
    return (organizationId: OrganizationId, name: string): Tables[Name] | undefined =>
      this.#tables[table].getByName(within(organizationId, name));
  }

  #put<Name extends TableName>({ table, row }: Put<Name>, author: NumberedEntry | undefined): void {
    (this.#tables[table] as BatchTable<Tables[Name]>).put(row, author);
    if (table === "transactions") this.#noteMovement(row as Transaction);
  }

  #noteMovement({ id, organizationId, railMovement }: Transaction): void {
    if (railMovement !== undefined) this.#movements.set(within(organizationId, railMovement), id);
  }

  #changeHead(
    [first]: readonly NumberedEntry[],
    change: (
      entry: NumberedEntry,
    ) => Partial<Pick<BookHead, "limits" | "suspendedSeq" | "receiptsRequiredSeq" | "reserveRules">>,
  ): void {
    if (first === undefined) throw new Error("the book changed without an entry");
    const { organizationId } = first.entry;
    this.#books.set(organizationId, { ...this.bookOf(organizationId), ...change(first) });
  }

  /** Gives the entry the next number of its book, and posts it to the book's sums. */
  #append(entry: JournalEntry): NumberedEntry {
    const { organizationId, transactionId, kind, posting, detail, receipt, alone, recordedAt } = entry;
    const before = this.bookOf(organizationId);
    const seq = before.lastSeq + 1;
    const sums = posting === undefined ? before.sums : postedToBook(before.sums, posting);
    this.#books.set(organizationId, { ...before, lastSeq: seq, lastRecordedAt: recordedAt, sums });
    this.#changedBooks.add(organizationId);
    const numbered = { entry, seq };
    this.#entries.push(numbered);
    if (isDeciding(entry)) this.#decidingRows.push({ ...entry, seq });
    if (alone !== undefined) {
      this.#aloneSums.set(within(organizationId, alone.person), { ...alone, organizationId, at: recordedAt });
    }
    if (receipt !== undefined) {
      const depositId = kind.startsWith("deposit.") ? readDepositDetail(detail ?? "").id : undefined;
      this.#receipts.add({ organizationId, receipt, transactionId, depositId });
    }
    return numbered;
  }
}

function changesOf(tables: { readonly [Name in TableName]: BatchTable<Tables[Name]> }): Changes["tables"] {
  const changes = Object.entries(tables).map(([name, table]) => [name, table.changes()]);
  return Object.fromEntries(changes) as Changes["tables"];
}

/** Gives an account the `seq` of its newest entry, and a proposal that of the first. */
function withLastSeq(put: Put, entries: readonly NumberedEntry[]): Put {
  if (put.table === "proposals") {
    return { table: "proposals", row: { ...put.row, seq: entries[0]?.seq ?? put.row.seq } };
  }
  if (put.table !== "accounts") return put;
  const newest = entries.findLast(({ entry }) => entry.accountId === put.row.id);
  return newest === undefined ? put : { table: "accounts", row: { ...put.row, lastSeq: newest.seq } };
}

function isAccount(resource: object): resource is LedgerAccount {
  return "availableCents" in resource && "lastSeq" in resource;
}

/** Returns the entry that creates or changes the row. One command may make many deposits. */
function authorOf({ table, row }: Put, entries: readonly NumberedEntry[]): NumberedEntry | undefined {
  const [first] = entries;
  if (entries.length === 1) return first;
  if (table === "transactions") return entries.find(({ entry }) => entry.transactionId === row.id);
  if (table !== "deposits") return first;
  return entries.find(({ entry }) => entry.kind === "deposit.received" && entry.receipt === row.receipt) ?? first;
}

// The id of an organization contains no line feed, so two different pairs never make the same text.
function within(organizationId: OrganizationId, name: string): string {
  return `${organizationId}\n${name}`;
}

function ownedBy<Row extends { organizationId: OrganizationId }>(
  organizationId: OrganizationId,
  row: Row | undefined,
): Row | undefined {
  return row?.organizationId === organizationId ? row : undefined;
}
