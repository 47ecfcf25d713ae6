import { TransactionCorrection, TransactionStatus, TransactionType } from "../../src/gen/kesc/v1/transaction.js";
import type { ListTransactionsRequest } from "../../src/gen/kesc/v1/transaction_service.js";

export const PAGE = { page_size: 1_000, page_token: "" };
export const EVERYTHING: ListTransactionsRequest = {
  ...PAGE,
  account_id: "",
  type: TransactionType.TRANSACTION_TYPE_UNSPECIFIED,
  statuses: [],
  rail: "",
  correction: TransactionCorrection.TRANSACTION_CORRECTION_UNSPECIFIED,
  reference: "",
  receipt: "",
  start: "",
  end: "",
  min_amount: "",
  max_amount: "",
  metadata: new Map(),
};
/** The number of pairs that a filter can have. */
const PAIRS_MAX = 20;
const LONG_AGO = "1970-01-01";

/** The lists that look at most rows for one that passes. */
export function worstLists(accountId: string): readonly ListTransactionsRequest[] {
  const redeems = { type: TransactionType.TRANSACTION_TYPE_REDEEM };
  const old = { end: LONG_AGO };
  const dear = { min_amount: "9999999999999.99" };
  // Every row that is looked at is parsed, and none has the pairs.
  const marked = { metadata: new Map(Array.from({ length: PAIRS_MAX }, (_, index) => [`key-${String(index)}`, "x"])) };
  const { TRANSACTION_STATUS_COMPLETED: completed, TRANSACTION_STATUS_FAILED: failed } = TransactionStatus;
  return [
    { ...EVERYTHING, ...redeems, account_id: accountId },
    { ...EVERYTHING, ...redeems },
    { ...EVERYTHING, ...old, account_id: accountId },
    { ...EVERYTHING, ...old, ...redeems },
    { ...EVERYTHING, account_id: accountId, statuses: [failed, TransactionStatus.TRANSACTION_STATUS_CANCELED] },
    { ...EVERYTHING, ...redeems, statuses: [completed, failed] },
    { ...EVERYTHING, ...dear },
    { ...EVERYTHING, ...dear, account_id: accountId },
    { ...EVERYTHING, ...marked },
    { ...EVERYTHING, ...marked, account_id: accountId },
    { ...EVERYTHING, account_id: accountId, reference: "nothing has this reference" },
    { ...EVERYTHING, account_id: accountId, needs_attention: true },
    { ...EVERYTHING, ...redeems, needs_attention: false },
  ];
}
