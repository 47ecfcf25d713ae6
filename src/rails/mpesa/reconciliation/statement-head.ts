import { signedAmount } from "../../written-amount.js";
import { plainHeader } from "./columns.js";

/** What the lines before the header say. */
export interface StatementHead {
  shortcode: string | undefined;
  /** The text of the period, such as "From 24-11-2026 00:00:00 To 24-11-2026 23:59:59". */
  period: string | undefined;
  /** In cents. */
  readonly sums: Map<HeadSum, number>;
}

export type HeadSum = "opening balance" | "closing balance" | "total paid in" | "total withdrawn";

const SHORTCODES = new Set(["short code", "shortcode", "organization short code", "organisation short code"]);
const PERIODS = new Set(["time period", "period", "statement period"]);
const SUMS: ReadonlyMap<string, HeadSum> = new Map([
  ["opening balance", "opening balance"],
  ["closing balance", "closing balance"],
  ["total paid in", "total paid in"],
  ["paid in", "total paid in"],
  ["total withdrawn", "total withdrawn"],
  ["withdrawn", "total withdrawn"],
]);

export function newHead(fileName: string): StatementHead {
  // The newer template has nothing before its header, and is called so.
  const [, shortcode] = /\bStatements? for (\d{5,7})\b/i.exec(fileName) ?? [];
  return { shortcode, period: undefined, sums: new Map() };
}

/** Reads a line before the header: names with their values, in one cell or in two. */
export function readHeadLine(head: StatementHead, cells: readonly string[]): void {
  const texts = cells.flatMap(halves).filter((text) => text !== "");
  for (const [place, text] of texts.entries()) {
    const name = plainHeader(text);
    const value = texts[place + 1] ?? "";
    const sum = SUMS.get(name);
    if (SHORTCODES.has(name)) head.shortcode = /^\d{5,7}\b/.exec(value)?.[0] ?? head.shortcode;
    else if (PERIODS.has(name)) head.period = texts.slice(place + 1).join(" ");
    else if (sum !== undefined) {
      const cents = signedAmount(value.replace(/^(KES|KSHS?)\.?\s*/i, ""));
      if (typeof cents === "number") head.sums.set(sum, cents);
    }
  }
}

/** "Short Code: 600996" is a name and a value. A time has colons, too. */
function halves(cell: string): readonly string[] {
  const [, name, value] = /^([A-Za-z /.]{3,40}):\s*(.*)$/.exec(cell.trim()) ?? [];
  return name === undefined || value === undefined ? [cell.trim()] : [name, value];
}
