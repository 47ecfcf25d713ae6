import pg from "pg";

import type { Stage } from "./stage.js";

/** As many as the service has. */
const ACCOUNTS = 100;
export const AMOUNT_CENTS = 125_000;

/**
 * The yardstick on PostgreSQL: a ledger as one writes it in SQL, one call and one commit a mint. It refuses a second use of
 * a reference, locks the account, and keeps transaction, journal, balance and reserve together as the service does, with
 * fewer columns and no index but those that its constraints need.
 */
const SCHEMA = `
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
  END $$;`;

/** Which mints of the SQL ledger are measured. */
export interface SqlMints {
  name: string;
  /** The mints go to so many accounts, at random. */
  accounts: number;
  /** Whether the organization's reserve is kept, which has all mints wait for each other. */
  reserve: boolean;
}

export const SQL_MINTS: readonly [SqlMints, ...SqlMints[]] = [
  { name: "SQL function, 16 connections", accounts: ACCOUNTS, reserve: true },
  { name: "SQL function, 16 connections, one hot account", accounts: 1, reserve: true },
  { name: "SQL function, 16 connections, no reserve row", accounts: ACCOUNTS, reserve: false },
];

/** What the SQL ledger acknowledged. */
export interface SqlBooks {
  mints: number;
  /** Those of them that the reserve must show. */
  mintsWithReserve: number;
}

export async function createSqlLedger(databaseUrl: string): Promise<void> {
  await query(databaseUrl, SCHEMA);
}

/** Compares the SQL ledger with what it acknowledged. */
export async function checkSqlLedger(stage: Stage, databaseUrl: string, books: SqlBooks): Promise<void> {
  const [found] = await query(
    databaseUrl,
    `SELECT (SELECT count(*) FROM transactions) AS transactions,
            (SELECT count(DISTINCT transaction_id) FROM journal) AS journaled,
            (SELECT sum(amount_cents) FROM journal) AS posted,
            (SELECT sum(balance_cents) FROM accounts) AS balances,
            (SELECT sum(balance_cents) FROM reserve) AS reserve`,
  );
  const { mints, mintsWithReserve } = books;
  const cents = mints * AMOUNT_CENTS;
  const expected = {
    transactions: mints,
    journaled: mints,
    posted: cents,
    balances: cents,
    reserve: mintsWithReserve * AMOUNT_CENTS,
  };
  for (const [name, value] of Object.entries(expected)) {
    const is = String(found?.[name]);
    if (is !== String(value)) stage.blame(`SQL function: ${name} is ${is}, not ${String(value)}`);
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
