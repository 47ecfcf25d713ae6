import { PARTS_MAX } from "../../../domain/book-after.js";
import { formatCents } from "../../../domain/values/cents.js";
import { readDepositReference } from "../../../domain/values/deposit-reference.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import {
  type DoubtfulRow,
  type FoundResult,
  type LostNight,
  type LostPayIn,
  NIGHT_DOUBTS,
} from "../../../reconcile/lost-night.js";
import { signed } from "../../../reconcile/reconciliation.js";
import { enumOf } from "../enums.js";
import { formatSigned } from "../history/supply.js";
import { toTimestamp } from "../timestamp.js";

const DOUBTED_MAX = 100;
const DOUBTS = enumOf(wire.NightDoubt, "NIGHT_DOUBT", NIGHT_DOUBTS);
/** In place of what a payer typed that names no account. */
const UNREADABLE = "?";

export function toLostNight({ payIns, results, doubtful }: LostNight): wire.LostNight {
  return {
    pay_ins: payIns.slice(0, PARTS_MAX).map(toPayIn),
    lacking: totalsOf(payIns),
    results: results.slice(0, PARTS_MAX).map(toFoundResult),
    found: totalsOf(results),
    doubtful: doubtful.slice(0, DOUBTED_MAX).map(toDoubtfulRow),
    doubted: totalsOf(doubtful),
  };
}

export function totalsOf(parts: readonly { readonly amountCents: number }[]): wire.PartTotals {
  const sum = parts.reduce((total, { amountCents }) => total + BigInt(amountCents), 0n);
  return { count: BigInt(parts.length), amount: formatSigned(sum) };
}

/** What a payer typed may be personal. The act keeps no more of it than this. */
function toPayIn({ receipt, amountCents, reference, paidAt }: LostPayIn): wire.PayIn {
  const typed = reference.trim() === "" ? "" : (readDepositReference(reference) ?? UNREADABLE);
  return { receipt, amount: formatCents(amountCents), reference: typed, paid_at: ifSet(paidAt) };
}

function toFoundResult(found: FoundResult): wire.FoundResult {
  const { transactionId: transaction_id, receipt, amountCents, maskedNumber: masked_number, movedAt } = found;
  return { transaction_id, receipt, amount: formatCents(amountCents), masked_number, time: ifSet(movedAt) };
}

function toDoubtfulRow(row: DoubtfulRow): wire.DoubtfulRow {
  return { receipt: row.receipt, amount: formatSigned(signed(row)), doubt: DOUBTS[row.doubt] };
}

function ifSet(moment: UnixMillis | undefined): ReturnType<typeof toTimestamp> | undefined {
  return moment === undefined ? undefined : toTimestamp(moment);
}
