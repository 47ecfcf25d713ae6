import type { DestinationKind, DestinationNumber, MaskedNumber } from "./destination.js";
import type { Cents } from "./values/cents.js";
import type { OrganizationId, TransactionId } from "./values/ids.js";
import type { MaskedPhone } from "./values/masked-phone.js";
import type { PayableAmounts } from "./values/payable-amounts.js";
import type { PhoneNumber } from "./values/phone-number.js";
import { millisSince, toUnixMillis, type UnixMillis } from "./values/time.js";

/** An organization's account at a rail, for example an M-Pesa shortcode with its credentials. */
export type RailAccountId = string & { readonly brand: unique symbol };
/** The rail's own name for an order. It comes with the rail's answer to the order. */
export type RailReference = string & { readonly brand: unique symbol };
/** The rail's name for a movement of shillings. Each report about the movement has the same. */
export type RailMovement = string & { readonly brand: unique symbol };
/**
 * The proof that shillings moved. A book takes each once. A rail gives it; on the direct rail the
 * caller does. Only `receipt.ts` makes one, so it has one text whoever gives it.
 */
export type RailReceipt = string & { readonly brand: unique symbol };

/**
 * - READY: the rail was not asked yet, or is known not to have heard the request.
 * - SENDING: the rail may have been asked. Nobody asks it again before a query.
 * - ACCEPTED: the rail has confirmed that it has the order.
 * - ENDED: the status of the transaction says how.
 */
export const PAYMENT_STATES = ["READY", "SENDING", "ACCEPTED", "ENDED"] as const;
export type PaymentState = (typeof PAYMENT_STATES)[number];

/** The order that a transaction gives to a rail. A transaction on the direct rail has none. */
export interface Payment {
  readonly transactionId: TransactionId;
  readonly organizationId: OrganizationId;
  readonly railAccountId: RailAccountId;
  /** The type of the transaction. */
  readonly direction: "MINT" | "REDEEM";
  readonly state: PaymentState;
  /** What `number` is. A mint is paid by a phone. */
  readonly numberKind: DestinationKind;
  /**
   * Who pays or is paid, as it was when the transaction was accepted. Undefined once the payment
   * has ENDED: an erasure of the person then leaves nothing behind.
   */
  readonly number: DestinationNumber | undefined;
  /** `number` as people see it. It stays when `number` goes. */
  readonly maskedNumber: MaskedNumber;
  readonly railReference: RailReference | undefined;
  /** When the rail was first asked. */
  readonly begunAt: UnixMillis | undefined;
  /** How often the ledger has allowed to ask the rail. */
  readonly sends: number;
  /** How many of these the rail turned away because of its load. It may have taken them. */
  readonly turnedAway: number;
  /**
   * How far its times were ahead of the server's clock when it was accepted, or begun since. The
   * book's newest row may lie in the future: then a time says nothing about how long ago it was.
   */
  readonly aheadMillis: number;
  /** When the settlement looks at the payment next, by the clock. */
  readonly dueAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}

/** Whether the rail may have the payment, also if it turned it away, and its outcome is open. */
export function isUnderWay({ state, turnedAway }: Pick<Payment, "state" | "turnedAway">): boolean {
  return state === "READY" ? turnedAway > 0 : state !== "ENDED";
}

/**
 * How often the rail may turn an order away, without the proof that it took nothing, before nobody
 * asks it again. A prompt has no id at the rail, so each request that seems lost may show one more;
 * the payer sees it. A payment to a business has none either, and a second one would be paid.
 */
export function turnedAwayMax({ direction, numberKind }: Pick<Payment, "direction" | "numberKind">): number {
  if (numberKind !== "PHONE") return 1;
  return direction === "MINT" ? 2 : Infinity;
}

const TURNED_AWAY_MILLIS_MAX = 3_600_000;

/**
 * Whether a payout that the rail has turned away must not be asked for again. The rail may have
 * taken it all the same, and nobody knows for how long it would refuse the id a second time. Its
 * `begunAt` is by the clock.
 */
export function isTurnedAwayTooLong(
  { direction, turnedAway, begunAt }: Pick<Payment, "direction" | "turnedAway" | "begunAt">,
  clock: UnixMillis,
): boolean {
  const isOld = begunAt !== undefined && millisSince(begunAt, clock) >= TURNED_AWAY_MILLIS_MAX;
  return direction === "REDEEM" && turnedAway > 0 && isOld;
}

/** When the rail was first asked, by the clock of the server that asked it. */
export function begunByClock({
  begunAt,
  aheadMillis,
}: Pick<Payment, "begunAt" | "aheadMillis">): UnixMillis | undefined {
  return begunAt === undefined ? undefined : toUnixMillis(begunAt - aheadMillis);
}

/** Whether the rail refuses a second request for the order, which has an id of ours there. */
export function hasIdAtRail({ direction, numberKind }: Pick<Payment, "direction" | "numberKind">): boolean {
  return direction === "REDEEM" && numberKind === "PHONE";
}

/** What can be paid out to each kind of destination. Nothing to a kind that is absent. */
export type PayableDestinations = Readonly<Partial<Record<DestinationKind, PayableAmounts>>>;

/** What the caller of a mint or redemption must know about the rail. */
export interface RailTerms {
  readonly railAccountId: RailAccountId;
  readonly payable: PayableAmounts;
  /** The phone numbers that the rail can collect from, or pay to. Without the flags g and y. */
  readonly phoneNumbers: RegExp;
  /** Who pays for a mint, if it is not the account's user. */
  readonly payerPhoneNumber: PhoneNumber | undefined;
  /** Nothing is paid out to a phone number that was changed less than this time ago. */
  readonly phoneCoolingMillis: number;
  /** The kinds of destinations that the account at the rail pays. None when omitted. */
  readonly destinations?: PayableDestinations;
}

/** When a payment is due that waits until a person has decided: never. */
export const NEVER_DUE = toUnixMillis(Date.UTC(9999, 11, 31));

/** Why a rail moved nothing, by its own word. */
export const RAIL_FAILURES = [
  "CANCELED_BY_PAYER",
  "PAYER_UNREACHABLE",
  "PAYER_SHORT_OF_FUNDS",
  "WRONG_PIN",
  "RECIPIENT_NOT_REGISTERED",
  "RECIPIENT_LIMIT",
  "RAIL_ACCOUNT_SHORT",
  "RAIL_REFUSED",
] as const;
export type RailFailure = (typeof RAIL_FAILURES)[number];

/** The failures that the column `failure` of the first release takes. */
export const FIRST_FAILURE_REASONS = [...RAIL_FAILURES, "EXPIRED", "REPORT_DIFFERS", "RESOLVED_BY_OPERATOR"] as const;

/**
 * Why a transaction on a rail failed. The list is closed. The service itself decides on EXPIRED: it
 * could not ask the rail in time. Operators decide on REPORT_DIFFERS, RESOLVED_BY_OPERATOR, and
 * REFUSED_BY_OPERATOR: the payout was held, and a person did not release it. CHECK_DENIED: the
 * organization's check of payouts has denied it.
 */
export const FAILURE_REASONS = [...FIRST_FAILURE_REASONS, "REFUSED_BY_OPERATOR", "CHECK_DENIED"] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

/**
 * Why a redemption is beyond what is paid without a person: its amount, the sum of its day, that
 * nothing was paid to the number yet, or that the phone number or e-mail address of the account was
 * changed a short time ago.
 */
export const HOLDS_BY_AMOUNT = ["AMOUNT", "DAY", "NEW_DESTINATION", "CHANGED"] as const;
export type HoldByAmount = (typeof HOLDS_BY_AMOUNT)[number];

/**
 * Why a redemption waits before its rail is asked. CHECK: for the answer of the organization's
 * check of payouts. CHECK_HELD: for a person, because the check, or its silence, wants one.
 * LISTED: the account, the number or the name is on the list of the organization.
 */
export const HOLD_REASONS = [...HOLDS_BY_AMOUNT, "CHECK", "CHECK_HELD", "LISTED"] as const;
export type HoldReason = (typeof HOLD_REASONS)[number];

/** The holds that no person ends alone: one person must not overrule a check or a list. */
const NEED_TWO: ReadonlySet<HoldReason> = new Set<HoldReason>(["CHECK", "CHECK_HELD", "LISTED"]);

/** Whether it takes two persons to release or refuse what is held so. */
export function needsTwo(heldFor: readonly HoldReason[]): boolean {
  return heldFor.some((reason) => NEED_TWO.has(reason));
}

/**
 * Why a person must look at a transaction: asking the rail again will not answer it.
 *
 * - OUTCOME_UNKNOWN: the rail did not tell the outcome in time.
 * - REPORT_DIFFERS: the rail reports another amount, phone or receipt than the ledger has, or both
 *   a success and a failure.
 * - REPORT_WITHOUT_ORDER: the rail reports a movement for which it was never asked.
 * - RECEIPT_ALREADY_USED: the receipt or the movement belongs to another transaction, or the book
 *   has the number of the receipt from another source.
 * - NOT_CREDITED: the shillings came in, but the account could not take them.
 * - FAILED_AFTER_COMPLETION: the rail reports a failure of a completed transaction.
 */
export const FLAG_REASONS = [
  "OUTCOME_UNKNOWN",
  "REPORT_DIFFERS",
  "REPORT_WITHOUT_ORDER",
  "RECEIPT_ALREADY_USED",
  "NOT_CREDITED",
  "FAILED_AFTER_COMPLETION",
] as const;
export type FlagReason = (typeof FLAG_REASONS)[number];

/** What a rail's report names: the movement, its receipt, or both. */
export type RailProof =
  | { readonly movement: RailMovement; readonly receipt: RailReceipt | undefined }
  | { readonly movement: undefined; readonly receipt: RailReceipt };

/** A rail's report that shillings moved. Undefined is what the report does not say. */
export type MovementReport = RailProof & {
  readonly amountCents: Cents | undefined;
  /** The other party's phone number. */
  readonly phone: MaskedPhone | undefined;
};

/** What an operator knows about a transaction whose outcome the rail does not tell. */
export type Resolution =
  /** The rail has carried out the order. */
  | { readonly kind: "COMPLETED"; readonly receipt: RailReceipt }
  /** The rail has moved nothing, and never will. */
  | { readonly kind: "FAILED" }
  /** The rail has moved another amount than the ordered one. */
  | { readonly kind: "MOVED"; readonly receipt: RailReceipt; readonly amountCents: Cents };

/** The place of an outcome that the rail has called, and that no query has confirmed yet. */
export const UNCONFIRMED = "unconfirmed";
