import { mayHaveMoved } from "../domain/orders/flag.js";
import type { RailReceipt } from "../domain/payment.js";
import type { Cents } from "../domain/values/cents.js";
import type { TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { StatementRow } from "../rails/statement.js";
import type { Break, NamedTransaction } from "./reconciliation.js";

/** An order whose outcome nobody has told, as the book has it. */
export interface OpenPayout {
  readonly transaction: Pick<NamedTransaction, "id" | "amountCents" | "openFlags">;
  /** Whom it pays, as people see it. */
  readonly maskedNumber: string;
  /** When the rail was first asked, by the clock. */
  readonly begunAt: UnixMillis;
}

/** A row of the rail's statement, or of its list of what came in. */
export type NightRow = Pick<
  StatementRow,
  "receipt" | "direction" | "amountCents" | "kind" | "reference" | "phone" | "linkedReceipt" | "isUnnumbered"
> & { readonly completedAt: UnixMillis | undefined };

/** A pay-in that the book lacks. */
export interface LostPayIn {
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** What the payer typed. Empty: nothing. */
  readonly reference: string;
  readonly paidAt: UnixMillis | undefined;
}

/** An open order, and its row in the statement. */
export interface FoundResult {
  readonly transactionId: TransactionId;
  readonly receipt: RailReceipt;
  readonly amountCents: Cents;
  /** The party of the row. Undefined if it names none. */
  readonly maskedNumber: string | undefined;
  readonly movedAt: UnixMillis | undefined;
}

/**
 * Why a person decides about a row alone:
 *
 * - TWICE: the file has its receipt twice.
 * - REVERSED: the file has a row that takes it back.
 * - UNKNOWN_KIND, OWN_TRANSFER: it is no pay-in of a customer.
 * - NAMES_AN_ORDER: it names an order that it does not fit.
 * - FITS_SEVERAL: it fits several orders, or its order several rows.
 * - WITHOUT_NUMBER: it is a pay-in without a number, so nothing tells whether the book has it.
 */
export const NIGHT_DOUBTS = [
  "TWICE",
  "REVERSED",
  "UNKNOWN_KIND",
  "OWN_TRANSFER",
  "NAMES_AN_ORDER",
  "FITS_SEVERAL",
  "WITHOUT_NUMBER",
] as const;
export type NightDoubt = (typeof NIGHT_DOUBTS)[number];

export interface DoubtfulRow {
  readonly receipt: RailReceipt;
  readonly direction: "in" | "out";
  readonly amountCents: Cents;
  readonly doubt: NightDoubt;
}

/** What a statement has of a time whose reports were lost. Nothing of it is booked by itself. */
export interface LostNight {
  /** In the order of the statement, like the others. */
  readonly payIns: readonly LostPayIn[];
  readonly results: readonly FoundResult[];
  readonly doubtful: readonly DoubtfulRow[];
}

interface ComparedRows {
  readonly rows: readonly NightRow[];
  readonly breaks: readonly Break[];
  readonly open: readonly OpenPayout[];
}

// Other clocks differ a little, and some statements have no seconds.
const EARLY_MILLIS_MAX = 120_000;
/** A rail carries an order out within so long after it was asked. */
const LATE_MILLIS_MAX = 86_400_000;

/** Finds what can be booked of a lost night, and what a person must decide row by row. */
export function lostNight({ rows, breaks, open }: ComparedRows): LostNight {
  const missing = new Map(
    breaks.flatMap(({ kind, rail }) => (kind === "missing_in_ledger" && rail ? [[rail.receipt, rail] as const] : [])),
  );
  const twice = new Set(breaks.flatMap(({ kind, rail }) => (kind === "double" && rail ? rail.receipt : [])));
  const reversed = new Set<string>(
    rows.flatMap(({ kind, linkedReceipt }) => (kind === "reversal" ? (linkedReceipt ?? []) : [])),
  );
  const payIns: LostPayIn[] = [];
  const doubtful: DoubtfulRow[] = [];
  /** The orders that each row fits. */
  const fits: (readonly [row: NightRow, ids: readonly TransactionId[]])[] = [];
  for (const row of onlyFirst(rows)) {
    const rail = missing.get(row.receipt);
    if (rail === undefined) continue;
    const isDoubted = (doubt: NightDoubt): void => {
      const { receipt, direction, amountCents } = row;
      doubtful.push({ receipt, direction, amountCents, doubt });
    };
    const ids = ordersOf(row, rail.transaction, open);
    const isPayIn = row.kind === "pay_in" && row.direction === "in";
    if (twice.has(row.receipt)) isDoubted("TWICE");
    else if (reversed.has(row.receipt)) isDoubted("REVERSED");
    else if (ids.length > 0) fits.push([row, ids]);
    else if (isPayIn && row.isUnnumbered === true) isDoubted("WITHOUT_NUMBER");
    else if (isPayIn && rail.transaction === undefined) payIns.push(lostPayInOf(row));
    else if (rail.transaction !== undefined) isDoubted("NAMES_AN_ORDER");
    else if (row.direction === "in") isDoubted(row.kind === "own_transfer" ? "OWN_TRANSFER" : "UNKNOWN_KIND");
  }
  const rowsOfOrder = new Map<TransactionId, number>();
  for (const id of fits.flatMap(([, ids]) => ids)) rowsOfOrder.set(id, (rowsOfOrder.get(id) ?? 0) + 1);
  const results: FoundResult[] = [];
  for (const [row, [id, another]] of fits) {
    const { receipt, direction, amountCents } = row;
    const isOnly = id !== undefined && another === undefined && rowsOfOrder.get(id) === 1;
    if (isOnly) results.push(resultOf(row, id));
    else doubtful.push({ receipt, direction, amountCents, doubt: "FITS_SEVERAL" });
  }
  return { payIns, results, doubtful };
}

/** Of rows with one receipt the likeliest movement is first. */
function onlyFirst(rows: readonly NightRow[]): readonly NightRow[] {
  const seen = new Set<string>();
  return rows.filter(({ receipt, kind }) => {
    if (kind === "charge" || seen.has(receipt)) return false;
    seen.add(receipt);
    return true;
  });
}

function ordersOf(
  row: NightRow,
  named: NamedTransaction | undefined,
  open: readonly OpenPayout[],
): readonly TransactionId[] {
  if (named !== undefined) return canEnd(named, row) && named.status === "PROCESSING" ? [named.id] : [];
  if (row.kind !== "payout" || row.direction !== "out") return [];
  return open.filter((order) => isRowOf(row, order)).map(({ transaction }) => transaction.id);
}

/** Whether the row can be the end of the order. An order with other news waits for a person. */
function canEnd(order: OpenPayout["transaction"], { amountCents }: NightRow): boolean {
  return order.amountCents === amountCents && !mayHaveMoved(order);
}

function isRowOf(row: NightRow, { transaction, maskedNumber, begunAt }: OpenPayout): boolean {
  const { phone, completedAt } = row;
  if (phone === undefined || completedAt === undefined) return false;
  const isInTime = completedAt >= begunAt - EARLY_MILLIS_MAX && completedAt <= begunAt + LATE_MILLIS_MAX;
  return isInTime && phone === maskedNumber && canEnd(transaction, row);
}

function lostPayInOf({ receipt, amountCents, reference = "", completedAt: paidAt }: NightRow): LostPayIn {
  return { receipt, amountCents, reference, paidAt };
}

function resultOf(
  { receipt, amountCents, phone: maskedNumber, completedAt: movedAt }: NightRow,
  transactionId: TransactionId,
): FoundResult {
  return { transactionId, receipt, amountCents, maskedNumber, movedAt };
}
