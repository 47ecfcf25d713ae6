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
  /**
   * M-Pesa's own charge. It has the receipt of the payment that it was taken for, and neither a
   * name nor an account number.
   */
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
  const party = cell(OTHER_PARTY);
  const accountReference = cell(ACCOUNT_NUMBER) || undefined;
  return {
    kind: "row",
    row: {
      receipt,
      completedAt,
      direction: paidIn === undefined ? "out" : "in",
      amountCents,
      isCharge: !NAME.test(party) && accountReference === undefined && isCharge(cell(REASON_TYPE), details),
      accountReference,
      transactionId: PAYOUT.exec(details)?.[1],
      phone: readPartyPhone(party),
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
