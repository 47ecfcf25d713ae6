import type { LedgerAccount } from "./account.js";
import { type BookHead, postedToBook } from "./book.js";
import type { Book, Effect, Put, UsedReceipt } from "./decision.js";
import type { JournalEntry } from "./journal.js";
import type { LimitsInForce } from "./limits/usage.js";
import type { Payment, RailReceipt } from "./payment.js";
import type { ReservePlace } from "./reserve.js";
import type { Transaction } from "./transaction.js";
import type { DepositReference } from "./values/deposit-reference.js";
import type { AccountId, OrganizationId, TransactionId } from "./values/ids.js";

/** The most parts of a command: one commit writes them all, and one proposal names each of them. */
export const PARTS_MAX = 1_000;

/** What one part of a command reads, if the command has several. */
export type PartBook = Pick<
  Book,
  | "bookOf"
  | "account"
  | "accountWithDepositReference"
  | "transaction"
  | "payment"
  | "lateCorrections"
  | "receipt"
  | "reservePlaces"
>;

/**
 * The book after the first parts of a command, which all are about one organization. Each part must
 * see those before it: two deposits of one account would otherwise both add to the first balance.
 *
 * A part may put accounts, transactions and payments, and rows that no later part reads.
 */
export class BookAfter implements PartBook {
  readonly #before: PartBook;
  readonly #accounts = new Map<AccountId, LedgerAccount>();
  readonly #transactions = new Map<TransactionId, Transaction>();
  readonly #payments = new Map<TransactionId, Payment>();
  readonly #receipts = new Map<RailReceipt, UsedReceipt>();
  readonly #entries: JournalEntry[] = [];
  readonly #puts: Put[] = [];
  #head: BookHead | undefined;
  #limits: LimitsInForce | undefined;

  constructor(before: PartBook) {
    this.#before = before;
  }

  bookOf(organizationId: OrganizationId): BookHead {
    return this.#head ?? this.#before.bookOf(organizationId);
  }

  account(organizationId: OrganizationId, id: AccountId): LedgerAccount | undefined {
    return this.#accounts.get(id) ?? this.#before.account(organizationId, id);
  }

  accountWithDepositReference(organizationId: OrganizationId, reference: DepositReference): LedgerAccount | undefined {
    const account = this.#before.accountWithDepositReference(organizationId, reference);
    return account && (this.#accounts.get(account.id) ?? account);
  }

  reservePlaces(organizationId: OrganizationId): readonly ReservePlace[] {
    return this.#before.reservePlaces(organizationId);
  }

  transaction(organizationId: OrganizationId, id: TransactionId): Transaction | undefined {
    return this.#transactions.get(id) ?? this.#before.transaction(organizationId, id);
  }

  payment(organizationId: OrganizationId, id: TransactionId): Payment | undefined {
    return this.#payments.get(id) ?? this.#before.payment(organizationId, id);
  }

  /** No part makes one. */
  lateCorrections(organizationId: OrganizationId, id: TransactionId): readonly Transaction[] {
    return this.#before.lateCorrections(organizationId, id);
  }

  receipt(organizationId: OrganizationId, receipt: RailReceipt): UsedReceipt | undefined {
    return this.#receipts.get(receipt) ?? this.#before.receipt(organizationId, receipt);
  }

  /** Takes the effect of the next part. */
  take({ entries, puts, limits }: Effect): void {
    for (const entry of entries) this.#append(entry);
    for (const put of puts) this.#put(put);
    this.#puts.push(...puts);
    if (limits === undefined) return;
    this.#limits = limits;
    this.#head = this.#head && { ...this.#head, limits };
  }

  /** The effect of all parts together. Each row is as it is after the last part that puts it. */
  effect(): Effect {
    const effect = { entries: this.#entries, puts: this.#puts };
    return this.#limits === undefined ? effect : { ...effect, limits: this.#limits };
  }

  #append(entry: JournalEntry): void {
    const { organizationId, transactionId, posting, receipt, recordedAt } = entry;
    const head = this.bookOf(organizationId);
    const sums = posting === undefined ? head.sums : postedToBook(head.sums, posting);
    this.#head = { ...head, lastSeq: head.lastSeq + 1, lastRecordedAt: recordedAt, sums };
    this.#entries.push(entry);
    if (receipt === undefined) return;
    this.#receipts.set(receipt, { organizationId, receipt, transactionId, depositId: undefined });
  }

  #put({ table, row }: Put): void {
    if (table === "accounts") this.#accounts.set(row.id, row);
    else if (table === "transactions") this.#transactions.set(row.id, row);
    else if (table === "payments") this.#payments.set(row.transactionId, row);
  }
}
