import type { RailReceipt } from "./payment.js";
import { BANK_RAIL, DIRECT_RAIL, type Rail, type Transaction } from "./transaction.js";
import { hasLookalike } from "./values/names-of-persons.js";
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
const RESERVED = new Map([
  [OF_CHARGES, `must not be ${OF_CHARGES}: the book names the charges of a rail so`],
  [DIRECT_RAIL, `must not be ${DIRECT_RAIL}: name whose statement has the number`],
]);
const MPESA = "mpesa";
const ANY_FORMAT = [/^[\x21-\x7e]{1,64}$/, "must be 1 to 64 printable ASCII characters without spaces"] as const;
/** The numbers of rails. Those of M-Pesa have 10 capital letters and digits so far. */
const FORMATS = new Map([
  [MPESA, [/^[A-Z0-9]{8,16}$/, "must be 8 to 16 capital letters and digits, as M-Pesa writes it"] as const],
  ["sandbox", [/^[A-Za-z0-9-]{1,64}$/, "must be 1 to 64 letters, digits and -"] as const],
]);

/**
 * Parses a receipt into the one text by which a book knows it, whoever gives it: a caller, a rail
 * or an operator. That of M-Pesa is its number, as in the reports of the rail. Any other receipt
 * has its source and a colon before it, so the numbers of two banks never meet. The name of a rail
 * as source means the receipts of that rail (docs/adr/0063).
 */
export function parseReceipt({ source, number }: Receipt): Parsed<RailReceipt> {
  if (source === "") return { ...unparsed("is required", "REQUIRED"), key: "source" };
  const reserved = RESERVED.get(source);
  if (reserved !== undefined) return { ...unparsed(reserved), key: "source" };
  if (!SOURCE.test(source)) return { ...unparsed("must be 1 to 32 of a to z, 0 to 9 and -"), key: "source" };
  const rail = railIn(source);
  if (rail !== undefined)
    return { ...unparsed(`must be ${rail}, without more, for a receipt of that rail`), key: "source" };
  if (number === "") return { ...unparsed("is required", "REQUIRED"), key: "number" };
  const [format, words] = FORMATS.get(source) ?? ANY_FORMAT;
  return format.test(number)
    ? parsed(`${receiptPrefix(source)}${number}` as RailReceipt)
    : { ...unparsed(words), key: "number" };
}

/** Returns the rail whose name a reader finds in the word of a caller: m-pesa, rnpesa-paybill. */
function railIn(source: string): string | undefined {
  const words = source.replaceAll("-", "");
  return [...FORMATS.keys()].find((rail) => source !== rail && hasLookalike(words, rail));
}

/** Parses a receipt as a book has it: the number of M-Pesa, or a source, a colon and a number. */
export function parseReceiptText(unchecked: string): Parsed<RailReceipt> {
  if (unchecked === "") return unparsed("is required", "REQUIRED");
  const receipt = parseReceipt(sourceAndNumber(unchecked));
  if (receipt.ok) return receipt;
  return unchecked.includes(":")
    ? unparsed(`has a ${String(receipt.key)} that ${receipt.problem}`)
    : unparsed("must be a source, a colon and a number, or one of M-Pesa: 8 to 16 capital letters and digits");
}

/** Returns a receipt that a rail reports, or undefined for any other text. */
export function receiptOf(rail: string, number: string | undefined): RailReceipt | undefined {
  const receipt = parseReceipt({ source: rail, number: number ?? "" });
  return receipt.ok ? receipt.value : undefined;
}

/** Whether a rail gives the receipts of this source. */
export function isSourceOfRail(source: string): boolean {
  return FORMATS.has(source);
}

/** Returns the receipt, and those of rails with its number if the caller's word is its source. */
export function receiptsLike(receipt: RailReceipt | undefined): readonly RailReceipt[] {
  if (receipt === undefined) return [];
  const { source, number } = sourceAndNumber(receipt);
  if (FORMATS.has(source)) return [receipt];
  const spellings = new Set([number, number.toUpperCase()]);
  return [
    receipt,
    ...[...FORMATS.keys()].flatMap((rail) => [...spellings].flatMap((each) => receiptOf(rail, each) ?? [])),
  ];
}

/** The number of a receipt in capital letters, without its source: people write small ones, too. */
export type ReceiptNumber = string & { readonly brand: unique symbol };

/** Returns the number of a receipt that a rail can give. Undefined for any other source. */
export function numberOfRail(receipt: RailReceipt | undefined): ReceiptNumber | undefined {
  if (receipt === undefined) return undefined;
  const { source, number } = sourceAndNumber(receipt);
  return FORMATS.has(source) ? (number.toUpperCase() as ReceiptNumber) : undefined;
}

/** Returns the number of a receipt whose source is a caller's word. Undefined for any other. */
export function numberOfOtherSource(receipt: RailReceipt): ReceiptNumber | undefined {
  const { source, number } = sourceAndNumber(receipt);
  return FORMATS.has(source) || source === OF_CHARGES ? undefined : (number.toUpperCase() as ReceiptNumber);
}

/** Whether a rail can give the receipt. That of a bank has the source of the bank's place. */
export function isReceiptOf(rail: Rail, receipt: RailReceipt): boolean {
  const { source } = sourceAndNumber(receipt);
  return rail === BANK_RAIL ? !FORMATS.has(source) && source !== OF_CHARGES : source === rail;
}

/** Returns the text by which a book knows the charges for a movement, so that it has them once. */
export function chargeReceiptOf(movement: RailReceipt): RailReceipt {
  return `${OF_CHARGES}:${movement}` as RailReceipt;
}

/** Whether a receipt of a book names the charges for a movement. */
export function isOfCharges(receipt: string): boolean {
  return receipt.startsWith(`${OF_CHARGES}:`);
}

/** Returns the text before each number of a source: empty for M-Pesa. */
export function receiptPrefix(source: string): string {
  return source === MPESA ? "" : `${source}:`;
}

/** Returns the receipt that the caller gave, or undefined if there is none or a rail gave it. */
export function attestedReceipt({ rail, railReceipt }: Pick<Transaction, "rail" | "railReceipt">): Receipt | undefined {
  return railReceipt === undefined || rail !== DIRECT_RAIL ? undefined : sourceAndNumber(railReceipt);
}

export function sourceAndNumber(receipt: string): Receipt {
  const colon = receipt.indexOf(":");
  return colon < 0
    ? { source: MPESA, number: receipt }
    : { source: receipt.slice(0, colon), number: receipt.slice(colon + 1) };
}
