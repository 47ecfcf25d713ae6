import type { RailAccountId, RailReceipt } from "../../domain/payment.js";
import type { Cents } from "../../domain/values/cents.js";
import type { DepositId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Sent } from "../../rails/rail.js";

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

/** What a book tells of the moment of a payment. */
export interface BookedReceipt {
  /** When the book learned the receipt: the payment was before. */
  readonly learnedAt: UnixMillis;
  /** When its order was accepted: the payment was after. Undefined if it has no order. */
  readonly orderedAt: UnixMillis | undefined;
}

/** An order that may have brought a payment whose reference nobody knows. */
export interface PossibleOrder {
  readonly railAccountId: RailAccountId;
  readonly amountCents: Cents;
  /** The service accepted the order then, or between. */
  readonly acceptedFrom: UnixMillis;
  readonly acceptedTo: UnixMillis;
}

/** A request to return a deposit, and what its answer said. */
export interface ReturnRequest {
  readonly at: UnixMillis;
  /** `sending` until the answer is stored: then the rail may have it, as with `unknown`. */
  readonly result: "sending" | Sent["kind"];
  /** The rail's name for the request, if it was accepted. */
  readonly name?: string;
  readonly code?: string;
}

/** A deposit that is RETURNING, and at which the settlement must look. */
export interface DueReturn {
  readonly depositId: DepositId;
  readonly organizationId: OrganizationId;
  readonly railAccountId: RailAccountId;
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** When the deposit became RETURNING. */
  readonly begunAt: UnixMillis;
  readonly dueAt: UnixMillis;
  /** The requests so far, oldest first. */
  readonly requests: readonly ReturnRequest[];
}

/** What the settlement of one cell must know of deposits. Each method is a statement of its own. */
export interface Deposits {
  dueLists(now: UnixMillis): Promise<readonly DueList[]>;
  /** Returns those of the receipts that the book of the organization has. */
  bookedReceipts(
    organizationId: OrganizationId,
    receipts: readonly string[],
  ): Promise<ReadonlyMap<string, BookedReceipt>>;
  /** The order of the rail account whose id ends so. It may have ended. */
  orderEndingWith(railAccountId: RailAccountId, idEnd: string): Promise<TransactionId | undefined>;
  /** Whether there is a mint that the rail may have, or has completed, without a receipt. */
  hasOrderWithoutReceipt(order: PossibleOrder): Promise<boolean>;
  /** Notes when the list is due next, unless somebody has changed that since it was read. */
  postpone(list: Pick<DueList, "railAccountId" | "dueAt">, dueAt: UnixMillis): Promise<void>;
  /** Notes that the list was read to its end, when that began, and when it is due next. */
  noteRead(list: Pick<DueList, "railAccountId" | "dueAt">, next: NextReading): Promise<void>;
  /** The returns that are due, those that wait longest first. */
  dueReturns(now: UnixMillis, limit: number): Promise<readonly DueReturn[]>;
  /**
   * Stores the requests, and when the return is due next unless somebody has changed that. Returns
   * false, and stores nothing, if the return has ended or has other requests than were read.
   */
  noteReturn(read: DueReturn, next: Pick<DueReturn, "requests" | "dueAt">): Promise<boolean>;
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
