-- The yardstick on PostgreSQL: the shortest ledger in SQL that keeps transaction, journal, balance and reserve together, with
-- one call and one commit a mint. It refuses a second use of a reference, has fewer columns than the service, and only the
-- indexes that its constraints need.
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
INSERT INTO accounts SELECT id, 0 FROM generate_series(1, 100) AS id;
INSERT INTO reserve VALUES (1, 0);

CREATE FUNCTION mint(account BIGINT, amount BIGINT, given_reference TEXT) RETURNS BIGINT
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
  -- Last, so that the row that all mints need is locked for the shortest time: until the commit is on disk.
  UPDATE reserve SET balance_cents = balance_cents + amount WHERE organization_id = 1;
  RETURN transaction;
END $$;
