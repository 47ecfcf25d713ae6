// Repeated on purpose: an audit must not depend on the code that it audits.
const DEPOSIT_REFERENCE = /^[2-9][0-9]{7}$/;
/** The table of H. Michael Damm: it leads from 0 back to 0 if the check digit is right. */
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

/** Whether the text is a reference of an account for deposits, and its check digit is right. */
export function isDepositReference(text: string): boolean {
  return (
    DEPOSIT_REFERENCE.test(text) &&
    Array.from(text, Number).reduce((interim, digit) => Number(DAMM[interim]?.[digit]), 0) === 0
  );
}
