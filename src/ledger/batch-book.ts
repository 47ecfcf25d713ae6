import type { LedgerAccount } from "../domain/account.js";
import type { PersonalSum } from "../domain/alone.js";
import type { StoredApiKey } from "../domain/api-key.js";
import type { ApprovedBankFile, BankFileId } from "../domain/bank-file.js";
import { type BookHead, postedToBook } from "../domain/book.js";
import { type Closing, readClosing } from "../domain/closing.js";
import {
  type Book,
  type Effect,
  nameIn,
  ofEachTable,
  type Put,
  type ResourceId,
  TABLE_KEYS,
  TABLE_NAMES,
  type TableName,
  type Tables,
} from "../domain/decision.js";
import { type Deposit, isUnallocated, readDepositDetail } from "../domain/deposit.js";
import { type DecidingRow, isDeciding, type JournalEntry } from "../domain/journal.js";
import type { Resource } from "../domain/operations.js";
import { isUnderWay, type Payment, type RailAccountId, type RailMovement } from "../domain/payment.js";
import type { PayoutCheck } from "../domain/payout-check.js";
import { type ListedText, payoutListFromText } from "../domain/payout-list.js";
import type { AlonePerson } from "../domain/proposal.js";
import type { Transaction } from "../domain/transaction.js";
import type { Actor } from "../domain/values/actor.js";
import type { AccountId, DestinationId, OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { Month } from "../domain/values/month.js";
import type { IdempotencyKey } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";
import { isStanding } from "../domain/webhook-endpoint.js";
import { BatchPayouts } from "./batch-payouts.js";
import { BatchReceipts } from "./batch-receipts.js";
import { BatchTable } from "./batch-table.js";
import {
  type Changes,
  type Loaded,
  type LoadedRows,
  type NumberedEntry,
  type RailAccountsOfCells,
  railAccountsText,
} from "./ports/store.js";
import { RowChangedError } from "./row-changed-error.js";

type BatchTables = { readonly [Name in TableName]: BatchTable<Tables[Name]> };

/**
 * The state that the commands of one batch see: the loaded rows with the effects of the batch's
 * earlier commands. It collects the changes that the store saves.
 */
export class BatchBook implements Book {
  readonly #tables: BatchTables;
  readonly #entries: NumberedEntry[] = [];
  readonly #books = new Map<OrganizationId, BookHead>();
  readonly #changedBooks = new Set<OrganizationId>();
  readonly #receipts = new BatchReceipts();
  /** The ids of the transactions that have a movement, by the book and the movement. */
  readonly #movements = new Map<string, TransactionId>();
  /** By the book and the person. */
  readonly #aloneSums = new Map<string, PersonalSum>();
  /** By the book and the month. */
  readonly #closedMonths = new Map<string, Closing>();
  readonly #payouts: BatchPayouts;
  readonly #paymentsUnderWay: ReadonlyMap<RailAccountId, number>;
  readonly #unallocatedDepositCents: ReadonlyMap<OrganizationId, number>;
  readonly #railAccountsOfCells: RailAccountsOfCells;
  readonly #decidingRows: DecidingRow[];
  readonly #reveals: ReadonlyMap<Actor, readonly UnixMillis[]>;
  readonly #changedRows: ReadonlySet<string>;

  readonly account = this.byKey("accounts");
  readonly accountHolder = this.byKey("accountHolders");
  readonly freeze = this.byKey("freezes");
  readonly transaction = this.byKey("transactions");
  readonly payment = this.byKey("payments");
  readonly deposit = this.byKey("deposits");
  readonly proposal = this.byKey("proposals");
  readonly apiKey = this.byKey("apiKeys");
  readonly destination = this.byKey("destinations");
  readonly webhookEndpoint = this.byKey("webhookEndpoints");
  readonly accountWithDepositReference = this.#byName("accounts");
  readonly accountHolderOfUser = this.#byName("accountHolders");
  readonly transactionWithReference = this.#byName("transactions");
  readonly payoutFile = this.#byName("payoutFiles");
  readonly depositWithReceipt = this.#byName("deposits");
  readonly standingFreezes = this.#byGroup("freezes");
  readonly lateCorrections = this.#byGroup("transactions");
  readonly undecidedProposals = this.#byGroup("proposals");
  readonly railAccounts = this.#byGroup("railAccounts");
  readonly reservePlaces = this.#byGroup("reservePlaces");
  readonly destinations = this.#byGroup("destinations");
  readonly webhookRetries = this.#byGroup("webhookRetries");
  readonly webhookEndpoints: Book["webhookEndpoints"] = (organizationId) =>
    this.#byGroup("webhookEndpoints")(organizationId).filter(isStanding);
  readonly receipt: Book["receipt"] = (book, name) => this.#receipts.get(nameIn(book, name));
  readonly receiptOfOtherSource: Book["receiptOfOtherSource"] = (book, number) =>
    this.#receipts.withNumber(nameIn(book, number));

  constructor(loaded: Loaded) {
    this.#tables = ofEachTable((name) => batchTable(name, loaded)) as BatchTables;
    this.#paymentsUnderWay = loaded.paymentsUnderWay;
    this.#unallocatedDepositCents = loaded.unallocatedDepositCents;
    this.#railAccountsOfCells = loaded.railAccountsOfCells;
    this.#decidingRows = [...loaded.decidingRows];
    this.#reveals = loaded.reveals;
    this.#changedRows = loaded.changedRows;
    this.#payouts = new BatchPayouts(loaded);
    for (const sum of loaded.aloneSums) this.#aloneSums.set(nameIn(sum.organizationId, sum.person), sum);
    for (const closing of loaded.closedMonths) this.#noteClosing(closing);
    for (const book of loaded.books) this.#books.set(book.organizationId, book);
    for (const used of loaded.receipts) this.#receipts.add(used);
    for (const { organizationId, movement, transactionId } of loaded.movements) {
      this.#movements.set(nameIn(organizationId, movement), transactionId);
    }
  }

  /** Throws if the organization has no book, and a RowChangedError if its row was changed. */
  bookOf(organizationId: OrganizationId): BookHead {
    if (this.#changedRows.has(organizationId)) throw new RowChangedError(organizationId);
    const book = this.#books.get(organizationId);
    if (book === undefined) throw new Error(`the organization ${organizationId} has no book`);
    return book;
  }

  paymentsUnderWay(id: RailAccountId): number {
    const isOne = (payment: Payment): boolean => payment.railAccountId === id && isUnderWay(payment);
    return (this.#paymentsUnderWay.get(id) ?? 0) + this.#tables.payments.sumAdded((each) => Number(isOne(each)));
  }

  railAccountsOfCells(): string {
    const { count, revisions } = this.#railAccountsOfCells;
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
    return this.#aloneSums.get(nameIn(organizationId, person));
  }

  bankFile(organizationId: OrganizationId, id: BankFileId): ApprovedBankFile | undefined {
    return this.#payouts.bankFile(nameIn(organizationId, id));
  }

  closedMonth(organizationId: OrganizationId, month: Month): Closing | undefined {
    return this.#closedMonths.get(nameIn(organizationId, month));
  }

  payoutCheck(organizationId: OrganizationId): PayoutCheck | undefined {
    return this.#payouts.check(organizationId);
  }

  paidTo(organizationId: OrganizationId, id: DestinationId | AccountId): UnixMillis | undefined {
    return this.#payouts.paidTo(nameIn(organizationId, id));
  }

  isListed(organizationId: OrganizationId, texts: readonly ListedText[]): boolean {
    // The caller has seen that a list holds.
    const { hash } = payoutListFromText(this.bookOf(organizationId).payoutList as string);
    if (this.#changedRows.has(hash)) throw new RowChangedError(hash);
    return texts.some((text) => this.#payouts.listsWith(nameIn(organizationId, text))?.includes(hash) ?? true);
  }

  unallocatedDepositCents(organizationId: OrganizationId): number {
    const loaded = this.#unallocatedDepositCents.get(organizationId) ?? 0;
    const open = (deposit: Deposit): number =>
      deposit.organizationId === organizationId && isUnallocated(deposit) ? deposit.amountCents : 0;
    return loaded + this.#tables.deposits.sumAdded(open);
  }

  transactionWithMovement(organizationId: OrganizationId, movement: RailMovement): TransactionId | undefined {
    return this.#movements.get(nameIn(organizationId, movement));
  }

  apiKeyWithHash(organizationId: OrganizationId, secretSha256: string): StoredApiKey | undefined {
    return ownedBy(organizationId, this.#tables.apiKeys.getByName(secretSha256));
  }

  resourceOfIdempotencyKey(organizationId: OrganizationId, key: IdempotencyKey): ResourceId | undefined {
    return this.#tables.idempotencyKeys.get(nameIn(organizationId, key))?.resourceId;
  }

  /** Makes the effect visible to the later commands of the batch, and adds it to the changes. */
  apply({ entries, puts, limits, isSuspended, areReceiptsRequired, reserveRules, payoutList }: Effect): void {
    const numbered = entries.map((entry) => this.#append(entry));
    if (limits !== undefined) this.#changeHead(numbered, () => ({ limits }));
    if (isSuspended !== undefined) {
      this.#changeHead(numbered, ({ seq }) => ({ suspendedSeq: isSuspended ? seq : undefined }));
    }
    if (areReceiptsRequired !== undefined) {
      this.#changeHead(numbered, ({ seq }) => ({ receiptsRequiredSeq: areReceiptsRequired ? seq : undefined }));
    }
    if (reserveRules !== undefined) this.#changeHead(numbered, () => ({ reserveRules }));
    if (payoutList !== undefined) this.#changeHead(numbered, () => ({ payoutList }));
    for (const put of puts) this.#put(withLastSeq(put, numbered), authorOf(put, numbered));
  }

  /** Returns the resource of a decision. An account gets the `seq` of its newest row. */
  numbered(resource: Resource): Resource {
    if ("resource" in resource && resource.resource !== undefined) {
      return { ...resource, resource: this.#numbered(resource.resource) } as Resource;
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
    // Some changes have no entry: a new idempotency key, a rail's answer, a replay of events.
    if (this.#entries.length === 0 && !TABLE_NAMES.some((name) => this.#tables[name].isChanged)) return undefined;
    return {
      entries: this.#entries,
      tables: ofEachTable((name) => this.#tables[name].changes()) as Changes["tables"],
      books: [...this.#changedBooks].map((organizationId) => this.bookOf(organizationId)),
    };
  }

  /** Returns a function that finds a row of the table, but none of another organization. */
  byKey<Name extends TableName>(table: Name) {
    return (organizationId: OrganizationId, key: string): Tables[Name] | undefined =>
      ownedBy(organizationId, this.#tables[table].get(key));
  }

  #byName<Name extends TableName>(table: Name) {
    return (organizationId: OrganizationId, name: string): Tables[Name] | undefined =>
      this.#tables[table].getByName(nameIn(organizationId, name));
  }

  /** Without a group, it is that of the organization's rows. */
  #byGroup<Name extends TableName>(table: Name) {
    return (organizationId: OrganizationId, group: string = organizationId): readonly Tables[Name][] => {
      const { isSeen = () => true } = TABLE_KEYS[table];
      return this.#tables[table].getGroup(group).filter((row) => row.organizationId === organizationId && isSeen(row));
    };
  }

  #put<Name extends TableName>({ table, row }: Put<Name>, author: NumberedEntry | undefined): void {
    (this.#tables[table] as BatchTable<Tables[Name]>).put(row, author);
    if (table === "transactions") this.#noteMovement(row as Transaction);
  }

  #noteMovement(transaction: Transaction): void {
    const { id, organizationId, railMovement } = transaction;
    if (railMovement !== undefined) this.#movements.set(nameIn(organizationId, railMovement), id);
    this.#payouts.noteTransaction(transaction);
  }

  #noteClosing(closing: Closing): void {
    this.#closedMonths.set(nameIn(closing.organizationId, closing.month), closing);
  }

  #changeHead(
    [first]: readonly NumberedEntry[],
    change: (
      entry: NumberedEntry,
    ) => Partial<Pick<BookHead, "limits" | "suspendedSeq" | "receiptsRequiredSeq" | "reserveRules" | "payoutList">>,
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
      this.#aloneSums.set(nameIn(organizationId, alone.person), { ...alone, organizationId, at: recordedAt });
    }
    this.#payouts.noteEntry(entry, seq);
    if (kind === "month.closed") this.#noteClosing({ ...readClosing(detail ?? ""), organizationId, seq, recordedAt });
    if (receipt !== undefined) {
      const depositId = kind.startsWith("deposit.") ? readDepositDetail(detail ?? "").id : undefined;
      this.#receipts.add({ organizationId, receipt, transactionId, depositId });
    }
    return numbered;
  }
}

function batchTable<Name extends TableName>(name: Name, loaded: Loaded): BatchTable<Tables[Name]> {
  const rows: LoadedRows = loaded;
  return new BatchTable(TABLE_KEYS[name], rows[name], loaded.changedRows);
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

function ownedBy<Row extends { organizationId: OrganizationId }>(
  organizationId: OrganizationId,
  row: Row | undefined,
): Row | undefined {
  return row?.organizationId === organizationId ? row : undefined;
}
