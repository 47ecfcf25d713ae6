import type { DestinationKind, DestinationNumber, MaskedNumber } from "../../domain/destination.js";
import type { PaymentState, RailAccountId, RailReference } from "../../domain/payment.js";
import type { TransactionStatus, TransactionType } from "../../domain/transaction.js";
import type { Cents } from "../../domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";

/** A payment with its transaction, as one read found them. */
export interface StoredPayment {
  readonly transactionId: TransactionId;
  readonly organizationId: OrganizationId;
  readonly railAccountId: RailAccountId;
  readonly direction: TransactionType;
  readonly amountCents: Cents;
  readonly status: TransactionStatus;
  /** Whether the transaction needs attention. */
  readonly isFlagged: boolean;
  /** When the service accepted the transaction, by the clock: the row may have a later time. */
  readonly acceptedAt: UnixMillis;
  readonly state: PaymentState;
  /** What `number` is. */
  readonly numberKind: DestinationKind;
  /** Undefined once the payment has ENDED. */
  readonly number: DestinationNumber | undefined;
  readonly maskedNumber: MaskedNumber;
  readonly railReference: RailReference | undefined;
  /** When the rail was first asked, by the clock. */
  readonly begunAt: UnixMillis | undefined;
  /** How often the ledger has allowed to ask the rail. */
  readonly sends: number;
  /** How many of these the rail turned away because of its load. */
  readonly turnedAway: number;
  readonly dueAt: UnixMillis;
  /** How often the settlement has asked for the outcome. */
  readonly checks: number;
  /** How often somebody moved the order on by hand. Only the sandbox reads it. */
  readonly advances: number;
  /** What the rail told first, or the last code of the settlement (`storedCode`). */
  readonly lastCode: string | undefined;
}

/** What is known about the payouts of a rail account whose outcome is overdue, to one kind. */
export interface UnknownPayouts {
  readonly kind: DestinationKind;
  /**
   * The payouts that the rail may have, and whose first check has found nothing out. One whose
   * outcome the rail has called does not count, although no query confirms it.
   */
  readonly count: number;
  /** When the oldest of them was begun, by the clock. */
  readonly oldestBegunAt: UnixMillis | undefined;
}

/**
 * The payments of one cell, for the settlement. Each method is a statement of its own, and `due`
 * may be two. Nothing here decides about money: the state of a payment changes in the ledger only.
 */
export interface Payments {
  /** The rail accounts that have a payment which is due. */
  accountsWithDue(now: UnixMillis): Promise<readonly RailAccountId[]>;
  /**
   * The open payments of a rail account that are due, those that wait longest first. Of payouts
   * that are READY only those to kinds in `payOutTo`; it does not read past the others.
   */
  due(
    railAccountId: RailAccountId,
    given: { readonly now: UnixMillis; readonly limit: number; readonly payOutTo: readonly DestinationKind[] },
  ): Promise<readonly StoredPayment[]>;
  /** The payment in any state. Undefined if the transaction has none. */
  payment(id: TransactionId): Promise<StoredPayment | undefined>;
  /**
   * Notes when the settlement looks next, and the code that it got (`keptCode`). Does nothing if
   * the payment changed since it was read: its state, or its number of checks.
   */
  reschedule(
    read: Pick<StoredPayment, "transactionId" | "state" | "checks">,
    next: { readonly dueAt: UnixMillis; readonly checks: number; readonly code: string },
  ): Promise<void>;
  /** Removes the code that says why the ledger let a payment wait, once it has begun. */
  forgetHeld(begun: Pick<StoredPayment, "transactionId" | "lastCode">): Promise<void>;
  /**
   * Makes the payouts due that the ledger has let wait for a person (`BEGIN_HELD_REASONS`), since
   * that person has acted on the organization or on an account of it.
   */
  wakeHeld(organizationId: OrganizationId, now: UnixMillis): Promise<void>;
  /**
   * Notes which query of the payment's status stands, before the rail hears it. It replaces the one
   * before, whose answer counts no more.
   */
  noteQuestion(id: TransactionId, question: string): Promise<void>;
  /** Ends a question that has an answer. Undefined if it does not stand: each counts once. */
  endQuestion(question: string): Promise<TransactionId | undefined>;
  /** Moves an open order of a sandbox on by hand: it is due at once. False if it has ended. */
  advance(id: TransactionId, now: UnixMillis): Promise<boolean>;
  /** Only the kinds that have some. */
  unknownPayouts(railAccountId: RailAccountId): Promise<readonly UnknownPayouts[]>;
  /** The payouts that `unknownPayouts` counts, at most `limit`. */
  listUnknownPayouts(railAccountId: RailAccountId, limit: number): Promise<readonly StoredPayment[]>;
}
