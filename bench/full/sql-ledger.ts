import pg from "pg";

import type { Stage } from "./stage.js";

/** As many as the service has. */
const ACCOUNTS = 100;
export const AMOUNT_CENTS = 125_000;

/**
 * The yardsticks on PostgreSQL: two ledgers as one writes them in SQL, one call and one commit a
 * mint. Both refuse a second use of a reference.
 */
const SCHEMA = `
  -- The shortest that keeps transaction, journal, balance and reserve together, with fewer columns than the service has, and
  -- no index but those that its constraints need.
  CREATE TABLE accounts (
    id             BIGINT NOT NULL PRIMARY KEY,
    balance_cents  BIGINT NOT NULL CHECK (balance_cents >= 0)
  );
  CREATE TABLE reserve (
    organization_id  BIGINT NOT NULL PRIMARY KEY,
    balance_cents    BIGINT NOT NULL CHECK (balance_cents >= 0)
  );
  CREATE TABLE transactions (
    id            BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id    BIGINT NOT NULL REFERENCES accounts,
    amount_cents  BIGINT NOT NULL CHECK (amount_cents > 0),
    reference     TEXT NOT NULL UNIQUE,
    created_at    TIMESTAMPTZ NOT NULL
  );
  CREATE TABLE journal (
    id                   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction_id       BIGINT NOT NULL REFERENCES transactions,
    account_id           BIGINT NOT NULL REFERENCES accounts,
    debit                TEXT NOT NULL,
    credit               TEXT NOT NULL CHECK (debit <> credit),
    amount_cents         BIGINT NOT NULL CHECK (amount_cents > 0),
    balance_after_cents  BIGINT NOT NULL,
    recorded_at          TIMESTAMPTZ NOT NULL
  );
  INSERT INTO accounts SELECT id, 0 FROM generate_series(1, ${String(ACCOUNTS)}) AS id;
  INSERT INTO reserve VALUES (1, 0);

  CREATE FUNCTION mint(account BIGINT, amount BIGINT, given_reference TEXT, with_reserve BOOLEAN) RETURNS BIGINT
  LANGUAGE plpgsql AS $$
  DECLARE
    transaction BIGINT;
    before_cents BIGINT;
  BEGIN
    SELECT id INTO transaction FROM transactions WHERE reference = given_reference;
    IF FOUND THEN RETURN transaction; END IF;
    SELECT balance_cents INTO STRICT before_cents FROM accounts WHERE id = account FOR UPDATE;
    INSERT INTO transactions (account_id, amount_cents, reference, created_at)
      VALUES (account, amount, given_reference, now()) RETURNING id INTO transaction;
    INSERT INTO journal (transaction_id, account_id, debit, credit, amount_cents, balance_after_cents, recorded_at)
      VALUES (transaction, account, 'reserve', 'available', amount, before_cents + amount, now());
    UPDATE accounts SET balance_cents = before_cents + amount WHERE id = account;
    -- Last, so that the row that everybody needs is locked as short as can be: until the commit is on disk.
    IF with_reserve THEN
      UPDATE reserve SET balance_cents = balance_cents + amount WHERE organization_id = 1;
    END IF;
    RETURN transaction;
  END $$;

  -- Double entry as pgledger (https://github.com/pgr0ss/pgledger) keeps it: a transfer between any two accounts, of which the
  -- reserve is one; an entry on each with its balance before and after; transfers and entries can be found by account. Ids
  -- are plain numbers, which cost less than its own.
  CREATE TABLE ledger_accounts (
    id             BIGINT NOT NULL PRIMARY KEY,
    balance_cents  BIGINT NOT NULL CHECK (id = 0 OR balance_cents >= 0),
    version        BIGINT NOT NULL,
    updated_at     TIMESTAMPTZ NOT NULL
  );
  CREATE TABLE transfers (
    id               BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_account_id  BIGINT NOT NULL REFERENCES ledger_accounts,
    to_account_id    BIGINT NOT NULL REFERENCES ledger_accounts CHECK (to_account_id <> from_account_id),
    amount_cents     BIGINT NOT NULL CHECK (amount_cents > 0),
    reference        TEXT NOT NULL UNIQUE,
    created_at       TIMESTAMPTZ NOT NULL
  );
  CREATE INDEX ON transfers (from_account_id);
  CREATE INDEX ON transfers (to_account_id);
  CREATE TABLE entries (
    id                    BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transfer_id           BIGINT NOT NULL REFERENCES transfers,
    account_id            BIGINT NOT NULL REFERENCES ledger_accounts,
    amount_cents          BIGINT NOT NULL CHECK (amount_cents <> 0),
    balance_before_cents  BIGINT NOT NULL,
    balance_after_cents   BIGINT NOT NULL CHECK (balance_after_cents = balance_before_cents + amount_cents),
    account_version       BIGINT NOT NULL,
    created_at            TIMESTAMPTZ NOT NULL
  );
  CREATE INDEX ON entries (transfer_id);
  CREATE INDEX ON entries (account_id);
  INSERT INTO ledger_accounts SELECT id, 0, 0, now() FROM generate_series(0, ${String(ACCOUNTS)}) AS id;

  CREATE FUNCTION transfer(from_id BIGINT, to_id BIGINT, amount BIGINT, given_reference TEXT) RETURNS BIGINT
  LANGUAGE plpgsql AS $$
  DECLARE
    transfer BIGINT;
    account ledger_accounts;
  BEGIN
    SELECT id INTO transfer FROM transfers WHERE reference = given_reference;
    IF FOUND THEN RETURN transfer; END IF;
    -- In one order, so that no two transfers wait for each other for ever.
    PERFORM FROM ledger_accounts WHERE id IN (from_id, to_id) ORDER BY id FOR UPDATE;
    INSERT INTO transfers (from_account_id, to_account_id, amount_cents, reference, created_at)
      VALUES (from_id, to_id, amount, given_reference, now()) RETURNING id INTO transfer;
    UPDATE ledger_accounts SET balance_cents = balance_cents - amount, version = version + 1, updated_at = now()
      WHERE id = from_id RETURNING * INTO STRICT account;
    INSERT INTO entries
      (transfer_id, account_id, amount_cents, balance_before_cents, balance_after_cents, account_version, created_at)
      VALUES (transfer, from_id, -amount, account.balance_cents + amount, account.balance_cents, account.version, now());
    UPDATE ledger_accounts SET balance_cents = balance_cents + amount, version = version + 1, updated_at = now()
      WHERE id = to_id RETURNING * INTO STRICT account;
    INSERT INTO entries
      (transfer_id, account_id, amount_cents, balance_before_cents, balance_after_cents, account_version, created_at)
      VALUES (transfer, to_id, amount, account.balance_cents - amount, account.balance_cents, account.version, now());
    RETURN transfer;
  END $$;`;

/** One way to mint in SQL. */
export interface SqlMints {
  name: string;
  /** The mints go to so many accounts, at random. */
  accounts: number;
  /** One mint: $1 is the account, $2 the cents, $3 the reference. */
  statement: string;
}

export const DOUBLE_ENTRY: SqlMints = {
  name: "SQL double entry, 16 connections",
  accounts: ACCOUNTS,
  statement: "SELECT transfer(0, $1, $2, $3)",
};
export const SQL_FUNCTION: SqlMints = {
  name: "SQL function, 16 connections",
  accounts: ACCOUNTS,
  statement: "SELECT mint($1, $2, $3, true)",
};
const ONE_HOT_ACCOUNT: SqlMints = { ...SQL_FUNCTION, name: `${SQL_FUNCTION.name}, one hot account`, accounts: 1 };
/** Without the organization's reserve, which has all mints wait for each other. */
const NO_RESERVE: SqlMints = {
  ...SQL_FUNCTION,
  name: `${SQL_FUNCTION.name}, no reserve row`,
  statement: "SELECT mint($1, $2, $3, false)",
};

export const SQL_MINTS: readonly SqlMints[] = [DOUBLE_ENTRY, SQL_FUNCTION, ONE_HOT_ACCOUNT, NO_RESERVE];

/** How many mints of each kind the SQL ledgers acknowledged. */
export type SqlBooks = ReadonlyMap<SqlMints, number>;

export async function createSqlLedgers(databaseUrl: string): Promise<void> {
  await query(databaseUrl, SCHEMA);
}

/** Compares the SQL ledgers with what they acknowledged. */
export async function checkSqlLedgers(stage: Stage, databaseUrl: string, books: SqlBooks): Promise<void> {
  const [found] = await query(
    databaseUrl,
    `SELECT (SELECT count(*) FROM transactions) AS transactions,
            (SELECT count(DISTINCT transaction_id) FROM journal) AS journaled,
            (SELECT sum(amount_cents) FROM journal) AS posted,
            (SELECT sum(balance_cents) FROM accounts) AS balances,
            (SELECT sum(balance_cents) FROM reserve) AS reserve,
            (SELECT count(*) FROM transfers) AS transfers,
            (SELECT count(*) FROM entries) AS entries,
            (SELECT sum(balance_cents) FROM ledger_accounts WHERE id > 0) AS ledger_balances,
            (SELECT sum(balance_cents) FROM ledger_accounts) AS ledger_sum`,
  );
  const minted = (...kinds: SqlMints[]): number => kinds.reduce((sum, kind) => sum + (books.get(kind) ?? 0), 0);
  const mints = minted(SQL_FUNCTION, ONE_HOT_ACCOUNT, NO_RESERVE);
  const transfers = minted(DOUBLE_ENTRY);
  const expected = {
    transactions: mints,
    journaled: mints,
    posted: mints * AMOUNT_CENTS,
    balances: mints * AMOUNT_CENTS,
    reserve: minted(SQL_FUNCTION, ONE_HOT_ACCOUNT) * AMOUNT_CENTS,
    transfers,
    entries: 2 * transfers,
    ledger_balances: transfers * AMOUNT_CENTS,
    ledger_sum: 0,
  };
  for (const [name, value] of Object.entries(expected)) {
    const is = String(found?.[name]);
    if (is !== String(value)) stage.blame(`the SQL ledgers' ${name}: ${is}, not ${String(value)}`);
  }
}

/** Runs SQL on a connection of its own. Answers the rows of the last statement. */
export async function query(databaseUrl: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}
