import { PARTS_MAX } from "../../domain/book-after.js";
import type { Rail } from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { LostNight } from "../../reconcile/lost-night.js";
import { signed } from "../../reconcile/reconciliation.js";
import { UsageError } from "../../startup/operator-error.js";
import { decimalOf } from "../../verify/format.js";
import type { MessageJson } from "../administration/row.js";
import { type AdminSession, itemsOf } from "../administration/session.js";
import { dayOrTimeOf, printJson, printLine, textOf, timeOf } from "../commands/output.js";

/** What is to be booked of a lost night. */
export interface NightOptions {
  readonly record?: true;
  readonly resolve?: true;
  readonly note?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** Whether the command books something of a lost night. */
export function booksNight({ record, resolve }: NightOptions): boolean {
  return record === true || resolve === true;
}

/** The fields of a LostNight of the contract, of a comparison that this process has made. */
export function nightFields({ payIns, results, doubtful }: LostNight): MessageJson {
  return {
    pay_ins: payIns.slice(0, PARTS_MAX).map(({ receipt, amountCents, reference, paidAt }) => {
      return { receipt, amount: formatCents(amountCents), reference, paid_at: timeOf(paidAt) };
    }),
    lacking: { count: payIns.length },
    results: results.slice(0, PARTS_MAX).map(({ transactionId, receipt, amountCents, maskedNumber, movedAt }) => {
      const row = { masked_number: maskedNumber ?? null, time: timeOf(movedAt) };
      return { transaction_id: transactionId, receipt, amount: formatCents(amountCents), ...row };
    }),
    found: { count: results.length },
    doubtful: doubtful.map((row) => {
      return { receipt: row.receipt, amount: decimalOf(BigInt(signed(row))), doubt: row.doubt.toLowerCase() };
    }),
  };
}

interface AskedNight extends NightOptions {
  readonly organizationId: string;
  readonly rail: Rail;
}

/**
 * Shows what the acts would do with each row, and does them with --yes. Throws a UsageError without
 * it, once all is printed.
 */
export async function bookNight(
  session: AdminSession,
  night: MessageJson,
  { organizationId, rail, record, resolve, note, yes, json }: AskedNight,
): Promise<void> {
  const common = { organization_id: organizationId, note: note ?? "", preview: yes !== true };
  const payIns = record === true ? itemsOf(night["pay_ins"]) : [];
  const results = resolve === true ? itemsOf(night["results"]) : [];
  const recorded =
    payIns.length === 0 ? undefined : await session.call("RecordDeposits", { ...common, rail, pay_ins: payIns });
  const sent = results.map(({ transaction_id, receipt, amount }) => ({ transaction_id, receipt, amount }));
  const resolved =
    sent.length === 0 ? undefined : await session.call("ResolveTransactions", { ...common, results: sent });
  const doubtful = itemsOf(night["doubtful"]);
  if (json === true) {
    printJson({ preview: yes !== true, record: recorded ?? null, resolve: resolved ?? null, doubtful });
  } else {
    const isDone = yes === true;
    if (record === true) for (const line of recordLines(recorded, night, isDone)) printLine(line);
    if (resolve === true) for (const line of resolveLines(resolved, results, { night, isDone })) printLine(line);
    for (const line of doubtfulLines(doubtful)) printLine(line);
  }
  if (yes !== true) throw new UsageError("Nothing was done. To do it, add --note TEXT --yes.");
}

function recordLines(response: MessageJson | undefined, night: MessageJson, isDone: boolean): string[] {
  if (response === undefined) return ["The book has every pay-in of a customer."];
  const proposal = proposalLines(response["proposal"], "records");
  if (proposal.length > 0) return proposal;
  const { recorded, credited, passed_over: passedOver } = response as Record<string, MessageJson>;
  return [
    ...itemsOf(response["pay_ins"]).map(payInLine),
    `${isDone ? "Recorded" : "This would record"} ${totalText(recorded)}: ${totalText(credited)} for accounts. ` +
      `The book had ${totalText(passedOver)}.`,
    ...secondPersonLines(response),
    ...moreLines(itemsOf(night["pay_ins"]).length, night["lacking"]),
  ];
}

function payInLine({ receipt, amount, outcome, account_id: account, reason }: MessageJson): string {
  const what =
    outcome === "credited"
      ? textOf(account)
      : outcome === "waiting"
        ? `waits: ${wordsOf(reason)}`
        : "the book has it already";
  return `  ${textOf(receipt).padEnd(12)} ${textOf(amount).padStart(14)}  ${what}`;
}

function resolveLines(
  response: MessageJson | undefined,
  results: readonly MessageJson[],
  { night, isDone }: { readonly night: MessageJson; readonly isDone: boolean },
): string[] {
  if (response === undefined) return ["No open order has a row of its own."];
  const proposal = proposalLines(response["proposal"], "completes");
  if (proposal.length > 0) return proposal;
  const { completed } = response as Record<string, MessageJson>;
  const rows = itemsOf(response["results"]);
  return [
    ...rows.map((row, index) => resultLine(row, results[index] ?? {})),
    `${isDone ? "Completed" : "This would complete"} ${totalText(completed)}.`,
    ...secondPersonLines(response),
    ...moreLines(results.length, night["found"]),
  ];
}

function resultLine(
  { transaction_id: id, receipt, amount, left_because: left }: MessageJson,
  { masked_number: party, time }: MessageJson,
): string {
  const at = dayOrTimeOf(toUnixMillis(Date.parse(textOf(time))));
  const row = `${textOf(receipt)} of ${at}${party === null || party === undefined ? "" : ` to ${textOf(party)}`}`;
  const why = left === null || left === undefined ? "" : `, left as it is: ${wordsOf(left)}`;
  return `  ${textOf(id)} ${textOf(amount).padStart(14)}  ${row}${why}`;
}

function doubtfulLines(doubtful: readonly MessageJson[]): string[] {
  if (doubtful.length === 0) return [];
  return [
    `${String(doubtful.length)} rows are in no act. A person decides about each:`,
    ...doubtful.map(
      ({ receipt, amount, doubt }) =>
        `  ${textOf(receipt).padEnd(12)} ${textOf(amount).padStart(14)}  ${wordsOf(doubt)}`,
    ),
  ];
}

function proposalLines(proposal: unknown, verb: string): string[] {
  if (proposal === null || proposal === undefined) return [];
  const { id, expires_at: until } = proposal as MessageJson;
  return [
    `Proposed as ${textOf(id)}. It ${verb} all rows once another person approves it, until ${textOf(until)}.`,
    `That person runs: kesc proposal approve ${textOf(id)}`,
  ];
}

function secondPersonLines({ needs_second_person: isNeeded }: MessageJson): string[] {
  return isNeeded === true ? ["It needs a second person, by the sum."] : [];
}

function moreLines(shown: number, all: unknown): string[] {
  const more = Number((all as MessageJson)["count"]) - shown;
  return more > 0 ? [`${String(more)} more: run the command again for them.`] : [];
}

function totalText(totals: MessageJson | undefined): string {
  return `${textOf(totals?.["count"])} of together ${textOf(totals?.["amount"])} KES`;
}

function wordsOf(code: unknown): string {
  return textOf(code).toLowerCase().replaceAll("_", " ");
}
