import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import type { PayoutRow } from "../domain/payout-file.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { AnyRefusal } from "../grpc/errors/refusal.js";
import { messageOf } from "../grpc/errors/status.js";
import { redeemTermsOf } from "../grpc/services/payouts/redeem-terms.js";
import type { CellRails } from "../grpc/services/served-cell.js";
import type { Ledger } from "../ledger/ledger.js";
import { DECIDED_LATER } from "../ledger/ports/outcome.js";
import type { OpenPart } from "../payouts/ports.js";
import { redemptionOf } from "../payouts/redemption.js";
import { PayoutRunner, type RowDecision } from "../payouts/runner.js";
import { failureLog } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { payoutStore } from "../storage/payouts/payout-store.js";
import { cellLease, type Part, underLease } from "./lease.js";
import { newTransactionId } from "./new-ids.js";

interface PayoutsOptions {
  readonly ledger: Pick<Ledger, "submit">;
  readonly rails: Pick<CellRails, "railAccounts" | "wake">;
  /** Nothing is paid out to a phone number that was changed less than this time ago. */
  readonly phoneCoolingMillis: number;
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

const DECIDE_MILLIS_MAX = 30_000;

/** The ledger can decide the same row later. */
const TRANSIENT: ReadonlySet<AnyRefusal["reason"]> = new Set([
  ...DECIDED_LATER,
  "ORGANIZATION_SUSPENDED",
  "RAIL_NOT_CONFIGURED",
]);

/** The changed row of an account or a transaction. Without it the other rows of a file are paid. */
const OF_ONE_PAYOUT = /^(acc|txn)_/;

/**
 * Whether the same row can be accepted later. If somebody has changed the row of the book or its
 * list, each payout waits until a person has made it whole: all would be refused for good.
 */
function isDecidedLater(refusal: AnyRefusal): boolean {
  return refusal.reason === "ROW_CHANGED" ? !OF_ONE_PAYOUT.test(refusal.resourceId) : TRANSIENT.has(refusal.reason);
}

/** Puts the payment of approved files in one cell together. */
export function cellPayouts(cell: Cell, { ledger, rails, phoneCoolingMillis, now, logger }: PayoutsOptions): Part {
  const onError = failureLog(logger, cell.number, "a file of payouts was not paid at a step, which is tried again");
  const lease = cellLease(cell, { name: "payouts", onError, logger });
  const redeem = async (file: OpenPart["file"], row: PayoutRow): Promise<RowDecision> => {
    const { organizationId, rail } = file;
    const railTerms = redeemTermsOf(rails.railAccounts, { organizationId, rail, phoneCoolingMillis });
    // The account at the rail cannot be used now. Nothing says that it never will be. The ledger
    // refuses the rows of a stopped file without it.
    if (railTerms === undefined && file.stoppedAt === undefined) return { kind: "later" };
    const command = redemptionOf(row, { ...file, railTerms, newTransactionId: newTransactionId() });
    const outcome = await ledger.submit(command, toUnixMillis(now() + DECIDE_MILLIS_MAX), { bulk: true });
    if (outcome.kind === "refused") {
      const { refusal } = outcome;
      return isDecidedLater(refusal) ? { kind: "later" } : { kind: "refused", reason: messageOf(refusal) };
    }
    if (!outcome.replayed) rails.wake();
    return { kind: "accepted" };
  };
  const changed = new Set<string>();
  const store = payoutStore(cell, (sha256) => {
    if (changed.has(sha256)) return;
    changed.add(sha256);
    logger.error({ cell: cell.number, sha256 }, "a file of payouts was changed past the service: run kesc verify");
  });
  const timing = { now, ...SYSTEM_TIMING };
  return underLease(lease, new PayoutRunner({ store, lease, redeem, timing, onError }));
}
