import { isOfCharges } from "../../domain/receipt.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { UncreditedRow } from "../../rails/rail.js";
import type { LostNight } from "../../reconcile/lost-night.js";
import type { Reconciled } from "../../reconcile/reconcile.js";
import {
  type BookedMovement,
  type Break,
  type BreakKind,
  type RailMovementRow,
  type ReconciledPeriod,
  signed,
  type Totals,
} from "../../reconcile/reconciliation.js";
import { isOfCustomer } from "../../reconcile/remedies.js";
import type { StatementFacts } from "../../reconcile/statement-movements.js";
import type { ExplainedTie } from "../../reconcile/tie.js";
import { decimalOf } from "../../verify/format.js";
import { dayOrTimeOf, timeOf } from "../commands/output.js";
import type { AppliedPayment } from "./apply-received.js";
import { placeJson, placeLines, type PlaceOfReport } from "./place-report.js";
import { tieJson, tieLines } from "./tie.js";

export interface ReconcileReport {
  readonly organizationId: OrganizationId;
  readonly name: string;
  /** Undefined if the rail itself was asked. Then only what came in is compared. */
  readonly facts: StatementFacts | undefined;
  /** The rows of the rail's list that credit nobody, and are not compared. */
  readonly others?: readonly UncreditedRow[];
  /** The payments that were told to the ledger before the comparison. */
  readonly applied: readonly AppliedPayment[];
  /** How many charges of the statement were booked before the comparison. */
  readonly chargesBooked: number;
  readonly period: ReconciledPeriod;
  readonly reconciled: Reconciled;
  /** Undefined without a statement, or until the rail has told a balance. */
  readonly tie: ExplainedTie | undefined;
  readonly night: LostNight;
  /** The bank whose statement it is. Undefined for a rail. */
  readonly place?: PlaceOfReport;
}

export function breaksOf({ reconciled }: Pick<ReconcileReport, "reconciled">): readonly Break[] {
  return [...reconciled.movements.breaks, ...reconciled.charges.breaks];
}

const KINDS: readonly BreakKind[] = ["missing_in_ledger", "missing_on_rail", "amount_differs", "double"];

/** Returns the comparison for people. */
export function reportLines(report: ReconcileReport): string[] {
  const { organizationId, name, facts, applied, chargesBooked, period, reconciled, tie } = report;
  const { matched, onRail, booked, atTheEdge } = reconciled.movements;
  const breaks = breaksOf(report);
  const differs = breaks.length > 0;
  const of = { org: organizationId, who: whoOf(report) };
  return [
    ...applied.map(appliedLine),
    ...(chargesBooked === 0 ? [] : [`Booked ${String(chargesBooked)} charges.`]),
    `${organizationId} ("${name}"), from ${timeOf(period.from)} to ${timeOf(period.to)}:`,
    `  ${"matched".padEnd(18)} ${sumsOf(matched)}`,
    ...KINDS.map(
      (kind) => `  ${wordsOf(kind, of).padEnd(18)} ${String(breaks.filter((each) => each.kind === kind).length)}`,
    ),
    ...(facts === undefined
      ? [
          `  ${"went out".padEnd(18)} not compared: the rail lists only what came in`,
          ...(report.others ?? []).map(
            ({ kind, receipt }) => `  ${"no payment".padEnd(18)} ${receipt ?? "?"}: ${kind || "of no kind"}`,
          ),
        ]
      : [
          `  ${"charges".padEnd(18)} ${sumsOf(reconciled.charges.onRail)}: ${String(reconciled.charges.matched.count)} in the book`,
          `  ${"not completed".padEnd(18)} ${String(facts.notCompleted)}: not compared`,
        ]),
    `  ${"at the edge".padEnd(18)} ${String(atTheEdge)}, accepted before the period: not compared`,
    `${facts === undefined ? "The rail lists" : "The statement has"} ${sumsOf(onRail)}. For these and the period the book has ${sumsOf(booked)}.`,
    ...(facts?.doubts ?? []).map((doubt) => `Doubtful: ${doubt}`),
    differs
      ? `${String(breaks.length)} differ:`
      : (facts?.doubts.length ?? 0) > 0
        ? "All rows agree with the book, but the file is doubtful."
        : "All movements of this period agree. That says nothing about other times, nor about other rails.",
    ...breaks.flatMap((each) => breakLines(each, of)),
    ...(tie === undefined ? noTieLines(report) : tieLines(tie)),
    ...(report.place === undefined ? [] : placeLines(report.place, organizationId)),
  ];
}

/** Says why the sums of a statement are not tied. */
function noTieLines({ facts, place }: ReconcileReport): string[] {
  if (facts === undefined || place !== undefined) return [];
  return ["No tie: the rail has not reported a balance yet. Servers ask a new account for it within a minute."];
}

/** Returns the comparison for scripts. Amounts are texts: no program rounds them. */
export function reportJson(report: ReconcileReport): Readonly<Record<string, unknown>> {
  const { organizationId, facts, applied, chargesBooked, period, reconciled, tie } = report;
  const { matched, onRail, booked, atTheEdge } = reconciled.movements;
  const breaks = breaksOf(report);
  return {
    organization_id: organizationId,
    from: timeOf(period.from),
    to: timeOf(period.to),
    agrees: breaks.length === 0 && (facts?.doubts.length ?? 0) === 0,
    doubts: facts?.doubts ?? [],
    matched: sumsJson(matched),
    on_rail: sumsJson(onRail),
    booked: sumsJson(booked),
    no_payments: (report.others ?? []).map(({ receipt = null, kind }) => ({ receipt, kind })),
    charges: facts === undefined ? null : sumsJson(reconciled.charges.onRail),
    charges_matched: facts === undefined ? null : sumsJson(reconciled.charges.matched),
    charges_booked: chargesBooked,
    tie: tie === undefined ? null : tieJson(tie),
    place: report.place === undefined ? null : placeJson(report.place, organizationId),
    not_completed: facts?.notCompleted ?? null,
    compared: facts === undefined ? ["in"] : ["in", "out"],
    applied: applied.map(({ receipt, transactionId, status, openFlags }) => ({
      receipt,
      transaction_id: transactionId,
      status,
      open_flags: openFlags,
    })),
    at_the_edge: atTheEdge,
    breaks: breaks.map((each) => ({
      kind: each.kind,
      receipt: (each.rail ?? each.booked)?.receipt ?? null,
      row_kind: each.rail?.kind ?? null,
      transaction_id: each.booked?.transactionId ?? each.rail?.transaction?.id ?? null,
      on_rail: sideJson(each.rail, each.rail?.completedAt),
      booked: sideJson(each.booked, each.booked?.recordedAt),
      advice: adviceOn(each, { org: organizationId, who: whoOf(report) }),
    })),
  };
}

function appliedLine({ receipt, transactionId, status, openFlags }: AppliedPayment): string {
  const flags = openFlags.length === 0 ? "" : `, and needs attention: ${openFlags.join(", ")}`;
  return `Told the ledger of ${receipt}: ${transactionId} is ${status}${flags}.`;
}

/** Whose statement it is, and whose book. */
interface Parties {
  readonly org: OrganizationId;
  readonly who: "rail" | "bank";
}

function whoOf({ place }: ReconcileReport): Parties["who"] {
  return place === undefined ? "rail" : "bank";
}

function breakLines(each: Break, of: Parties): string[] {
  const { kind, rail, booked } = each;
  const receipt = (rail ?? booked)?.receipt ?? "no receipt";
  const onRail =
    rail === undefined
      ? ""
      : `, ${of.who === "rail" ? "on the rail" : "at the bank"} ${sideOf(rail)}${atTime(rail.completedAt)}`;
  const inBook = booked === undefined ? "" : `, in the book ${sideOf(booked)}${atTime(booked.recordedAt)}`;
  const id = booked?.transactionId ?? rail?.transaction?.id;
  const status = booked === undefined && rail?.transaction !== undefined ? ` (${rail.transaction.status})` : "";
  return [
    `  ${wordsOf(kind, of)}: ${receipt}${onRail}${inBook}${id === undefined ? "" : `, ${id}${status}`}`,
    `    ${adviceOn(each, of)}`,
  ];
}

/** Says what to do about a break. The commands can be pasted. */
function adviceOn({ kind, rail, booked }: Break, of: Parties): string {
  const { org, who } = of;
  switch (kind) {
    case "missing_in_ledger":
      return rail === undefined ? "" : adviceOnMissing(rail, of);
    case "missing_on_rail":
      return (
        `Check that the statement or the list covers this time and this ${who === "rail" ? "shortcode" : "account"}. ` +
        `Then ask the ${who} about the receipt. ` +
        (booked === undefined ? "" : `If nothing moved: ${adjustmentOf(booked, -signed(booked), org)}`)
      );
    case "amount_differs":
      if (rail === undefined || booked === undefined) return "";
      if (!isOfCustomer(rail)) return NO_CUSTOMER;
      return `Ask the ${who} which amount is right. If the book is wrong: ${adjustmentOf(booked, signed(rail) - signed(booked), org)}`;
    case "double":
      return `The statement has the receipt twice. The book takes a receipt once. Ask the ${who}.`;
  }
}

const NO_CUSTOMER = "Its words do not say that it is a customer's. Look it up in the rail's portal before you book it.";

/** The command that adds to a movement of the book. What went out is negative. */
function adjustmentOf(
  { receipt, transactionId, accountId }: BookedMovement,
  cents: number,
  org: OrganizationId,
): string {
  const movement = receipt ?? transactionId ?? "";
  const account = accountId === undefined ? "" : ` --account ${accountId}`;
  return (
    `kesc book adjust --movement ${movement} --direction ${cents < 0 ? "out" : "in"} --amount ${amountOf(cents)}${account} ` +
    `--key adjust-${movement} ${optionsOf(org)}`
  );
}

function adviceOnMissing(
  { transaction, receipt, amountCents, direction, kind, linkedReceipt }: RailMovementRow,
  { org, who }: Parties,
): string {
  if (isOfCharges(receipt)) {
    return `A charge of the ${who}. --apply books it once the book has its movement. Above --charge-max, ask the ${who} first.`;
  }
  const amount = amountOf(amountCents);
  const moved = `--amount ${amount} --receipt ${receipt}`;
  if (transaction?.status === "PROCESSING" && isOfCustomer({ kind })) {
    const isSame = transaction.amountCents === amountCents;
    const outcome = isSame ? "completed" : `moved --amount ${amount}`;
    const resolve = `kesc transaction resolve ${transaction.id} --outcome ${outcome} --receipt ${receipt} ${optionsOf(org)}`;
    if (who === "bank") return `It is the outcome. In one act: this command with --resolve. Alone: ${resolve}`;
    return transaction.openFlags.length === 0
      ? `The settlement still asks the rail. If it does not find the payment: ${resolve}`
      : resolve;
  }
  if (kind === "unknown") return NO_CUSTOMER;
  const transfer = `kesc book transfer --direction ${direction} ${moved} --key transfer-${receipt} ${optionsOf(org)}`;
  if (kind === "own_transfer") return `Between accounts of yours: ${transfer}`;
  if (kind === "reversal") {
    const reversed = linkedReceipt === undefined ? "a payment" : `the payment ${linkedReceipt}`;
    const act =
      who === "rail" ? "for a payout, ask the rail" : "for a mint or redemption: kesc transaction reverse --help";
    return `The ${who} took back ${reversed}. For a deposit: kesc deposit reverse --help; ${act}.`;
  }
  if (direction === "out") {
    const account = transaction === undefined ? "" : ` --account ${transaction.accountId}`;
    return (
      `Find out who sent them. To another place of yours, such as ${who === "rail" ? "the bank" : "M-Pesa"}: ${transfer}; ` +
      `otherwise: kesc book paid ${moved}${account} --key paid-${receipt} ${optionsOf(org)}`
    );
  }
  const target = transaction === undefined ? "ACCOUNT" : transaction.accountId;
  return (
    `kesc deposit record ${moved} ${optionsOf(org)}, with --account ${target} to credit it; otherwise they wait. ` +
    `From another place of yours: ${transfer}`
  );
}

/** --yes does it: without it a command only says what it would do. */
function optionsOf(org: OrganizationId): string {
  return `--org ${org} --note TEXT --yes`;
}

function amountOf(cents: number): string {
  return decimalOf(BigInt(Math.abs(cents)));
}

function wordsOf(kind: BreakKind, { who }: Pick<Parties, "who">): string {
  return kind.replace("on_rail", who === "rail" ? "on_rail" : "at_bank").replaceAll("_", " ");
}

function atTime(millis: UnixMillis | undefined): string {
  return millis === undefined ? "" : ` at ${dayOrTimeOf(millis)}`;
}

function sideOf({
  direction,
  amountCents,
}: Pick<RailMovementRow | BookedMovement, "direction" | "amountCents">): string {
  return `${decimalOf(BigInt(amountCents))} ${direction}`;
}

function sideJson(
  side: Pick<RailMovementRow | BookedMovement, "direction" | "amountCents"> | undefined,
  at: number | undefined,
): Readonly<Record<string, string | null>> | null {
  if (side === undefined) return null;
  return { direction: side.direction, amount: decimalOf(BigInt(side.amountCents)), at: timeOf(at) };
}

function sumsOf({ count, inCents, outCents }: Totals): string {
  return `${String(count)} movements, ${decimalOf(inCents)} in, ${decimalOf(outCents)} out`;
}

function sumsJson({ count, inCents, outCents }: Totals): Readonly<Record<string, string | number>> {
  return { count, in: decimalOf(inCents), out: decimalOf(outCents) };
}
