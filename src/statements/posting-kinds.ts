import { isOfCharges, sourceAndNumber } from "../domain/receipt.js";
import { DIRECT_RAIL } from "../domain/transaction.js";
import type { BookLine } from "./ports.js";

/** What moves from the book account before ">" to the one after it (docs/ledger.md). */
const KINDS: Readonly<Record<string, string>> = {
  "reserve>available": "mint",
  "available>reserve": "redemption",
  "available>held": "hold",
  "held>available": "release",
  "held>reserve": "payout",
  "reserve>unallocated": "receipt",
  "unallocated>available": "credit",
  "available>unallocated": "credit taken back",
  "unallocated>reserve": "return",
  "shortfall>reserve": "shortfall",
  "reserve>shortfall": "cover",
  "available>shortfall": "recovery",
  "charges>reserve": "charge",
  "reserve>charges": "funding of charges",
};

/** Returns the word for a posting. Undefined for a row that moves no money. */
export function kindOfPosting({ debit, credit }: Pick<BookLine, "debit" | "credit">): string | undefined {
  return KINDS[`${debit ?? ""}>${credit ?? ""}`];
}

/**
 * Returns whose statement shows the shillings of a row: the source of its receipt, or else the rail
 * of its transaction. Undefined if there is neither.
 */
export function sourceOf({ receipt, rail }: Pick<BookLine, "receipt" | "rail">): string | undefined {
  if (receipt === "") return rail === DIRECT_RAIL ? undefined : rail;
  const { source, number } = sourceAndNumber(receipt);
  return isOfCharges(receipt) ? sourceAndNumber(number).source : source;
}
