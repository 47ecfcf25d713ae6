/** The number by which payers name an account: 8 digits, of which the last is a check digit. */
export type DepositReference = string & { readonly brand: unique symbol };

/** The digits before the check digit. */
const RANDOM_DIGITS = 7;
/** The first digit is 2 to 9, so no phone number of Kenya looks like a reference. */
const FIRST_MIN = 2_000_000;
const FIRST_END = 10_000_000;

/**
 * The table of H. Michael Damm (2004). The check digit finds each single wrong digit and each swap
 * of neighbours. Money that a wrong number credits can be spent at once.
 */
const DAMM = [
  "0317598642",
  "7092154863",
  "4206871359",
  "1750983426",
  "6123045978",
  "3674209581",
  "5869720134",
  "8945362017",
  "9438617205",
  "2581436790",
];

/** What payers put between the digits. */
const SEPARATORS = /[\s./#-]/g;
const REFERENCE = /^[2-9][0-9]{7}$/;

/** Makes a reference out of a random whole number of 2,000,000 to 9,999,999. */
export function depositReferenceOf(random: number): DepositReference {
  if (!Number.isInteger(random) || random < FIRST_MIN || random >= FIRST_END) {
    throw new RangeError(`${String(random)} is no number of ${String(RANDOM_DIGITS)} digits from 2`);
  }
  const digits = String(random);
  return `${digits}${String(interimOf(digits))}` as DepositReference;
}

/** Returns the reference in what a payer has typed. Undefined if it is none. */
export function readDepositReference(typed: string): DepositReference | undefined {
  const digits = typed.replaceAll(SEPARATORS, "");
  return REFERENCE.test(digits) && interimOf(digits) === 0 ? (digits as DepositReference) : undefined;
}

/** The digit to which the table leads from 0: 0 for digits with their check digit. */
function interimOf(digits: string): number {
  return Array.from(digits, Number).reduce((interim, digit) => Number(DAMM[interim]?.[digit]), 0);
}
