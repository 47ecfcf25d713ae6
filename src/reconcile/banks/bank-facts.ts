import { slicesOf } from "../../../runtime/slices.js";
import { namedTransactions } from "../../domain/bank-file.js";
import type { RailReceipt } from "../../domain/payment.js";
import { parseReceipt } from "../../domain/receipt.js";
import { readDepositReference } from "../../domain/values/deposit-reference.js";
import type { TransactionId } from "../../domain/values/ids.js";
import { endOfDay, type NairobiDay, startOfDay } from "../../domain/values/nairobi-day.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { StatementRow } from "../../rails/statement.js";
import type { BookedMovements } from "../ports.js";
import { type BookedMovement, signed } from "../reconciliation.js";
import { addCharge, SLICE_ROWS, type StatementCharge, type StatementFacts } from "../statement-movements.js";
import type { BankEntry, BankPayment, JoinedStatement } from "./bank-statement.js";

interface BankFactsOptions {
  /** The source of the place's receipts, such as kcb-1234. */
  readonly source: string;
  readonly book: Pick<BookedMovements, "withReceipts" | "openPayouts">;
}

/** What the receipt of an entry can be. */
interface PossibleReceipts {
  /** Those of its numbers, likeliest first. */
  readonly receipts: readonly RailReceipt[];
  /** What the book has under these. */
  readonly booked: ReadonlyMap<string, BookedMovement>;
  /** Its receipt if it has no number. */
  readonly unnumbered: RailReceipt;
}

/**
 * Gives each entry of a bank its receipt: the number that the book has, or else the bank's. A bank
 * may write a number twice, for a payment and for its charge or reversal:
 *
 * - A charge beside its payment is a charge for that movement.
 * - A reversal beside its payment has the number with ".reversal" behind it.
 * - A payment out that has the reference of an open payout is that payout.
 * - An entry without a number has its day and its place in that day, such as 20261127.3. So files
 *   of whole days name it alike.
 *
 * A batch counts as one entry if the book has the number of that, and otherwise as its payments.
 */
export async function bankFacts(
  { entries, days, notBooked, doubts }: JoinedStatement,
  { source, book }: BankFactsOptions,
): Promise<StatementFacts> {
  const receiptsOf = ({ references }: Pick<BankPayment, "references">): readonly RailReceipt[] =>
    references.flatMap((number) => receiptOf(source, number) ?? []);
  const namedIn = namedTransactions((await book.openPayouts()).map(({ transaction }) => transaction.id));
  const rows: StatementRow[] = [];
  const charges = new Map<RailReceipt, StatementCharge>();
  const numberOf = new Map<string, RailReceipt>();
  const about: (readonly [entry: BankEntry, named: PossibleReceipts])[] = [];
  const places = new Map<string, number>();
  for (const slice of slicesOf(entries, SLICE_ROWS)) {
    const names = slice.flatMap((entry) => [entry, ...entry.parts].flatMap(receiptsOf));
    const booked = new Map<string, BookedMovement>();
    for (const some of slicesOf([...new Set(names)], SLICE_ROWS)) {
      for (const each of await book.withReceipts(some)) booked.set(each.receipt, each);
    }
    for (const entry of slice) {
      const place = (places.get(entry.day) ?? 0) + 1;
      places.set(entry.day, place);
      const day = entry.day.replaceAll("-", "");
      const isWhole = entry.parts.length === 0 || receiptsOf(entry).some((receipt) => booked.has(receipt));
      for (const [index, payment] of (isWhole ? [entry] : entry.parts).entries()) {
        const number = [day, place, ...(isWhole ? [] : [index + 1])].join(".");
        const named = { receipts: receiptsOf(payment), booked, unnumbered: `${source}:${number}` as RailReceipt };
        if (entry.isCharge || entry.isReversal) {
          about.push([entry, named]);
          continue;
        }
        const { receipts, unnumbered } = named;
        const receipt = receipts.find((each) => booked.has(each)) ?? receipts[0] ?? unnumbered;
        for (const each of receipts) numberOf.set(each, receipt);
        const isUnnumbered = receipt === unnumbered ? ({ isUnnumbered: true } as const) : {};
        const transactionId = payoutNamedBy(payment, namedIn);
        rows.push({ ...rowOf(entry.day, payment), receipt, transactionId, ...isUnnumbered });
      }
    }
  }
  for (const [entry, named] of about) {
    const row = { ...rowOf(entry.day, entry), ...rowAbout(entry, named, numberOf) };
    if (row.kind === "charge") addCharge(charges, row);
    else rows.push(row);
  }
  const period = days && { from: startOfDay(days.first), to: toUnixMillis(endOfDay(days.last) - 1) };
  return { rows, charges, notCompleted: notBooked, period, doubts };
}

/** Undefined also if the references name several: MT940 cuts a reference. */
function payoutNamedBy(
  { direction, references }: BankPayment,
  namedIn: ReturnType<typeof namedTransactions>,
): TransactionId | undefined {
  if (direction === "in") return undefined;
  const [named, another] = new Set(references.flatMap(namedIn));
  return another === undefined ? named : undefined;
}

function receiptOf(source: string, number: string): RailReceipt | undefined {
  const receipt = parseReceipt({ source, number });
  return receipt.ok ? receipt.value : undefined;
}

/** Returns the reference of an account if a field is one, or else what says that somebody wrote. */
function typedReference(typed: readonly string[] = []): string | undefined {
  return typed.find((each) => readDepositReference(each) !== undefined) ?? typed[0];
}

function rowOf(day: NairobiDay, { direction, amountCents, typed }: BankPayment): Omit<StatementRow, "receipt"> {
  return {
    completedAt: startOfDay(day),
    direction,
    amountCents,
    kind: direction === "in" ? "pay_in" : "payout",
    transactionId: undefined,
    idEnd: undefined,
    reference: typedReference(typed),
    phone: undefined,
    linkedReceipt: undefined,
  };
}

/** Returns the receipt of a charge or a reversal. `numberOf` has the receipts of all payments. */
function rowAbout(
  entry: BankEntry,
  { receipts, booked, unnumbered }: PossibleReceipts,
  numberOf: ReadonlyMap<string, RailReceipt>,
): Pick<StatementRow, "receipt"> & Partial<StatementRow> {
  const isOfPayment = (receipt: RailReceipt): boolean => {
    const movement = booked.get(receipt);
    if (numberOf.has(receipt)) return true;
    if (movement === undefined) return false;
    return entry.isReversal ? movement.direction !== entry.direction : signed(movement) !== signed(entry);
  };
  const named = receipts.find(isOfPayment);
  const payment = named && (numberOf.get(named) ?? named);
  if (entry.isReversal) {
    const own = receipts.find((receipt) => !isOfPayment(receipt));
    const receipt = own ?? (named === undefined ? unnumbered : (`${named}.reversal` as RailReceipt));
    return { receipt, kind: "reversal", linkedReceipt: payment };
  }
  return payment === undefined ? { receipt: receipts[0] ?? unnumbered } : { receipt: payment, kind: "charge" };
}
