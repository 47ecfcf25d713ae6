import { type Cents, parseAmount } from "../../../domain/values/cents.js";
import type { MaskedPhone } from "../../../domain/values/masked-phone.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import { readPartyPhone, readReceipt } from "../messages.js";
import { millisOfNairobi } from "../nairobi-time.js";

/** The columns of M-Pesa's statement that are read. A statement has more. */
export const STATEMENT_COLUMNS = [
  "Receipt No.",
  "Completion Time",
  "Details",
  "Transaction Status",
  "Paid In",
  "Withdrawn",
] as const;
const OTHER_PARTY = "Other Party Info";
const ACCOUNT_NUMBER = "A/C No.";

/** A row of the statement that M-Pesa's portal exports for a shortcode. */
export interface StatementRow {
  readonly receipt: string;
  readonly completedAt: UnixMillis;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
  /** M-Pesa's own charge. It has the receipt of the payment that it was taken for. */
  readonly isCharge: boolean;
  /** What the payer's prompt showed, or what the payer typed. */
  readonly accountReference: string | undefined;
  /** The id of the transaction that a payout was made for, if the details name it. */
  readonly transactionId: string | undefined;
  readonly phone: MaskedPhone | undefined;
}

/** What one row of the file says. */
export type ReadRow =
  | { readonly kind: "row"; readonly row: StatementRow }
  /** Nothing moved, or not yet. */
  | { readonly kind: "not_completed" }
  | { readonly kind: "bad"; readonly column: string; readonly problem: string };

const CHARGE = /\bcharge\b/i;
const PAYOUT = /original conversation id is (txn_[0-9a-z]{26})/i;
// "22-11-2026 10:05:33" in some exports, "2026-11-22 10:05:33" in others.
const DAY_FIRST = /^(\d{2})[-/](\d{2})[-/](\d{4})( .+)$/;

/**
 * Reads a row of the statement, by the names of its columns. The portal writes times as they are in
 * Nairobi, amounts with commas, and a withdrawal with or without a minus.
 */
export function readStatementRow(cell: (column: string) => string): ReadRow {
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
  return {
    kind: "row",
    row: {
      receipt,
      completedAt,
      direction: paidIn === undefined ? "out" : "in",
      amountCents,
      isCharge: CHARGE.test(details),
      accountReference: cell(ACCOUNT_NUMBER) || undefined,
      transactionId: PAYOUT.exec(details)?.[1],
      phone: readPartyPhone(cell(OTHER_PARTY)),
    },
  };
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
