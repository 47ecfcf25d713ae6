import type { MoveMoney } from "../domain/money/move-money.js";
import type { RailTerms } from "../domain/payment.js";
import { type PayoutFile, payoutMetadata, type PayoutRow } from "../domain/payout-file.js";
import { PAYOUTS } from "../domain/values/actor.js";
import type { TransactionId } from "../domain/values/ids.js";

/** What a redemption of a row needs beside the row. */
interface RedemptionOf extends Pick<PayoutFile, "organizationId" | "sha256" | "rail"> {
  /** Undefined on a rail that the organization cannot use. */
  readonly railTerms: RailTerms | undefined;
  readonly newTransactionId: TransactionId;
}

/** Returns the command that redeems a row. A repeat of it is a replay, by its reference. */
export function redemptionOf(
  { line, accountId, amountCents, reference, description, destinationId }: PayoutRow,
  { organizationId, sha256, rail, railTerms, newTransactionId }: RedemptionOf,
): MoveMoney {
  return {
    name: "redeem",
    organizationId,
    actor: PAYOUTS,
    newTransactionId,
    accountId,
    amountCents,
    reference,
    description,
    metadata: payoutMetadata(sha256, line),
    rail,
    isRailNamed: true,
    railTerms,
    receipt: undefined,
    destinationId,
    idempotencyKey: undefined,
    payoutFile: sha256,
  };
}
