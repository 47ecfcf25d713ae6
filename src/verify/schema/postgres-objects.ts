import { POSTGRES_HISTORY_OBJECTS } from "./postgres-history-objects.js";
import { POSTGRES_IDENTITY_OBJECTS } from "./postgres-identity-objects.js";
import { ACCOUNT_LIMIT_COLUMNS, BOOK_LIMIT_COLUMNS } from "./postgres-limit-columns.js";
import { BOOK_MOVE_COLUMNS, POSTGRES_MOVE_OBJECTS } from "./postgres-move-objects.js";
import { POSTGRES_RAIL_OBJECTS } from "./postgres-rail-objects.js";
import { POSTGRES_SEAL_OBJECTS } from "./postgres-seal-objects.js";
import { POSTGRES_WEBHOOK_OBJECTS } from "./postgres-webhook-objects.js";

/**
 * The objects of the schema that the migrations make on PostgreSQL, as the catalog describes them
 * (`postgres.ts`). A test compares this list with a migrated database.
 */
export const POSTGRES_OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ...POSTGRES_HISTORY_OBJECTS,
  ...POSTGRES_MOVE_OBJECTS,
  ...POSTGRES_IDENTITY_OBJECTS,
  ...POSTGRES_RAIL_OBJECTS,
  ...POSTGRES_SEAL_OBJECTS,
  ...POSTGRES_WEBHOOK_OBJECTS,
  account_holders: {
    "column account_id": "text NOT NULL",
    "column book": "bigint NOT NULL",
    "column content_salt": "bytea",
    "column email": "bytea",
    "column email_changed_at": "bigint",
    "column email_index": "bytea",
    "column is_open": "bigint NOT NULL",
    "column phone_number": "bytea",
    "column phone_number_changed_at": "bigint",
    "column phone_number_index": "bytea",
    "column seq": "bigint NOT NULL",
    "column user_id": "text",
    "constraint account_holders_account_id_fkey": "FOREIGN KEY (account_id) REFERENCES accounts(id)",
    "constraint account_holders_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint account_holders_check":
      "CHECK ((((user_id IS NOT NULL) AND (phone_number IS NOT NULL) AND (phone_number_index IS NOT NULL) AND (email IS NOT NULL) AND (content_salt IS NOT NULL)) OR ((user_id IS NULL) AND (phone_number IS NULL) AND (phone_number_index IS NULL) AND (email IS NULL) AND (email_index IS NULL) AND (content_salt IS NULL) AND (phone_number_changed_at IS NULL) AND (email_changed_at IS NULL))))",
    "constraint account_holders_pkey": "PRIMARY KEY (account_id)",
    "index account_holders_by_email":
      "CREATE INDEX account_holders_by_email ON account_holders USING btree (book, email_index, seq)",
    "constraint account_holders_is_open_check": "CHECK ((is_open = ANY (ARRAY[(0)::bigint, (1)::bigint])))",
    "index account_holders_by_user":
      "CREATE INDEX account_holders_by_user ON account_holders USING btree (book, user_id, seq)",
    "index account_holders_open":
      "CREATE UNIQUE INDEX account_holders_open ON account_holders USING btree (book, user_id) WHERE (is_open = 1)",
    "index account_holders_by_phone_number":
      "CREATE INDEX account_holders_by_phone_number ON account_holders USING btree (book, phone_number_index, seq)",
    table: "kind r, persistence p",
  },
  accounts: {
    ...ACCOUNT_LIMIT_COLUMNS,
    "column available_cents": "bigint NOT NULL",
    "column book": "bigint NOT NULL",
    "column created_at": "bigint NOT NULL",
    "column held_cents": "bigint NOT NULL",
    "column id": "text NOT NULL",
    "column last_seq": "bigint NOT NULL",
    "column open_payments": "bigint NOT NULL",
    "column seq": "bigint NOT NULL",
    "column status": "text NOT NULL",
    "column status_reason": "text NOT NULL",
    "column updated_at": "bigint NOT NULL",
    "constraint accounts_available_cents_check": "CHECK ((available_cents >= 0))",
    "constraint accounts_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint accounts_check": "CHECK ((last_seq >= seq))",
    "constraint accounts_check1": "CHECK (((available_cents + held_cents) <= '999999999999999'::bigint))",
    "constraint accounts_check2":
      "CHECK (((status <> 'CLOSED'::text) OR (((available_cents + held_cents) + open_payments) = 0)))",
    "constraint accounts_held_cents_check": "CHECK ((held_cents >= 0))",
    "constraint accounts_id_key": "UNIQUE (id)",
    "constraint accounts_open_payments_check": "CHECK ((open_payments >= 0))",
    "constraint accounts_pkey": "PRIMARY KEY (book, seq)",
    "constraint accounts_status_check":
      "CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'FROZEN'::text, 'CLOSED'::text])))",
    "index accounts_by_status": "CREATE INDEX accounts_by_status ON accounts USING btree (book, status, seq)",
    table: "kind r, persistence p",
  },
  book_keys: {
    "column book": "bigint NOT NULL",
    "column data_key": "bytea NOT NULL",
    "column index_key": "bytea NOT NULL",
    "column master_key_id": "text NOT NULL",
    "column seal_secret": "bytea NOT NULL",
    "constraint book_keys_book_fkey": "FOREIGN KEY (book) REFERENCES books(number)",
    "constraint book_keys_pkey": "PRIMARY KEY (book)",
    table: "kind r, persistence p",
  },
  books: {
    ...BOOK_LIMIT_COLUMNS,
    ...BOOK_MOVE_COLUMNS,
    "column clock_accepted_at": "bigint",
    "column available_cents": "bigint NOT NULL",
    "column held_cents": "bigint NOT NULL",
    "column last_recorded_at": "bigint NOT NULL",
    "column last_seq": "bigint NOT NULL",
    "column number": "bigint NOT NULL",
    "column organization_id": "text NOT NULL",
    "column reserve_cents": "bigint NOT NULL",
    "column shortfall_cents": "bigint NOT NULL",
    "column state": "text NOT NULL",
    "column suspended_seq": "bigint",
    "column unallocated_cents": "bigint NOT NULL",
    "constraint books_available_cents_check":
      "CHECK (((available_cents >= 0) AND (available_cents <= '9007199254740991'::bigint)))",
    "constraint books_check":
      "CHECK (((reserve_cents + shortfall_cents) = ((available_cents + held_cents) + unallocated_cents)))",
    "constraint books_held_cents_check": "CHECK (((held_cents >= 0) AND (held_cents <= '9007199254740991'::bigint)))",
    "constraint books_last_seq_check": "CHECK ((last_seq >= 0))",
    "constraint books_number_check": "CHECK ((number > 0))",
    "constraint books_organization_id_fkey": "FOREIGN KEY (organization_id) REFERENCES organizations(id)",
    "constraint books_organization_id_key": "UNIQUE (organization_id)",
    "constraint books_pkey": "PRIMARY KEY (number)",
    "constraint books_reserve_cents_check": "CHECK ((reserve_cents <= '9007199254740991'::bigint))",
    "constraint books_shortfall_cents_check":
      "CHECK (((shortfall_cents >= 0) AND (shortfall_cents <= '9007199254740991'::bigint)))",
    "constraint books_state_check":
      "CHECK ((state = ANY (ARRAY['OPEN'::text, 'MOVING'::text, 'MOVED'::text, 'RESTORED'::text])))",
    "constraint books_suspended_seq_check": "CHECK ((suspended_seq > 1))",
    "constraint books_unallocated_cents_check":
      "CHECK (((unallocated_cents >= 0) AND (unallocated_cents <= '9007199254740991'::bigint)))",
    table: "kind r, persistence p",
  },
  freezes: {
    "column account_id": "text NOT NULL",
    "column book": "bigint NOT NULL",
    "column created_at": "bigint NOT NULL",
    "column created_by": "text NOT NULL",
    "column id": "text NOT NULL",
    "column lift_reason": "text",
    "column lifted_at": "bigint",
    "column lifted_by": "text",
    "column reason": "text NOT NULL",
    "column reason_code": "text NOT NULL",
    "column seq": "bigint NOT NULL",
    "constraint freezes_account_id_fkey": "FOREIGN KEY (account_id) REFERENCES account_holders(account_id)",
    "constraint freezes_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint freezes_check": "CHECK ((lifted_at >= created_at))",
    "constraint freezes_check1":
      "CHECK ((((lifted_at IS NULL) = (lifted_by IS NULL)) AND ((lifted_at IS NULL) = (lift_reason IS NULL))))",
    "constraint freezes_id_key": "UNIQUE (id)",
    "constraint freezes_pkey": "PRIMARY KEY (book, seq)",
    "constraint freezes_reason_code_check":
      "CHECK ((reason_code = ANY (ARRAY['COURT_ORDER'::text, 'SANCTIONS'::text, 'FRAUD'::text, 'CUSTOMER_REQUEST'::text, 'OTHER'::text])))",
    "index freezes_by_account": "CREATE INDEX freezes_by_account ON freezes USING btree (account_id, seq)",
    "index freezes_standing":
      "CREATE INDEX freezes_standing ON freezes USING btree (account_id) WHERE (lifted_at IS NULL)",
    table: "kind r, persistence p",
  },
  idempotency_keys: {
    "column book": "bigint NOT NULL",
    "column created_at": "bigint NOT NULL",
    "column key": "text NOT NULL",
    "column resource_id": "text NOT NULL",
    "constraint idempotency_keys_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint idempotency_keys_pkey": "PRIMARY KEY (book, key)",
    table: "kind r, persistence p",
  },
  journal: {
    "column account_id": "text",
    "column actor": "text NOT NULL",
    "column amount_cents": "bigint",
    "column available_after_cents": "bigint",
    "column book": "bigint NOT NULL",
    "column content_hash": "bytea NOT NULL",
    "column credit": "text",
    "column debit": "text",
    "column detail": "text",
    "column held_after_cents": "bigint",
    "column kind": "text NOT NULL",
    "column previous_seq": "bigint",
    "column rail_receipt": "text",
    "column reason": "text NOT NULL",
    "column recorded_at": "bigint NOT NULL",
    "column seq": "bigint NOT NULL",
    "column transaction_id": "text",
    "constraint journal_account_id_fkey": "FOREIGN KEY (account_id) REFERENCES account_holders(account_id)",
    "constraint journal_amount_cents_check": "CHECK ((amount_cents > 0))",
    "constraint journal_available_after_cents_check": "CHECK ((available_after_cents >= 0))",
    "constraint journal_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint journal_check": "CHECK ((previous_seq < seq))",
    "constraint journal_check1":
      "CHECK ((((debit IS NULL) AND (credit IS NULL) AND (amount_cents IS NULL)) OR ((debit IS NOT NULL) AND (credit IS NOT NULL) AND (amount_cents IS NOT NULL) AND (debit <> credit))))",
    "constraint journal_check2":
      "CHECK ((((available_after_cents IS NULL) = (account_id IS NULL)) AND ((held_after_cents IS NULL) = (account_id IS NULL))))",
    "constraint journal_check3": "CHECK (((account_id IS NOT NULL) OR (previous_seq IS NULL)))",
    "constraint journal_check4": "CHECK (((transaction_id IS NOT NULL) = (kind ~~ 'transaction.%'::text)))",
    "constraint journal_content_hash_check": "CHECK ((length(content_hash) = 32))",
    "constraint journal_credit_check":
      "CHECK ((credit = ANY (ARRAY['reserve'::text, 'shortfall'::text, 'available'::text, 'held'::text, 'unallocated'::text])))",
    "constraint journal_debit_check":
      "CHECK ((debit = ANY (ARRAY['reserve'::text, 'shortfall'::text, 'available'::text, 'held'::text, 'unallocated'::text])))",
    "constraint journal_held_after_cents_check": "CHECK ((held_after_cents >= 0))",
    "constraint journal_pkey": "PRIMARY KEY (book, seq)",
    "constraint journal_seq_check": "CHECK ((seq > 0))",
    "constraint journal_transaction_id_fkey": "FOREIGN KEY (transaction_id) REFERENCES transactions(id)",
    "function journal_refuses_change": "plpgsql: BEGIN RAISE EXCEPTION 'journal is append-only'; END",
    "index journal_receipts":
      "CREATE UNIQUE INDEX journal_receipts ON journal USING btree (book, rail_receipt) WHERE (rail_receipt IS NOT NULL)",
    "index journal_terminal_rows":
      "CREATE UNIQUE INDEX journal_terminal_rows ON journal USING btree (transaction_id) WHERE (kind = ANY (ARRAY['transaction.completed'::text, 'transaction.failed'::text, 'transaction.canceled'::text]))",
    "column freeze_id": "text",
    "constraint journal_check5":
      "CHECK (((freeze_id IS NOT NULL) = (kind = ANY (ARRAY['account.frozen'::text, 'account.unfrozen'::text]))))",
    "constraint journal_freeze_id_fkey": "FOREIGN KEY (freeze_id) REFERENCES freezes(id)",
    "index journal_transaction_steps":
      "CREATE INDEX journal_transaction_steps ON journal USING btree (transaction_id, seq) WHERE (kind = ANY (ARRAY['transaction.processing'::text, 'transaction.receipted'::text, 'transaction.flagged'::text, 'transaction.attended'::text]))",
    "index journal_account_tiers":
      "CREATE INDEX journal_account_tiers ON journal USING btree (account_id, seq) WHERE (kind = 'account.tiered'::text)",
    "index journal_account_statuses":
      "CREATE INDEX journal_account_statuses ON journal USING btree (account_id, seq) WHERE (kind = ANY (ARRAY['account.frozen'::text, 'account.unfrozen'::text, 'account.closed'::text]))",
    "index journal_own_rows":
      "CREATE INDEX journal_own_rows ON journal USING btree (book, seq) WHERE (account_id IS NULL)",
    "index journal_freeze_rows":
      "CREATE UNIQUE INDEX journal_freeze_rows ON journal USING btree (freeze_id, kind) WHERE (freeze_id IS NOT NULL)",
    table: "kind r, persistence p",
    "trigger journal_refuses_change":
      "CREATE TRIGGER journal_refuses_change BEFORE DELETE OR UPDATE OR TRUNCATE ON journal FOR EACH STATEMENT EXECUTE FUNCTION journal_refuses_change()",
  },
  organizations: {
    "column created_at": "bigint NOT NULL",
    "column id": "text NOT NULL",
    "column is_sandbox": "bigint NOT NULL",
    "column name": "text NOT NULL",
    "constraint organizations_is_sandbox_check": "CHECK ((is_sandbox = ANY (ARRAY[(0)::bigint, (1)::bigint])))",
    "constraint organizations_name_check": "CHECK ((name <> ''::text))",
    "constraint organizations_pkey": "PRIMARY KEY (id)",
    table: "kind r, persistence p",
  },
  transactions: {
    "column account_id": "text NOT NULL",
    "column amount_cents": "bigint NOT NULL",
    "column book": "bigint NOT NULL",
    "column completed_at": "bigint",
    "column correction": "text",
    "column corrects_id": "text",
    "column created_at": "bigint NOT NULL",
    "column description": "text NOT NULL",
    "column failure": "text",
    "column id": "text NOT NULL",
    "column metadata": "text NOT NULL",
    "column open_flags": "text",
    "column rail": "text NOT NULL",
    "column rail_movement": "text",
    "column rail_receipt": "text",
    "column reference": "text NOT NULL",
    "column reversed_by_id": "text",
    "column seq": "bigint NOT NULL",
    "column status": "text NOT NULL",
    "column status_reason": "text NOT NULL",
    "column type": "text NOT NULL",
    "column updated_at": "bigint NOT NULL",
    "constraint transactions_account_id_fkey": "FOREIGN KEY (account_id) REFERENCES account_holders(account_id)",
    "constraint transactions_amount_cents_check":
      "CHECK (((amount_cents > 0) AND (amount_cents <= '999999999999999'::bigint)))",
    "constraint transactions_book_fkey": "FOREIGN KEY (book) REFERENCES book_keys(book)",
    "constraint transactions_book_reference_key": "UNIQUE (book, reference)",
    "constraint transactions_check": "CHECK (((status = 'COMPLETED'::text) = (completed_at IS NOT NULL)))",
    "constraint transactions_check1": "CHECK (((status = 'FAILED'::text) = (failure IS NOT NULL)))",
    "constraint transactions_check2":
      "CHECK (((status = 'COMPLETED'::text) OR ((rail_movement IS NULL) AND (rail_receipt IS NULL))))",
    "constraint transactions_check3": "CHECK (((corrects_id IS NULL) = (correction IS NULL)))",
    "constraint transactions_check4":
      "CHECK (((reversed_by_id IS NULL) OR ((status = 'COMPLETED'::text) AND (correction IS NULL))))",
    "constraint transactions_correction_check": "CHECK ((correction = ANY (ARRAY['REVERSAL'::text, 'LATE'::text])))",
    "constraint transactions_corrects_id_fkey": "FOREIGN KEY (corrects_id) REFERENCES transactions(id)",
    "constraint transactions_failure_check":
      "CHECK ((failure = ANY (ARRAY['CANCELED_BY_PAYER'::text, 'PAYER_UNREACHABLE'::text, 'PAYER_SHORT_OF_FUNDS'::text, 'WRONG_PIN'::text, 'RECIPIENT_NOT_REGISTERED'::text, 'RECIPIENT_LIMIT'::text, 'RAIL_ACCOUNT_SHORT'::text, 'RAIL_REFUSED'::text, 'EXPIRED'::text, 'REPORT_DIFFERS'::text, 'RESOLVED_BY_OPERATOR'::text])))",
    "constraint transactions_id_key": "UNIQUE (id)",
    "constraint transactions_open_flags_check": "CHECK ((open_flags <> ''::text))",
    "constraint transactions_pkey": "PRIMARY KEY (book, seq)",
    "constraint transactions_reference_check": "CHECK ((reference <> ''::text))",
    "constraint transactions_status_check":
      "CHECK ((status = ANY (ARRAY['PENDING'::text, 'PROCESSING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELED'::text])))",
    "constraint transactions_type_check": "CHECK ((type = ANY (ARRAY['MINT'::text, 'REDEEM'::text])))",
    "index transactions_by_type": "CREATE INDEX transactions_by_type ON transactions USING btree (book, type, seq)",
    "index transactions_flagged":
      "CREATE INDEX transactions_flagged ON transactions USING btree (book, seq) WHERE (open_flags IS NOT NULL)",
    "index transactions_late":
      "CREATE INDEX transactions_late ON transactions USING btree (corrects_id) WHERE (correction = 'LATE'::text)",
    "index transactions_movements":
      "CREATE UNIQUE INDEX transactions_movements ON transactions USING btree (book, rail_movement) WHERE (rail_movement IS NOT NULL)",
    "index transactions_not_completed":
      "CREATE INDEX transactions_not_completed ON transactions USING btree (book, status, seq) WHERE (status <> 'COMPLETED'::text)",
    "index transactions_reversals":
      "CREATE UNIQUE INDEX transactions_reversals ON transactions USING btree (corrects_id) WHERE (correction = 'REVERSAL'::text)",
    table: "kind r, persistence p",
  },
};
