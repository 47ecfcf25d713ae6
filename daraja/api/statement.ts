import { nairobi } from "../mpesa/nairobi-time.js";
import type { Order, Receipt } from "../mpesa/order.js";
import type { Organization } from "../mpesa/organization.js";

const COLUMNS = [
  "Receipt No.",
  "Completion Time",
  "Details",
  "Transaction Status",
  "Paid In",
  "Withdrawn",
  "Other Party Info",
  "A/C No.",
];

/**
 * Returns the statement of a shortcode, oldest row first, as M-Pesa's portal exports it: the charge
 * of a payout is a row of its own with the same receipt.
 */
export function statementOf({ shortcode }: Organization, receipts: readonly Receipt[]): string {
  const rows = receipts.filter((receipt) => receipt.shortcode === shortcode).flatMap(rowsOf);
  return [`Short Code,${shortcode}`, COLUMNS.join(","), ...rows.map((row) => row.join(","))].join("\r\n");
}

function rowsOf(receipt: Receipt): readonly (readonly string[])[] {
  const { number, direction, amountCents, feeCents, accountReference } = receipt;
  const { year, month, day, hour, minute, second } = nairobi(receipt.atMillis);
  const row = (details: string, cents: number, ...of: readonly string[]): readonly string[] => {
    const amount = (cents / 100).toFixed(2);
    const [paidIn, withdrawn] = direction === "IN" ? [amount, ""] : ["", `-${amount}`];
    return [
      number,
      `${day}-${month}-${year} ${hour}:${minute}:${second}`,
      details,
      "Completed",
      paidIn,
      withdrawn,
      ...of,
    ];
  };
  const movement = row(detailsOf(receipt), amountCents, partyOf(receipt), accountReference);
  return feeCents === 0 ? [movement] : [movement, row(`${wordsOf(receipt.order)} Charge`, feeCents, "", "")];
}

function detailsOf({ direction, order, reversedReceipt, isSettlement }: Receipt): string {
  if (isSettlement === true) return direction === "IN" ? "Business Deposit" : "Organization Settlement";
  if (reversedReceipt !== undefined) return `Pay Bill Reversal of ${reversedReceipt}`;
  return order?.direction === "OUT"
    ? `${wordsOf(order)}. Original conversation ID is ${order.originatorConversationId}.`
    : "Pay Bill";
}

/** The name of the product that paid out. */
function wordsOf(order: Order | undefined): string {
  const business = order?.direction === "OUT" ? order.business : undefined;
  return business?.words ?? "Business Payment";
}

function partyOf({ msisdn, isSettlement }: Receipt): string {
  return isSettlement === true ? "Bank" : `${msisdn.slice(0, 5)}***${msisdn.slice(-3)} - JANE DOE`;
}
