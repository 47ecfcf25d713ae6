import type { LoopTiming } from "../../runtime/wait.js";
import type { DestinationKind, DestinationNumber, RailName } from "../domain/destination.js";
import type { CheckAnswer, CheckCode, PayoutCheck } from "../domain/payout-check.js";
import type { Transaction } from "../domain/transaction.js";
import type { OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { EndpointSecret } from "../domain/webhook-endpoint.js";

/** The check of an organization, and what signs its requests. */
export interface StandingCheck {
  readonly check: PayoutCheck;
  /** The newest one first. For a day after a change the earlier one signs, too. */
  readonly secrets: readonly EndpointSecret[];
}

/** A redemption that waits for the answer of a service. */
export interface WaitingPayout {
  readonly id: TransactionId;
  readonly acceptedAt: UnixMillis;
}

/** What a service is asked about. */
export interface CheckedPayout extends Pick<
  Transaction,
  "id" | "accountId" | "amountCents" | "rail" | "reference" | "destinationId"
> {
  readonly kind: DestinationKind;
  readonly number: DestinationNumber;
  /** What the rail calls the destination. Undefined if it was not told. */
  readonly railName?: RailName | undefined;
}

/** The checks of one cell. */
export interface CheckStore {
  /** The organizations with payouts that wait. Leaves out books that are restored or moving. */
  organizations(): Promise<readonly OrganizationId[]>;
  /** Undefined if the organization has no check. */
  standing(organizationId: OrganizationId): Promise<StandingCheck | undefined>;
  /** The payouts of an organization that wait, oldest first. */
  waiting(organizationId: OrganizationId, limit: number): Promise<readonly WaitingPayout[]>;
  /**
   * Undefined if it has ended meanwhile, or if somebody has changed its rows past the service:
   * nobody is asked about such a payout.
   */
  payout(organizationId: OrganizationId, id: TransactionId): Promise<CheckedPayout | undefined>;
}

/** What came of one request: an answer, or why there is none. */
export type ServiceReply =
  | {
      readonly answer: Exclude<CheckAnswer, "NO_ANSWER">;
      readonly code: CheckCode | undefined;
      readonly exchangeSha256: string;
      readonly problem?: undefined;
    }
  | { readonly answer?: undefined; readonly problem: string };

/** What is to be noted about a payout. */
export interface CheckDecision {
  readonly answer: CheckAnswer;
  readonly code: CheckCode | undefined;
  readonly exchangeSha256: string | undefined;
}

export interface CheckTiming extends LoopTiming {
  readonly now: () => UnixMillis;
}
