import type { RailReceipt } from "./payment.js";
import { DIRECT_RAIL, type Transaction } from "./transaction.js";
import { type Parsed, parsed, unparsed } from "./values/parsed.js";

/** The proof that a caller has for shillings that have moved: their number in a statement. */
export interface Receipt {
  /** Whose statement it is: a rail, or the caller's own word for it, such as kcb-1234. */
  readonly source: string;
  readonly number: string;
}

const SOURCE = /^[a-z0-9-]{1,32}$/;
/** In place of a source: the charges of a rail for the movement with the receipt after it. */
const OF_CHARGES = "charge";
const RESERVED = `must not be ${OF_CHARGES}: the book names the charges of a rail so`;
const TEXT = /^[\x21-\x7e]{1,97}$/;
const MPESA = "mpesa";
/** The receipts of M-Pesa: 10 capital letters and digits so far. */
export const MPESA_RECEIPT = /^[A-Z0-9]{8,16}$/;
const MPESA_FORMAT = [MPESA_RECEIPT, "must be 8 to 16 capital letters and digits, as M-Pesa writes it"] as const;
const ANY_FORMAT = [/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable ASCII characters without spaces"] as const;

/**
 * Parses a receipt into the one text by which a book knows it. That of M-Pesa is its number, as in
 * the reports of the rail: so a mint that was attested and a payment that the rail reports later
 * are known to be the same shillings. Any other receipt has its source and a colon before it, so
 * the numbers of two banks never meet (docs/adr/0063).
 */
export function parseReceipt({ source, number }: Receipt): Parsed<RailReceipt> {
  if (source === "") return { ...unparsed("is required", "REQUIRED"), key: "source" };
  if (source === OF_CHARGES) return { ...unparsed(RESERVED), key: "source" };
  if (!SOURCE.test(source)) return { ...unparsed("must be 1 to 32 of a to z, 0 to 9 and -"), key: "source" };
  if (number === "") return { ...unparsed("is required", "REQUIRED"), key: "number" };
  const [format, words] = source === MPESA ? MPESA_FORMAT : ANY_FORMAT;
  return format.test(number)
    ? parsed(`${receiptPrefix(source)}${number}` as RailReceipt)
    : { ...unparsed(words), key: "number" };
}

/** Returns the text by which a book knows the charges for a movement, so that it has them once. */
export function chargeReceiptOf(movement: RailReceipt): RailReceipt {
  return `${OF_CHARGES}:${movement}` as RailReceipt;
}

/** Whether a receipt of a book names the charges for a movement. */
export function isOfCharges(receipt: string): boolean {
  return receipt.startsWith(`${OF_CHARGES}:`);
}

/** Parses a receipt as a book has it: the number of a rail, or a source, a colon and a number. */
export function parseReceiptText(unchecked: string): Parsed<RailReceipt> {
  if (isOfCharges(unchecked)) return unparsed(RESERVED);
  return TEXT.test(unchecked)
    ? parsed(unchecked as RailReceipt)
    : unparsed("must be 1 to 97 printable ASCII characters without spaces");
}

/** Returns the text before each number of a source: empty for M-Pesa. */
export function receiptPrefix(source: string): string {
  return source === MPESA ? "" : `${source}:`;
}

/** Returns the receipt that the caller gave, or undefined if there is none or a rail gave it. */
export function attestedReceipt({ rail, railReceipt }: Pick<Transaction, "rail" | "railReceipt">): Receipt | undefined {
  if (railReceipt === undefined || rail !== DIRECT_RAIL) return undefined;
  const colon = railReceipt.indexOf(":");
  return colon < 0
    ? { source: MPESA, number: railReceipt }
    : { source: railReceipt.slice(0, colon), number: railReceipt.slice(colon + 1) };
}
