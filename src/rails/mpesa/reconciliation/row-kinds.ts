import type { RowKind, StatementWords } from "../../statement.js";

/** What a row of a statement says about itself. */
export interface RowMarks {
  /** M-Pesa's own word for the row, if the file has it. */
  readonly reason: string;
  /** M-Pesa's words, behind which a person's may follow. */
  readonly details: string;
  readonly party: string;
  /** Whether the party is a phone number. */
  readonly isOfPhone: boolean;
  /** Whether the party is the account itself. */
  readonly isOfAccount: boolean;
  readonly accountReference: string;
  readonly direction: "in" | "out";
  /** Whether the row names a transaction of the book. */
  readonly namesTransaction: boolean;
}

/** `charge_of_partner`: a charge, if the file has its payment. Otherwise its kind is unknown. */
export type MarkedKind = RowKind | "charge_of_partner";

/**
 * M-Pesa's words, as other teams saw them in statements. A reason is one of them as a whole, and
 * details begin with one. Details of a charge are one as a whole: a payer can type "charge".
 */
export const WORDS: StatementWords = {
  reversal: ["transaction reversal", "pay bill reversal", "merchant payment reversal", "b2c reversal", "reversal"],
  charge: [
    "pay bill charge",
    "paybill charge",
    "pay utility charge",
    "pay merchant charge",
    "merchant payment charge",
    "merchant to merchant payment charge",
    "merchant to merchant payment charge to m-pesa",
    "b2c payment charge",
    "fee for b2c payment",
    "business payment charge",
    "salary payment charge",
    "promotion payment charge",
    "business charge",
    "business pay bill charge",
    "business paybill charge",
    "business buy goods charge",
    "business to business transfer charge",
    "organization settlement charge",
    "organisation settlement charge",
    "real time settlement charge",
    "withdrawal charge",
    "withdrawal charge paid",
    "customer withdrawal charge",
    "organization withdrawal charge",
    "organisation withdrawal charge",
  ],
  own_transfer: [
    "organization settlement",
    "organisation settlement",
    "real time settlement",
    "business deposit",
    "organization deposit",
    "organization withdrawal",
    "organisation withdrawal",
    "business to business transfer",
    "utility to working",
    "utility account to working account",
    "working to utility",
    "working account to utility account",
    "merchant to working",
    "merchant account to organization settlement account",
    "funds transfer between own accounts",
    "transfer between own accounts",
    "revenue settlement",
  ],
  // Shillings of others that come in.
  pay_in: [
    "pay bill",
    "paybill",
    "pay utility",
    "pay merchant",
    "buy goods",
    "merchant payment",
    "customer payment",
    "customer pay bill",
    "customer merchant payment",
    "merchant to merchant payment",
    "business pay bill",
    "business buy goods",
  ],
  // Shillings to others.
  payout: [
    "business payment",
    "salary payment",
    "promotion payment",
    "b2c payment",
    "business pay bill",
    "business buy goods",
    "pay bill",
    "paybill",
    "pay utility",
    "buy goods",
    "merchant to merchant payment",
  ],
};

const BY_DIRECTION = {
  in: ["reversal", "own_transfer", "pay_in"],
  out: ["reversal", "own_transfer", "payout"],
} as const satisfies Record<string, readonly RowKind[]>;

/** How M-Pesa calls itself where another row has a party. */
const OF_MPESA = new Set(["sp", "m-pesa", "mpesa", "safaricom", "safaricom plc", "charges paid account"]);
const NAME = /\p{L}/u;
const ENDS_AS_CHARGE = /\b(charges?|fees?)$/;
const HAS_CHARGE = /\b(charges?|fees?)\b/;

/** Returns the built-in words with those that two persons have added. */
export function withWords(own: StatementWords | undefined): StatementWords {
  if (own === undefined) return WORDS;
  const both = (kind: keyof StatementWords): readonly string[] => [...WORDS[kind], ...own[kind]];
  return {
    reversal: both("reversal"),
    charge: both("charge"),
    own_transfer: both("own_transfer"),
    pay_in: both("pay_in"),
    payout: both("payout"),
  };
}

/** Tells the kind of a row by all of its marks. `known` has the words of each kind. */
export function kindOf(marks: RowMarks, known: StatementWords = WORDS): MarkedKind {
  const reason = plain(marks.reason);
  const details = plain(marks.details);
  const charge = chargeBy(marks, { reason, details, words: known.charge });
  if (charge !== undefined) return charge;
  const kinds = BY_DIRECTION[marks.direction];
  const byWords =
    kinds.find((kind) => known[kind].includes(reason)) ??
    kinds.find((kind) => known[kind].some((words) => details === words || details.startsWith(`${words} `))) ??
    kinds.find((kind) => known[kind].some((words) => details.startsWith(`${words}.`)));
  if (byWords === "reversal" || byWords === "own_transfer") return byWords;
  if (marks.isOfAccount) return "own_transfer";
  if (byWords !== undefined) return byWords;
  if (marks.direction === "out" && isOfNobody(marks) && HAS_CHARGE.test(details)) return "charge_of_partner";
  const isOfOthers = marks.isOfPhone || marks.accountReference !== "" || marks.namesTransaction;
  if (!isOfOthers) return "unknown";
  return marks.direction === "in" ? "pay_in" : "payout";
}

/** A row with a name or an account number is no charge: nobody can call a theft a charge. */
function isOfNobody({ party, accountReference }: RowMarks): boolean {
  return (!NAME.test(party) || OF_MPESA.has(plain(party))) && accountReference === "";
}

function chargeBy(
  marks: RowMarks,
  { reason, details, words }: { readonly reason: string; readonly details: string; readonly words: readonly string[] },
): MarkedKind | undefined {
  if (!isOfNobody(marks)) return undefined;
  if (ENDS_AS_CHARGE.test(reason) || words.includes(reason)) return "charge";
  if (!words.includes(details)) return undefined;
  // The reason of a charge may be that of its payment.
  return reason === "" ? "charge" : "charge_of_partner";
}

/** The form in which words are compared: "Pay  Bill" and "pay bill" are one. */
export function plain(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, " ");
}
