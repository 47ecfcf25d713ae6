import { expect } from "chai";

import { MAX_SUM_CENTS } from "../../src/domain/book.js";
import type { EmailAddress } from "../../src/domain/values/email-address.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { JOURNAL_COLUMNS } from "../../src/storage/sql/journal-rows.js";
import { createAccount, mint, reverse } from "../support/commands.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";

interface Ids {
  /** An account with 1.00. */
  readonly account: string;
  /** The mint of that 1.00. */
  readonly transaction: string;
  /** A mint to the account with nothing, which was reversed. */
  readonly reversed: string;
  /** An account with nothing. */
  readonly empty: string;
}

const PERSONAL = ["user_id", "phone_number", "phone_number_index", "email", "content_salt"];

const CHECK = /check constraint/i;
const UNIQUE = /unique constraint/i;
const FOREIGN_KEY = /foreign key constraint/i;
const APPEND_ONLY = /append-only/;

/** Doubles the journal's row of the mint, with other values in some columns. */
function doubledRow(changes: Readonly<Partial<Record<keyof typeof JOURNAL_COLUMNS, string>>>): string {
  const columns = Object.keys(JOURNAL_COLUMNS) as (keyof typeof JOURNAL_COLUMNS)[];
  const values = columns.map((column) => changes[column] ?? (column === "seq" ? "seq + 1000" : column));
  return `INSERT INTO journal (${columns.join(", ")}) SELECT ${values.join(", ")} FROM journal
          WHERE transaction_id IN (SELECT id FROM transactions WHERE reference = 'guarded')`;
}

/** A row like that of the mint which moves no money, so that only `changes` can be wrong in it. */
function quietRow(changes: Parameters<typeof doubledRow>[0]): string {
  const quiet = { transaction_id: "NULL", kind: "'account.frozen'", debit: "NULL", credit: "NULL" };
  return doubledRow({ ...quiet, amount_cents: "NULL", ...changes });
}

/** Sets all columns of a person to NULL, apart from one. */
function erasedBut(kept: string, { account }: Pick<Ids, "account">): string {
  const set = [...PERSONAL, "email_index"].filter((column) => column !== kept);
  const changes = set.map((column) => `${column} = NULL`).join(", ");
  return `UPDATE account_holders SET ${changes} WHERE account_id = '${account}'`;
}

/** Sets columns of the mint. */
function linked({ transaction }: Pick<Ids, "transaction">, columns: Readonly<Record<string, string>>): string {
  const changes = Object.entries(columns).map(([column, value]) => `${column} = ${value}`);
  return `UPDATE transactions SET ${changes.join(", ")} WHERE id = '${transaction}'`;
}

const MAX = String(MAX_SUM_CENTS);
const BIGGER = String(2n ** 53n);

const refused: readonly (readonly [what: string, refusal: RegExp, sql: (ids: Ids) => string])[] = [
  ["a changed row of the journal", APPEND_ONLY, () => "UPDATE journal SET amount_cents = 1"],
  ["a deleted row of the journal", APPEND_ONLY, () => "DELETE FROM journal"],
  ["a negative balance", CHECK, ({ account }) => `UPDATE accounts SET available_cents = -1 WHERE id = '${account}'`],
  [
    "more than an account can hold",
    CHECK,
    ({ account }) => `UPDATE accounts SET available_cents = 1000000000000000 WHERE id = '${account}'`,
  ],
  [
    "a closed account with money",
    CHECK,
    ({ account }) => `UPDATE accounts SET status = 'CLOSED' WHERE id = '${account}'`,
  ],
  [
    "an account whose newest row is older than its first",
    CHECK,
    ({ account }) => `UPDATE accounts SET last_seq = seq - 1 WHERE id = '${account}'`,
  ],

  ["a reserve that is not what is owed", CHECK, () => "UPDATE books SET reserve_cents = reserve_cents + 1"],
  ["a shortfall that nobody is owed", CHECK, () => "UPDATE books SET shortfall_cents = shortfall_cents + 1"],
  ["a reserve below zero without a shortfall", CHECK, () => "UPDATE books SET reserve_cents = -1, available_cents = 0"],
  ...["available_cents", "held_cents", "unallocated_cents"].flatMap(
    (sum) =>
      [
        [`${sum} that nothing backs`, CHECK, () => `UPDATE books SET ${sum} = ${sum} + 1`],
        [
          `negative ${sum}, though the sums are equal`,
          CHECK,
          () =>
            sum === "available_cents"
              ? "UPDATE books SET available_cents = -1, held_cents = 101"
              : `UPDATE books SET ${sum} = -1, available_cents = 101`,
        ],
        [
          `${sum} past 2^53 - 1, though the sums are equal`,
          CHECK,
          () => `UPDATE books SET ${sum} = ${BIGGER}, shortfall_cents = ${BIGGER} - 100
                 ${sum === "available_cents" ? "" : ", available_cents = 0"}`,
        ],
      ] as const,
  ),
  [
    "a reserve past 2^53 - 1, though the sums are equal",
    CHECK,
    () => `UPDATE books SET reserve_cents = ${BIGGER}, available_cents = ${MAX}, held_cents = 1`,
  ],
  [
    "a shortfall past 2^53 - 1, though the sums are equal",
    CHECK,
    () => `UPDATE books SET shortfall_cents = ${BIGGER}, reserve_cents = 0, available_cents = ${MAX}, held_cents = 1`,
  ],
  [
    "a negative shortfall, though the sums are equal",
    CHECK,
    () => "UPDATE books SET shortfall_cents = -1, reserve_cents = 101",
  ],
  ["a book in a state that does not exist", CHECK, () => "UPDATE books SET state = 'LOST'"],
  [
    "a second book of an organization",
    UNIQUE,
    () => `INSERT INTO books SELECT number + 1, organization_id, state, suspended_seq, last_seq, last_recorded_at,
           reserve_cents, shortfall_cents, available_cents, held_cents, unallocated_cents FROM books`,
  ],

  [
    "a completed transaction without its time",
    CHECK,
    ({ transaction }) => `UPDATE transactions SET completed_at = NULL WHERE id = '${transaction}'`,
  ],
  ["a reversal that names no original", CHECK, (ids) => linked(ids, { correction: "'REVERSAL'" })],
  ["a link that says nothing of the correction", CHECK, (ids) => linked(ids, { corrects_id: "id" })],
  [
    "a correction of a kind that does not exist",
    CHECK,
    (ids) => linked(ids, { corrects_id: "id", correction: "'REFUND'" }),
  ],
  [
    "a correction of a transaction that does not exist",
    FOREIGN_KEY,
    (ids) => linked(ids, { corrects_id: "'txn_other'", correction: "'REVERSAL'" }),
  ],
  [
    "a second reversal of a transaction",
    UNIQUE,
    (ids) => linked(ids, { corrects_id: `'${ids.reversed}'`, correction: "'REVERSAL'" }),
  ],
  [
    "a reversal of a transaction that is not completed",
    CHECK,
    (ids) => linked(ids, { reversed_by_id: "id", status: "'PENDING'", completed_at: "NULL" }),
  ],
  [
    "a reversal of a reversal",
    CHECK,
    ({ reversed }) => `UPDATE transactions SET reversed_by_id = id WHERE corrects_id = '${reversed}'`,
  ],
  [
    "an amount of zero",
    CHECK,
    ({ transaction }) => `UPDATE transactions SET amount_cents = 0 WHERE id = '${transaction}'`,
  ],

  ...PERSONAL.flatMap(
    (column) =>
      [
        [
          `a holder without ${column} alone`,
          CHECK,
          ({ account }: Ids) => `UPDATE account_holders SET ${column} = NULL WHERE account_id = '${account}'`,
        ],
        [`an erased holder that has ${column} still`, CHECK, (ids: Ids) => erasedBut(column, ids)],
      ] as const,
  ),
  ["an erased holder that has email_index still", CHECK, (ids) => erasedBut("email_index", ids)],
  [
    "a user_id that has an account already",
    UNIQUE,
    ({ empty }) => `UPDATE account_holders SET user_id = 'user' WHERE account_id = '${empty}'`,
  ],

  ["a second end of a transaction", UNIQUE, () => doubledRow({ kind: "'transaction.canceled'" })],
  ["a posting on one side only", CHECK, () => doubledRow({ kind: "'transaction.pending'", credit: "NULL" })],
  ["a posting without an amount", CHECK, () => doubledRow({ kind: "'transaction.pending'", amount_cents: "NULL" })],
  ["a posting to one account twice", CHECK, () => doubledRow({ kind: "'transaction.pending'", credit: "debit" })],
  [
    "a posting to a book account that does not exist",
    CHECK,
    () => doubledRow({ kind: "'transaction.pending'", credit: "'profit'" }),
  ],
  ["a row that names a later one as the one before it", CHECK, () => quietRow({ previous_seq: "seq + 1000" })],
  ["a second row with one seq", UNIQUE, () => quietRow({ seq: "seq" })],
  ["a row before the first", CHECK, () => quietRow({ seq: "0", previous_seq: "NULL" })],
  ["a row of a book that does not exist", FOREIGN_KEY, () => quietRow({ book: "book + 1000" })],
  ["a row with an account and without its balances", CHECK, () => quietRow({ available_after_cents: "NULL" })],
  ["a row with half of an account's balances", CHECK, () => quietRow({ held_after_cents: "NULL" })],
  [
    "a row with balances of no account",
    CHECK,
    () => quietRow({ kind: "'organization.created'", account_id: "NULL", previous_seq: "NULL" }),
  ],
  [
    "a row of no account that follows one of an account",
    CHECK,
    () =>
      quietRow({
        kind: "'organization.created'",
        account_id: "NULL",
        available_after_cents: "NULL",
        held_after_cents: "NULL",
      }),
  ],
  ["a row of a transaction without its id", CHECK, () => quietRow({ kind: "'transaction.pending'" })],
  ["a row of an account that names a transaction", CHECK, () => quietRow({ transaction_id: "transaction_id" })],
  ["a content hash that is too short", CHECK, () => quietRow({ content_hash: "substr(content_hash, 2)" })],
];

const taken: readonly [what: string, sql: (ids: Ids) => string][] = [
  [
    "a reserve below zero, with a shortfall that says why",
    () => `UPDATE books SET reserve_cents = -1, shortfall_cents = ${MAX}, available_cents = ${MAX} - 1`,
  ],
  [
    "each sum at 2^53 - 1",
    () => `UPDATE books SET reserve_cents = ${MAX}, shortfall_cents = ${MAX}, available_cents = ${MAX},
           held_cents = ${MAX}, unallocated_cents = 0`,
  ],
  [
    "unallocated money at 2^53 - 1",
    () => `UPDATE books SET reserve_cents = ${MAX}, shortfall_cents = 0, available_cents = 0, held_cents = 0,
           unallocated_cents = ${MAX}`,
  ],
  [
    "a holder without an index of an e-mail address",
    ({ account }) => `UPDATE account_holders SET email_index = NULL WHERE account_id = '${account}'`,
  ],
  ["an erased holder", ({ empty }) => erasedBut("", { account: empty })],
  [
    "a row of no account",
    () =>
      quietRow({
        kind: "'organization.created'",
        account_id: "NULL",
        previous_seq: "NULL",
        available_after_cents: "NULL",
        held_after_cents: "NULL",
      }),
  ],
];

// The database refuses rows that can't be true, whatever our own code does.
for (const engine of ENGINES) {
  describe(`the schema on ${engine}`, () => {
    let opened: TestDatabase;
    let ids: Ids;

    before(async () => {
      opened = await openTestDatabase(engine);
      const { database, cell } = opened;
      const now = toUnixMillis(Date.now());
      const organizationId = (await keys(database, () => now).createOrganization("guarded")).id;
      const account = createAccount(organizationId, "user", { email: "a@example.com" as EmailAddress });
      const empty = createAccount(organizationId, "empty");
      const deposit = mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference: "guarded" });
      const doubled = { organizationId, accountId: empty.newAccountId, amount: "1.00", reference: "doubled" };
      const reversed = mint(doubled);
      const undo = reverse(organizationId, reversed.newTransactionId);
      const commands = [account, empty, deposit, reversed, undo];
      const answers = await cell.committer.commit(commands, now);
      expect(answers.map(({ kind }) => kind)).to.deep.equal(commands.map(() => "done"));
      ids = {
        account: account.newAccountId,
        transaction: deposit.newTransactionId,
        reversed: reversed.newTransactionId,
        empty: empty.newAccountId,
      };
    });
    after(() => opened.dispose());

    for (const [what, refusal, sql] of refused) {
      it(`refuses ${what}`, async () => {
        const answered = await execute(opened.address, sql(ids)).then(() => "taken", String);
        expect(answered).to.match(refusal);
      });
    }

    for (const [what, sql] of taken) {
      it(`takes ${what}`, async () => {
        await execute(opened.address, sql(ids));
      });
    }
  });
}
