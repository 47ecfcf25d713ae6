import { ACCOUNT_HOLDERS, ACCOUNTS, DESTINATIONS, FREEZES } from "./accounts.js";
import type { TableModel } from "./column.js";
import {
  BOOK_MOVES,
  LEASES,
  OPERATOR_ACTS,
  OPERATOR_CHAIN,
  OPERATOR_DECISIONS,
  OPERATOR_KEYS,
  OPERATOR_PROPOSALS,
  PASSKEYS,
  RESTORES,
  SESSIONS,
  SIGN_IN_TOKENS,
} from "./database.js";
import { DEPOSITS } from "./deposits.js";
import { API_KEYS, BOOK_KEYS, BOOKS, ORGANIZATIONS, RESERVE_PLACES } from "./organizations.js";
import { PAYOUT_FILES, PAYOUT_LISTS, PAYOUT_PARTS } from "./payouts.js";
import { RAIL_ACCOUNTS, RAIL_MESSAGES } from "./rails.js";
import { ACCOUNT_MARKS, BOOK_MARKS, SEAL_ALARMS, SEAL_TILES, SEALS } from "./seals.js";
import { IDEMPOTENCY_KEYS, JOURNAL, PAYMENTS, PROPOSALS, TRANSACTIONS } from "./transactions.js";
import { WEBHOOK_ENDPOINTS, WEBHOOK_LOG, WEBHOOK_RETRIES } from "./webhooks.js";

/**
 * Every table of ours. A row refers only to rows of earlier tables, and to rows of its own table
 * that come before it: a move stores the rows in this order. API keys come last.
 *
 * A test compares the columns with those of a migrated database.
 */
export const MODEL = {
  organizations: ORGANIZATIONS,
  books: BOOKS,
  book_keys: BOOK_KEYS,
  accounts: ACCOUNTS,
  account_holders: ACCOUNT_HOLDERS,
  freezes: FREEZES,
  destinations: DESTINATIONS,
  transactions: TRANSACTIONS,
  payments: PAYMENTS,
  deposits: DEPOSITS,
  proposals: PROPOSALS,
  idempotency_keys: IDEMPOTENCY_KEYS,
  journal: JOURNAL,
  rail_accounts: RAIL_ACCOUNTS,
  rail_messages: RAIL_MESSAGES,
  seals: SEALS,
  seal_tiles: SEAL_TILES,
  seal_alarms: SEAL_ALARMS,
  webhook_endpoints: WEBHOOK_ENDPOINTS,
  webhook_retries: WEBHOOK_RETRIES,
  webhook_log: WEBHOOK_LOG,
  account_marks: ACCOUNT_MARKS,
  book_marks: BOOK_MARKS,
  reserve_places: RESERVE_PLACES,
  payout_files: PAYOUT_FILES,
  payout_parts: PAYOUT_PARTS,
  payout_lists: PAYOUT_LISTS,
  api_keys: API_KEYS,
  leases: LEASES,
  book_moves: BOOK_MOVES,
  operator_acts: OPERATOR_ACTS,
  operator_proposals: OPERATOR_PROPOSALS,
  operator_decisions: OPERATOR_DECISIONS,
  operator_keys: OPERATOR_KEYS,
  operator_chain: OPERATOR_CHAIN,
  passkeys: PASSKEYS,
  sessions: SESSIONS,
  sign_in_tokens: SIGN_IN_TOKENS,
  restores: RESTORES,
} as const satisfies Readonly<Record<string, TableModel>>;

/** The name of one of our tables. */
export type ModelName = keyof typeof MODEL;

/** The tables with their names, in the order of `MODEL`. */
export const TABLES_BY_NAME = Object.entries(MODEL) as readonly (readonly [name: ModelName, table: TableModel])[];

/** The tables in which Knex notes the migrations. */
export const KNEX_TABLE_NAMES = ["knex_migrations", "knex_migrations_lock"] as const;
