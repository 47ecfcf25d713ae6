import { expect } from "chai";

import { ENGINES } from "../support/databases.js";
import { GivenBooks, makeTraffic, OWN_ROWS, TRAFFIC_ROWS } from "./given/books.js";
import { makeOrders } from "./given/orders.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

/** `first` is the seq of the first finding, and a word of the findings with this seq. */
type Tampering = readonly [
  name: string,
  statements: readonly string[],
  first: readonly [seq: number | undefined, word: RegExp],
];

const COLUMNS = `previous_seq, account_id, transaction_id, freeze_id, kind, debit, credit, amount_cents, available_after_cents,
  held_after_cents, detail, rail_receipt, actor, reason, recorded_at, content_hash`;
const ACCOUNT_COLUMNS =
  "last_seq, status, status_reason, available_cents, held_cents, open_payments, created_at, updated_at, mac";
const TRANSACTION_COLUMNS = `account_id, type, status, status_reason, amount_cents, description, metadata, rail, created_at,
  updated_at, completed_at`;
const OF_ROW = (seq: number): string => `(SELECT account_id FROM journal WHERE seq = ${String(seq)})`;
const NEXT = TRAFFIC_ROWS + 1;
const proposalIn = (book: number): string =>
  `INSERT INTO proposals (subject, book, content, person, proposed_at, id, seq, mac)
     VALUES ('refund', ${String(book)}, 'all', 'mallory', 5, 'prp_refund', 1, BYTES(${"00".repeat(32)}))`;

const TAMPERINGS: readonly Tampering[] = [
  ["a deleted row", ["DELETE FROM journal WHERE seq = 8"], [8, /next row has seq 9/]],
  ["deleted rows at the beginning", ["DELETE FROM journal WHERE seq < 6"], [1, /next row has seq 6/]],
  [
    "a deleted row at the end",
    [`DELETE FROM journal WHERE seq = ${String(TRAFFIC_ROWS)}`],
    [TRAFFIC_ROWS - 1, new RegExp(`books: last_seq ${String(TRAFFIC_ROWS - 1)} \\| last_seq ${String(TRAFFIC_ROWS)}`)],
  ],
  ["all rows deleted", ["DELETE FROM journal"], [1, /organization\.created \| no row/]],
  [
    "a doubled row",
    [
      `INSERT INTO journal (book, seq, ${COLUMNS}) SELECT book, ${String(NEXT)}, ${COLUMNS} FROM journal WHERE seq = 22`,
    ],
    [NEXT, /recorded_at \d+ or later/],
  ],
  [
    "an inserted hold that agrees with the balances, but with no transaction",
    [
      `INSERT INTO journal SELECT book, ${String(NEXT)}, 21, account_id, 'txn_unknown', NULL, kind, debit, credit, 100, 39902, 10100,
         NULL, NULL, actor, reason, (SELECT MAX(recorded_at) FROM journal), content_hash, NULL, NULL FROM journal WHERE seq = 10`,
      `UPDATE accounts SET last_seq = ${String(NEXT)}, available_cents = 39902, held_cents = 10100, open_payments = 3, updated_at = books.last_recorded_at
         FROM books WHERE accounts.id = ${OF_ROW(10)}`,
      `UPDATE books SET last_seq = ${String(NEXT)}, available_cents = available_cents - 100,
         held_cents = held_cents + 100`,
    ],
    [NEXT, /transactions: a row \| none/],
  ],
  ["an account that is missing", [`DELETE FROM accounts WHERE id = ${OF_ROW(7)}`], [21, /accounts: a row \| none/]],
  [
    "an account from nowhere",
    [
      `INSERT INTO accounts (book, seq, id, ${ACCOUNT_COLUMNS}) SELECT book, 99, 'acc_z', ${ACCOUNT_COLUMNS}
         FROM accounts WHERE seq = 4`,
    ],
    [99, /accounts: a journal row that created it \| none/],
  ],
  [
    "a holder from nowhere",
    [
      `INSERT INTO account_holders (account_id, book, seq, is_open, user_id, phone_number, phone_number_index, email, content_salt)
         SELECT 'acc_z', book, seq, 0, user_id, phone_number, phone_number_index, email, content_salt
         FROM account_holders WHERE seq = 4`,
    ],
    [undefined, /account_holders: an account of the book \| none/],
  ],
  [
    "a transaction from nowhere",
    [
      `INSERT INTO transactions (book, seq, id, reference, ${TRANSACTION_COLUMNS})
         SELECT book, 99, 'txn_z', 'from nowhere', ${TRANSACTION_COLUMNS} FROM transactions WHERE seq = 6`,
    ],
    [99, /transactions: a journal row that created it \| none/],
  ],
  [
    "a missing payment",
    ["DELETE FROM payments WHERE transaction_id = (SELECT id FROM transactions WHERE seq = 10)"],
    [10, /payments: a row \| none/],
  ],
  [
    "a payment from nowhere",
    [
      `INSERT INTO payments (transaction_id, book, rail_account_id, direction, state, phone_number, masked_phone, sends, due_at, ahead_millis, updated_at)
         SELECT 'txn_z', book, rail_account_id, direction, state, phone_number, masked_phone, sends, due_at, ahead_millis, updated_at
         FROM payments WHERE transaction_id = (SELECT id FROM transactions WHERE seq = 10)`,
    ],
    [undefined, /payments: a transaction of the book \| none/],
  ],
  ["a proposal from nowhere", [proposalIn(1)], [undefined, /proposals: a journal row that proposes it \| none/]],
  [
    "a proposal of a book that does not exist",
    [proposalIn(7)],
    [undefined, /proposals: the book with the number 7 \| none/],
  ],
  ["a missing holder", ["DELETE FROM account_holders WHERE seq = 4"], [4, /account_holders: a row \| none/]],
  [
    "a holder that is empty with no row that erased it",
    [
      `UPDATE account_holders SET user_id = NULL, phone_number = NULL, phone_number_index = NULL, email = NULL,
         email_index = NULL, content_salt = NULL WHERE seq = 4`,
    ],
    [4, /account_holders: personal data, because no row erased it/],
  ],
  [
    "an erased holder that has data again",
    [
      `UPDATE account_holders SET user_id = 'carol', phone_number = old.phone_number, email = old.email,
         phone_number_index = old.phone_number_index, content_salt = old.content_salt
         FROM account_holders AS old WHERE account_holders.seq = 5 AND old.seq = 4`,
    ],
    [17, /no personal data after the erasure at seq 17 \| user_id, phone_number/],
  ],
  [
    "an API key that somebody added",
    [
      `INSERT INTO api_keys (id, organization_id, name, secret_sha256, scopes, seq, created_at, mac)
         SELECT 'key_new', organization_id, name, '${"0".repeat(64)}', scopes, 99, created_at, mac FROM api_keys WHERE seq = ${String(OWN_ROWS.live)}`,
    ],
    [99, /api_keys: the journal row key\.created that it names \| none/],
  ],
  [
    "a missing API key",
    [`DELETE FROM api_keys WHERE seq = ${String(OWN_ROWS.live)}`],
    [OWN_ROWS.live, /api_keys: the key of key\.created \| none/],
  ],
  ["a missing transaction", ["DELETE FROM transactions WHERE seq = 7"], [7, /transactions: a row \| none/]],
  ["missing keys of a book", ["DELETE FROM book_keys"], [TRAFFIC_ROWS, /book_keys: keys that the master key decrypts/]],
  ["a missing book", ["DELETE FROM books"], [undefined, /journal: the book with the number 1 \| no such book/]],
  ["a missing organization", ["DELETE FROM organizations"], [TRAFFIC_ROWS, /organizations: a row \| none/]],
  [
    "an organization without a book",
    [
      "INSERT INTO organizations (id, name, is_sandbox, created_at, mac) SELECT 'org_new', 'new', 0, 5, mac FROM organizations",
    ],
    [undefined, /books: a book of the organization \| none/],
  ],
  [
    "two payments that traded their references",
    [
      "UPDATE transactions SET reference = 'swapped' WHERE seq = 6",
      "UPDATE transactions SET reference = 'reference-1' WHERE seq = 7",
      "UPDATE transactions SET reference = 'reference-2' WHERE seq = 6",
    ],
    [6, /transactions: .*content_hash/],
  ],
];

// Values that the service never writes: verify must report them, and never throw.
const MALFORMED: readonly (readonly [name: string, statement: string, word: RegExp])[] = [
  ["metadata that is no JSON", "UPDATE transactions SET metadata = '{' WHERE seq = 6", /content_hash/],
  ["an amount below zero", "UPDATE journal SET amount_cents = -100000 WHERE seq = 6", /-1000\.00/],
  ["a balance below zero", "UPDATE accounts SET available_cents = -1 WHERE seq = 3", /available -0\.01/],
  ["an amount of zero", "UPDATE journal SET amount_cents = 0 WHERE seq = 6", /0\.00/],
  [
    "an amount that no number can hold",
    "UPDATE journal SET amount_cents = 9007199254740993 WHERE seq = 6",
    /90071992547409\.92|9007199254740992/,
  ],
  ["a sum that no number can hold", "UPDATE books SET reserve_cents = 9223372036854775807", /92233720368547758\.07/],
  ["a time after all times", "UPDATE journal SET recorded_at = 9223372036854775807 WHERE seq = 20", /recorded_at/],
  ["a time before all times", "UPDATE journal SET recorded_at = -1 WHERE seq = 1", /recorded_at/],
  ["a balance after the row that is missing", "UPDATE journal SET held_after_cents = NULL WHERE seq = 6", /held null/],
  ["control characters", "UPDATE journal SET kind = kind || '\u001B[2J' WHERE seq = 6", /a known kind/],
  ["an empty text", "UPDATE transactions SET reference = '' WHERE seq = 6", /content_hash/],
  ["a phone number of no bytes", "UPDATE account_holders SET phone_number = BYTES() WHERE seq = 3", /phone_number/],
  ["an e-mail address of one byte", "UPDATE account_holders SET email = BYTES(00) WHERE seq = 3", /email/],
  ["a hash of no bytes", "UPDATE journal SET content_hash = BYTES() WHERE seq = 6", /content_hash/],
  ["a key of no bytes", "UPDATE book_keys SET data_key = BYTES()", /data key/],
  ["a seq below zero", "UPDATE journal SET seq = -1000 WHERE seq = 6", /values that the schema allows/],
  ["an id that sorts apart", "UPDATE accounts SET id = '\u{1F600}' WHERE seq = 3", /a journal row that created it/],
];

/** What a book has once, and the index that ensures it. */
const ONCE = [
  ["receipt", "journal", "rail_receipt", "journal_receipts"],
  ["movement", "transactions", "rail_movement", "transactions_movements"],
] as const;

for (const engine of ENGINES) {
  describe(`verify on ${engine}, after somebody was at the database`, () => {
    let unguarded: Unguarded;
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => makeTraffic(await GivenBooks.open(database)));
    });
    after(() => unguarded.dispose());

    for (const [name, statements, [seq, word]] of TAMPERINGS) {
      it(`names ${name} by its seq`, async () => {
        const { firstFindings } = await unguarded.verifyAfter(statements);
        expect(firstFindings[0]?.seq).to.equal(seq);
        const said = firstFindings.filter((finding) => finding.seq === seq);
        expect(said.map(({ table, expected, found }) => `${table}: ${expected} | ${found}`).join("\n")).to.match(word);
      });
    }

    for (const [name, statement, word] of MALFORMED) {
      it(`names ${name}`, async () => {
        expect(findingsOnRows(await unguarded.verifyAfter([statement])).join("\n")).to.match(word);
      });
    }

    it("names no personal data", async () => {
      const { firstFindings } = await unguarded.verifyAfter([
        "UPDATE account_holders SET user_id = 'mallory', email = phone_number, content_salt = BYTES(00) WHERE seq = 3",
        "UPDATE transactions SET description = 'paid by mallory', status_reason = 'mallory' WHERE seq = 6",
        "UPDATE journal SET reason = 'mallory' WHERE seq IN (3, 13, 14)",
      ]);
      expect(firstFindings.length).to.be.greaterThan(5);
      expect(JSON.stringify(firstFindings)).not.to.match(/amina|mallory|254712345678/);
    });

    it("counts everything that is broken and keeps the first twenty", async () => {
      const { firstFindings, findingsCount } = await unguarded.verifyAfter([
        "UPDATE journal SET available_after_cents = available_after_cents + seq, kind = 'nonsense', freeze_id = NULL",
      ]);
      expect(findingsCount).to.be.greaterThan(20);
      expect(firstFindings).to.have.length(20);
      const seqs = firstFindings.map((finding) => finding.seq ?? 0);
      expect(seqs).to.deep.equal(seqs.toSorted((left, right) => left - right));
      expect(seqs[0]).to.equal(1);
    });
  });

  describe(`verify on ${engine}, after somebody dropped a unique index`, () => {
    let unguarded: Unguarded;
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => {
        const books = await GivenBooks.open(database);
        await makeOrders(books, await books.createAccount("zoe"));
      });
    });
    after(() => unguarded.dispose());

    for (const [what, table, column, index] of ONCE) {
      it(`names a ${what} that a book has twice`, async () => {
        const verification = await unguarded.verifyAfter([
          `DROP INDEX ${index}`,
          `UPDATE ${table} SET ${column} = (SELECT MIN(${column}) FROM ${table}) WHERE ${column} IS NOT NULL`,
        ]);
        expect(findingsOnRows(verification).join("\n")).to.match(
          new RegExp(`${table} \\d+ : another ${column} \\| the one of seq \\d+ again`),
        );
      });
    }
  });
}
