import type { TableName, Tables } from "../../domain/decision.js";
import { ACCOUNT_TABLE } from "./records/account-rows.js";
import { API_KEY_TABLE } from "./records/api-key-rows.js";
import { DEPOSIT_TABLE } from "./records/deposit-rows.js";
import { DESTINATION_TABLE } from "./records/destination-rows.js";
import { FREEZE_TABLE } from "./records/freeze-rows.js";
import { HOLDER_TABLE } from "./records/holder-rows.js";
import { IDEMPOTENCY_KEY_TABLE } from "./records/idempotency-key-rows.js";
import { PAYMENT_TABLE } from "./records/payment-rows.js";
import { PAYOUT_FILE_TABLE } from "./records/payout-file-rows.js";
import { PROPOSAL_TABLE } from "./records/proposal-rows.js";
import { RAIL_ACCOUNT_TABLE } from "./records/rail-account-rows.js";
import { RESERVE_PLACE_TABLE } from "./records/reserve-place-rows.js";
import { TRANSACTION_TABLE } from "./records/transaction-rows.js";
import { WEBHOOK_ENDPOINT_TABLE } from "./records/webhook-endpoint-rows.js";
import { WEBHOOK_RETRY_TABLE } from "./records/webhook-retry-rows.js";
import type { Table } from "./table.js";

/**
 * The store reads and writes the tables in this order. A row comes after the rows that it refers
 * to, what belongs to an account after the account, and an idempotency key before its resource: of
 * a key that is found, the resource is found, too.
 */
export const TABLES: { readonly [Name in TableName]: Table<Tables[Name]> } = {
  idempotencyKeys: IDEMPOTENCY_KEY_TABLE,
  accounts: ACCOUNT_TABLE,
  accountHolders: HOLDER_TABLE,
  freezes: FREEZE_TABLE,
  destinations: DESTINATION_TABLE,
  transactions: TRANSACTION_TABLE,
  payments: PAYMENT_TABLE,
  proposals: PROPOSAL_TABLE,
  deposits: DEPOSIT_TABLE,
  railAccounts: RAIL_ACCOUNT_TABLE,
  reservePlaces: RESERVE_PLACE_TABLE,
  payoutFiles: PAYOUT_FILE_TABLE,
  apiKeys: API_KEY_TABLE,
  webhookEndpoints: WEBHOOK_ENDPOINT_TABLE,
  webhookRetries: WEBHOOK_RETRY_TABLE,
};

export const TABLES_IN_ORDER = Object.keys(TABLES) as TableName[];
