import { inWords } from "../../../domain/change.js";
import type { DestinationKind } from "../../../domain/destination.js";
import type { Transaction } from "../../../domain/transaction.js";
import { formatCents } from "../../../domain/values/cents.js";
import * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import type { Remark } from "../../../payouts/plan.js";
import { isLeftOut, type ItemsPage, PART_ROWS, type PartCounts, type StoredPayouts } from "../../../payouts/ports.js";
import { toTimestamp } from "../timestamp.js";

/** The most remarks and lines that a preview shows. */
export const SHOWN_MAX = 100;

/** What a person sees of a file before it is paid. A part of the file keeps it as it was. */
export interface Preview {
  readonly sha256: string;
  readonly rail: string;
  readonly count: number;
  readonly amountCents: number;
  readonly totals: readonly { readonly kind: DestinationKind; readonly count: number; readonly amountCents: number }[];
  readonly leftOut: number;
  /** The first ones, like `warnings`. */
  readonly errors: readonly Remark[];
  readonly warned: number;
  readonly warnings: readonly Remark[];
  /** The lines of the rows that the list holds. Earlier builds stored previews without it. */
  readonly listed?: readonly number[];
}

export function toPreview(preview: Preview): wire.PayoutsPreview {
  return {
    sha256: preview.sha256,
    rail: preview.rail,
    count: preview.count,
    amount: formatCents(preview.amountCents),
    totals: preview.totals.map(({ kind, count, amountCents }) => {
      return { kind: kind.toLowerCase(), count, amount: formatCents(amountCents) };
    }),
    left_out: preview.leftOut,
    errors: [...preview.errors],
    warned: preview.warned,
    warnings: [...preview.warnings],
    listed: preview.listed?.length ?? 0,
    listed_lines: preview.listed?.slice(0, SHOWN_MAX) ?? [],
  };
}

/** `problem` says why the rows of a file that runs wait. */
export function toPayouts(
  { approved, decidedParts, parts, refused, ...stored }: StoredPayouts,
  problem?: string,
): wire.Payouts {
  const { sha256, rail, count, amountCents, leftOut } = stored.preview as Preview;
  const { PAYOUTS_STATE_DONE, PAYOUTS_STATE_RUNNING, PAYOUTS_STATE_STOPPED } = wire.PayoutsState;
  const going = decidedParts === parts ? PAYOUTS_STATE_DONE : PAYOUTS_STATE_RUNNING;
  const now = approved?.stoppedAt === undefined ? going : PAYOUTS_STATE_STOPPED;
  return {
    sha256,
    rail,
    state: approved === undefined ? wire.PayoutsState.PAYOUTS_STATE_PROPOSED : now,
    count,
    amount: formatCents(amountCents),
    left_out: leftOut,
    decided: Math.min(count, decidedParts * PART_ROWS),
    refused,
    approved_at: approved && toTimestamp(approved.approvedAt),
    stopped_at: approved?.stoppedAt === undefined ? undefined : toTimestamp(approved.stoppedAt),
    problem,
  };
}

const STATES: Readonly<Record<Transaction["status"], wire.PayoutRowState>> = {
  PENDING: wire.PayoutRowState.PAYOUT_ROW_STATE_ACCEPTED,
  PROCESSING: wire.PayoutRowState.PAYOUT_ROW_STATE_ACCEPTED,
  COMPLETED: wire.PayoutRowState.PAYOUT_ROW_STATE_PAID,
  FAILED: wire.PayoutRowState.PAYOUT_ROW_STATE_FAILED,
  CANCELED: wire.PayoutRowState.PAYOUT_ROW_STATE_FAILED,
};

/** Sums the counts of the parts, by state. What nothing else counts waits. */
export function toRowCounts(parts: readonly PartCounts[]): wire.PayoutRowCount[] {
  const {
    PAYOUT_ROW_STATE_LEFT_OUT: leftOut,
    PAYOUT_ROW_STATE_REFUSED: refused,
    PAYOUT_ROW_STATE_WAITING: waiting,
  } = wire.PayoutRowState;
  const counts = new Map<wire.PayoutRowState, number>();
  const add = (state: wire.PayoutRowState, count: number): unknown =>
    counts.set(state, (counts.get(state) ?? 0) + count);
  for (const part of parts) {
    const made = [...part.made.values()].reduce((sum, count) => sum + count, 0);
    for (const [status, count] of part.made) add(STATES[status], count);
    add(leftOut, part.leftOut);
    add(refused, part.refused);
    add(waiting, Math.max(0, part.items - part.leftOut - part.refused - made));
  }
  return [...counts].flatMap(([state, count]) => (count === 0 ? [] : [{ state, count }]));
}

const NO_ROW = {
  reason: undefined,
  account_id: undefined,
  amount: undefined,
  reference: undefined,
  description: undefined,
  destination_id: undefined,
  transaction_id: undefined,
  rail_receipt: undefined,
};

/** `transaction` is the redemption of the row, if the ledger has accepted it. */
export function toPayoutRow({ item, refused, transaction }: ItemsPage["items"][number]): wire.PayoutRow {
  const { PAYOUT_ROW_STATE_LEFT_OUT, PAYOUT_ROW_STATE_WAITING, PAYOUT_ROW_STATE_REFUSED } = wire.PayoutRowState;
  if (isLeftOut(item)) {
    return { ...NO_ROW, line: item.line, state: PAYOUT_ROW_STATE_LEFT_OUT, reason: item.problem };
  }
  const row = {
    line: item.line,
    account_id: item.accountId,
    amount: formatCents(item.amountCents),
    reference: item.reference,
    description: item.description,
    destination_id: item.destinationId,
  };
  if (transaction === undefined) {
    const state = refused === undefined ? PAYOUT_ROW_STATE_WAITING : PAYOUT_ROW_STATE_REFUSED;
    return { ...NO_ROW, ...row, state, reason: refused };
  }
  const { id, status, statusReason, failure, railReceipt, heldFor } = transaction;
  const isOver = status === "FAILED" || status === "CANCELED";
  // A rail may have told no more than the code.
  const why = [...new Set([failure ?? "canceled", statusReason])].filter((text) => text !== "").join(": ");
  const made = { transaction_id: id, rail_receipt: railReceipt };
  return { ...NO_ROW, ...row, ...made, state: STATES[status], reason: isOver ? why : heldText(heldFor) };
}

/** Why the row waits for a person. */
function heldText(heldFor: Transaction["heldFor"]): string | undefined {
  return heldFor.length === 0 ? undefined : `held: ${heldFor.map(inWords).join(", ")}`;
}
