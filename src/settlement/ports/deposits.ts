import type { RailAccountId } from "../../domain/payment.js";
import type { Rail } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** The list of received payments of a rail account, which must be read. */
export interface DueList {
  readonly railAccountId: RailAccountId;
  readonly organizationId: OrganizationId;
  /** Payments from before are no deposits. */
  readonly since: UnixMillis;
  readonly dueAt: UnixMillis;
  /** When the list was read to its end last. */
  readonly readAt: UnixMillis | undefined;
}

/** An order that may have brought a payment whose reference nobody knows. */
export interface PossibleOrder {
  readonly railAccountId: RailAccountId;
  readonly amountCents: Cents;
  /** The service accepted the order then, or between. */
  readonly acceptedFrom: UnixMillis;
  readonly acceptedTo: UnixMillis;
}

export interface UnnumberedAccount {
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
  /** The rail for which the account gets a number. */
  readonly rail: Rail;
}

/** What the settlement of one cell must know of deposits. Each method is a statement of its own. */
export interface Deposits {
  dueLists(now: UnixMillis): Promise<readonly DueList[]>;
  /** Returns the receipts that the book of the organization does not have. */
  unbooked(organizationId: OrganizationId, receipts: readonly string[]): Promise<ReadonlySet<string>>;
  /** The order of the rail account whose id ends so. It may have ended. */
  orderEndingWith(railAccountId: RailAccountId, idEnd: string): Promise<TransactionId | undefined>;
  /** Whether there is a mint that the rail may have, or has completed, without a receipt. */
  hasOrderWithoutReceipt(order: PossibleOrder): Promise<boolean>;
  /** Notes when the list is due next, unless somebody has changed that since it was read. */
  postpone(list: Pick<DueList, "railAccountId" | "dueAt">, dueAt: UnixMillis): Promise<void>;
  /** The same for a list that was read to its end, and when that began. */
  noteRead(list: Pick<DueList, "railAccountId" | "dueAt">, next: NextReading): Promise<void>;
  /** Open accounts without a deposit reference, of organizations that take deposits. */
  unnumberedAccounts(limit: number): Promise<readonly UnnumberedAccount[]>;
  /** Removes what payers typed before that time. Returns how many texts it removed. */
  forgetTyped(given: { readonly before: UnixMillis; readonly limit: number }): Promise<number>;
  /**
   * Looks at texts that payers typed at `from` or later, oldest first. Removes those of accounts
   * whose person was erased. Returns where the next look begins; undefined after the last text.
   */
  forgetErased(given: { readonly from: UnixMillis; readonly limit: number }): Promise<UnixMillis | undefined>;
}

export interface NextReading {
  readonly readAt: UnixMillis;
  readonly dueAt: UnixMillis;
}
