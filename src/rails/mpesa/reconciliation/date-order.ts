import type { StatementProblem } from "../../statement.js";
import { type DateOrder, type WrittenTime, writtenTime } from "../../written-time.js";
import { isOfReceipt } from "./statement-times.js";

interface RowWithTime {
  readonly line: number;
  readonly receipt: string;
  readonly time: WrittenTime;
}

export interface FoundOrder {
  readonly order: DateOrder;
  readonly doubts: readonly string[];
}

const DAY_MILLIS = 86_400_000;
const DATES = /\d{1,4}[-/]\d{1,2}[-/]\d{1,4}/g;
const SWAPPED = "Export the statement again, and do not save it in a spreadsheet";

/**
 * Tells whether the day or the month stands first, by the whole file: a number above 12 is a day.
 * Otherwise the receipts decide, which have their days in them, and then the period of the head.
 */
export function dateOrderOf(rows: readonly RowWithTime[], period: string | undefined): FoundOrder | StatementProblem {
  const certain = (order: DateOrder): RowWithTime | undefined =>
    rows.find(({ time }) => time[order] !== undefined && time[otherThan(order)] === undefined && !time.isYearFirst);
  const day = certain("dayFirst");
  const month = certain("monthFirst");
  if (day !== undefined && month !== undefined) {
    return {
      problem: `Line ${String(day.line)} has the day before the month, and line ${String(month.line)} the month before the day. ${SWAPPED}`,
    };
  }
  const agreeing = (order: DateOrder): number =>
    rows.filter(({ receipt, time }) => time[order] !== undefined && isOfReceipt(receipt, time[order])).length;
  const votes = { dayFirst: agreeing("dayFirst"), monthFirst: agreeing("monthFirst") };
  const isYearFirst = rows.every(({ time }) => time.isYearFirst);
  if (isYearFirst) {
    if (votes.dayFirst === 0 && votes.monthFirst > 0) {
      return { problem: `Day and month are swapped in its times: the receipts were made on other days. ${SWAPPED}` };
    }
    return { order: "dayFirst", doubts: strangers(rows, "dayFirst", votes.dayFirst) };
  }
  const order = day !== undefined ? "dayFirst" : month !== undefined ? "monthFirst" : decided(rows, votes, period);
  if (order === undefined) {
    return {
      problem: `Its times may have the day or the month first: neither the receipts nor the period in its head tell. ${SWAPPED}`,
    };
  }
  if (votes[order] === 0 && votes[otherThan(order)] > 0) {
    return {
      problem: `Day and month are swapped in some of its times: the receipts were made on other days. ${SWAPPED}`,
    };
  }
  return { order, doubts: strangers(rows, order, votes[order]) };
}

function otherThan(order: DateOrder): DateOrder {
  return order === "dayFirst" ? "monthFirst" : "dayFirst";
}

function decided(
  rows: readonly RowWithTime[],
  votes: Readonly<Record<DateOrder, number>>,
  period: string | undefined,
): DateOrder | undefined {
  // The same day in both orders, such as 11/11/2026.
  if (rows.every(({ time }) => time.dayFirst === time.monthFirst)) return "dayFirst";
  if (votes.dayFirst !== votes.monthFirst) return votes.dayFirst > votes.monthFirst ? "dayFirst" : "monthFirst";
  const days = [...(period ?? "").matchAll(DATES)].flatMap(([text]) => writtenTime(`${text} 00:00`)?.dayFirst ?? []);
  if (days.length === 0) return undefined;
  const [from, to] = [Math.min(...days), Math.max(...days) + DAY_MILLIS];
  const isWithin = (order: DateOrder): boolean =>
    rows.every(({ time }) => time[order] !== undefined && time[order] >= from && time[order] < to);
  const [isDay, isMonth] = [isWithin("dayFirst"), isWithin("monthFirst")];
  if (isDay === isMonth) return undefined;
  return isDay ? "dayFirst" : "monthFirst";
}

/** Where most receipts have the days of their rows, another row is doubtful. */
function strangers(rows: readonly RowWithTime[], order: DateOrder, agreeing: number): readonly string[] {
  if (agreeing * 2 <= rows.length) return [];
  const found = rows.filter(
    ({ receipt, time }) => time[order] !== undefined && isOfReceipt(receipt, time[order]) === false,
  );
  const [first] = found;
  if (first === undefined) return [];
  const more = found.length === 1 ? "" : `, and ${String(found.length - 1)} more`;
  return [
    `Line ${String(first.line)} has a time that is not of the day in its receipt${more}: M-Pesa wrote another time.`,
  ];
}
