import { type Cents, parseAmount } from "../../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { ReadRow, StatementFormat } from "../../statement.js";
import { readReceipt } from "../messages.js";
import { millisOfNairobi } from "../nairobi-time.js";
import { transactionEndOf } from "../stk.js";

/** The statement that M-Pesa's portal exports for a shortcode. It has more columns than these. */
export const STATEMENT: StatementFormat = {
  columns: ["Receipt No.", "Completion Time", "Details", "Transaction Status", "Paid In", "Withdrawn"],
  // The name of the organization, the shortcode and the period.
  linesBeforeHeaderMax: 50,
  readRow,
};
const OTHER_PARTY = "Other Party Info";
const ACCOUNT_NUMBER = "A/C No.";

const REASON_TYPE = "Reason Type";
const CHARGE_TYPE = /\bcharges?$/i;
// M-Pesa's own words, whole. A payer can type "charge" into an account number, and a person can be
// called so. A charge that is not in the list is compared, and shows as a break.
const CHARGE_DETAILS =
  /^(Pay ?Bill|Pay Merchant|Merchant Payment|(Business|Salary|Promotion) Payment|Business (Pay ?Bill|Buy Goods|to Business Transfer)|Merchant to Merchant Payment|(Organi[sz]ation|Real Time) Settlement|(Organi[sz]ation |Customer )?Withdrawal) Charge$/i;
const NAME = /\p{L}/u;
const PAYOUT = /original conversation id is (txn_[0-9a-z]{26})/i;
// "22-11-2026 10:05:33" in some exports, "2026-11-22 10:05:33" in others.
const DAY_FIRST = /^(\d{2})[-/](\d{2})[-/](\d{4})( .+)$/;

/**
 * Reads a row of the statement, by the names of its columns. The portal writes times as they are in
 * Nairobi, amounts with commas, and a withdrawal with or without a minus.
 */
function readRow(cell: (column: string) => string): ReadRow {
  if (cell("Transaction Status").toLowerCase() !== "completed") return { kind: "not_completed" };
  const receipt = readReceipt(cell("Receipt No."));
  if (receipt === undefined) return bad("Receipt No.", "is no receipt");
  const completedAt = timeOf(cell("Completion Time"));
  if (completedAt === undefined) return bad("Completion Time", "is no time such as 22-11-2026 10:05:33");
  const paidIn = amountOf(cell("Paid In"));
  const withdrawn = amountOf(cell("Withdrawn"));
  if (paidIn === "bad" || withdrawn === "bad") return bad(paidIn === "bad" ? "Paid In" : "Withdrawn", "is no amount");
  const amountCents = paidIn ?? withdrawn;
  if (amountCents === undefined || (paidIn !== undefined && withdrawn !== undefined)) {
    return bad("Paid In", "or Withdrawn must have an amount, and not both");
  }
  const details = cell("Details");
  const party = cell(OTHER_PARTY);
  const accountReference = cell(ACCOUNT_NUMBER) || undefined;
  return {
    kind: "row",
    row: {
      receipt,
      completedAt,
      direction: paidIn === undefined ? "out" : "in",
      amountCents,
      // A charge has the receipt of its payment, and neither a name nor an account number.
      isCharge: !NAME.test(party) && accountReference === undefined && isCharge(cell(REASON_TYPE), details),
      transactionId: PAYOUT.exec(details)?.[1],
      // What the payer's prompt showed, or what the payer typed.
      idEnd: transactionEndOf(accountReference),
    },
  };
}

/** The reason type is M-Pesa's own word. Not every export has it. */
function isCharge(reasonType: string, details: string): boolean {
  return reasonType === "" ? CHARGE_DETAILS.test(details) : CHARGE_TYPE.test(reasonType);
}

function bad(column: string, problem: string): ReadRow {
  return { kind: "bad", column, problem };
}

/** Undefined for an empty cell, or for a zero: the statement writes both for "none". */
function amountOf(text: string): Cents | "bad" | undefined {
  const digits = text.replaceAll(",", "").replace(/^-/, "");
  if (/^(0(\.0{1,2})?)?$/.test(digits)) return undefined;
  const amount = parseAmount(digits);
  return amount.ok ? amount.value : "bad";
}

function timeOf(text: string): UnixMillis | undefined {
  const millis = millisOfNairobi(text.trim().replace(DAY_FIRST, "$3-$2-$1$4"));
  return millis === undefined ? undefined : toUnixMillis(millis);
}
