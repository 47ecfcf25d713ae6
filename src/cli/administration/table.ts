import type { Row } from "./row.js";
import { ACCOUNT_ROWS } from "./rows/accounts.js";
import { BANK_FILE_ROWS } from "./rows/bank-files.js";
import { BOOK_ROWS } from "./rows/books.js";
import { DEPOSIT_ROWS } from "./rows/deposits.js";
import { KEY_ROWS } from "./rows/keys.js";
import { LIMIT_ROWS } from "./rows/limits.js";
import { MONEY_ROWS } from "./rows/money.js";
import { OPERATOR_ROWS } from "./rows/operators.js";
import { ORGANIZATION_ROWS } from "./rows/organizations.js";
import { PAYOUT_ROWS } from "./rows/payouts.js";
import { RAIL_ACT_ROWS } from "./rows/rail-acts.js";
import { RAIL_ROWS } from "./rows/rails.js";
import { WEBHOOK_ROWS } from "./rows/webhooks.js";
import { rowsOf } from "./rows/written.js";

/** What each group of commands is about. */
export const GROUPS = {
  org: "organizations, whose accounts are kept apart",
  key: "API keys, with which an organization's programs call",
  operator: "operators: the people who administer the service",
  proposal: "acts of operators that wait for a second person",
  limits: "how much may be minted and redeemed, at once and in a period",
  rail: "payment rails, over which an organization's shillings move",
  account: "accounts, and the personal data of their users",
  book: "the books of the organizations, and their states",
  seal: "the signed seals of the books, and the key that signs them",
  reserve: "where an organization's shillings lie, with evidence",
  deposit: "shillings that came in without an order, and what becomes of them",
  transaction: "transactions, and those that a person must settle",
  payouts: "files of payouts, each approved by a second person",
  "bank-file": "payment files for a bank, each approved by a second person",
  webhook: "deliveries of events to an organization's endpoints",
} as const;

/** The first word of a command. `kesc supply` has no other. */
export type Group = keyof typeof GROUPS | "supply";

/**
 * The commands that call the AdminService, one row each. A new rpc needs a row here, and new
 * parameters in `rows/parameters.ts`.
 */
export const ROWS: readonly Row[] = rowsOf({
  ...ORGANIZATION_ROWS,
  ...KEY_ROWS,
  ...OPERATOR_ROWS,
  ...LIMIT_ROWS,
  ...RAIL_ROWS,
  ...ACCOUNT_ROWS,
  ...BOOK_ROWS,
  ...RAIL_ACT_ROWS,
  ...MONEY_ROWS,
  ...DEPOSIT_ROWS,
  ...WEBHOOK_ROWS,
  ...PAYOUT_ROWS,
  ...BANK_FILE_ROWS,
});
