import { isOfCharges } from "../../../domain/receipt.js";
import type { UnixMillis } from "../../../domain/values/time.js";
import * as wire from "../../../gen/kesc/admin/v1/admin_service.js";
import { CLOSING_STATES } from "../../../reconcile/banks/closing.js";
import type { ComparedPlace } from "../../../reconcile/banks/compare-place.js";
import type { ComparedStatement } from "../../../reconcile/compare-statement.js";
import { type Break, type BreakKind, signed, type Totals } from "../../../reconcile/reconciliation.js";
import { remediesOf } from "../../../reconcile/remedies.js";
import type { ExplainedTie } from "../../../reconcile/tie.js";
import { enumOf } from "../enums.js";
import { formatSigned, toRailBalance, toReserveHolding } from "../history/supply.js";
import { toTimestamp } from "../timestamp.js";
import { toLostNight } from "./night.js";

const SHOWN_MAX = 100;

const KINDS: readonly BreakKind[] = ["missing_in_ledger", "missing_on_rail", "amount_differs", "double"];
const KIND_MESSAGES = enumOf(wire.DifferenceKind, "DIFFERENCE_KIND", KINDS);
const CLOSING_MESSAGES = enumOf(wire.ClosingState, "CLOSING_STATE", CLOSING_STATES);

/** Returns a statement that was compared, of a rail or of a bank. */
export function toComparison(
  compared: ComparedStatement | ComparedPlace,
  now: UnixMillis,
): wire.ReconcileStatementResponse {
  const { facts, period, reconciled, breaks, tie } = compared;
  const { movements, charges } = reconciled;
  return {
    start: toTimestamp(period.from),
    end: toTimestamp(period.to),
    on_rail: toTotals(movements.onRail),
    booked: toTotals(movements.booked),
    matched: toTotals(movements.matched),
    charges: toTotals(charges.onRail),
    charges_matched: toTotals(charges.matched),
    not_completed: BigInt(facts.notCompleted),
    at_the_edge: BigInt(movements.atTheEdge),
    differences: KINDS.flatMap((kind) => toDifferences(kind, breaks)),
    tie: tie && toTie(tie, now),
    doubts: [...facts.doubts],
    lost_night: toLostNight(compared.night),
    place: "place" in compared ? toComparedPlace(compared, now) : undefined,
  };
}

function toTotals({ count, inCents, outCents }: Totals): wire.MovementTotals {
  return { count: BigInt(count), amount_in: formatSigned(inCents), amount_out: formatSigned(outCents) };
}

function toDifferences(kind: BreakKind, breaks: readonly Break[]): readonly wire.StatementDifferences[] {
  const own = breaks.filter((each) => each.kind === kind);
  if (own.length === 0) return [];
  const differences = own.slice(0, SHOWN_MAX).map(toDifference);
  return [{ kind: KIND_MESSAGES[kind], count: BigInt(own.length), differences }];
}

function toDifference(found: Break): wire.StatementDifference {
  const { rail, booked } = found;
  const receipt = (rail ?? booked)?.receipt;
  return {
    receipt,
    transaction_id: booked?.transactionId ?? rail?.transaction?.id,
    account_id: booked?.accountId ?? rail?.transaction?.accountId,
    on_rail: rail && toSide(rail, rail.completedAt),
    booked: booked && toSide(booked, booked.recordedAt),
    is_charge: receipt !== undefined && isOfCharges(receipt),
    row_kind: rail?.kind,
    remedies: [...remediesOf(found)],
  };
}

function toSide(side: Parameters<typeof signed>[0], time: UnixMillis | undefined): wire.MovementSide {
  return { amount: formatSigned(signed(side)), time: time === undefined ? undefined : toTimestamp(time) };
}

function toTie(tie: ExplainedTie, now: UnixMillis): wire.StatementTie {
  return {
    time: toTimestamp(tie.at),
    rail_balances: tie.railAccounts.map((balance) => toRailBalance(balance, now)),
    reserve_holdings: tie.places.map((figure) => toReserveHolding(figure, now)),
    owed: formatSigned(tie.owedCents),
    difference: formatSigned(tie.differenceCents),
    shortfall: formatSigned(-BigInt(tie.sums.shortfall)),
    charges: formatSigned(-BigInt(tie.sums.charges)),
    under_way: formatSigned(tie.byTimeCents),
    differences: formatSigned(tie.byBreaksCents),
    not_explained: formatSigned(tie.unexplainedCents),
  };
}

function toComparedPlace(
  { place, source, account, statement, sha256: document_sha256, closing, knownPlaces }: ComparedPlace,
  now: UnixMillis,
): wire.ComparedPlace {
  return {
    place,
    source,
    account,
    statement,
    document_sha256,
    closing: closing && {
      amount: formatSigned(closing.balance.cents),
      day: closing.balance.day,
      state: CLOSING_MESSAGES[closing.state],
      recorded: closing.figure && toReserveHolding(closing.figure, now),
    },
    is_new: !knownPlaces.includes(place),
  };
}
