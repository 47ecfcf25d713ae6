import { expect } from "chai";

import { MAX_SUM_CENTS } from "../../src/domain/book.js";
import { DIRECT_RAIL } from "../../src/domain/transaction.js";
import { MAX_CENTS } from "../../src/domain/values/cents.js";
import type { EmailAddress } from "../../src/domain/values/email-address.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { JOURNAL_COLUMNS } from "../../src/storage/sql/journal-rows.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { SLOW_RAIL } from "../support/names.js";
import { createAccount, freezeAccount, unfreezeAccount } from "../support/operations/accounts.js";
import { correctBook } from "../support/operations/corrections.js";
import { setRailAccount } from "../support/operations/rails.js";
import { beginPayment, completePayment, mint, redeem, reverse } from "../support/operations/transactions.js";

interface Ids {
  /** An account with 1.00. */
  readonly account: string;
  /** The mint of that 1.00. */
  readonly transaction: string;
  /** A mint to the account with nothing, which was reversed. */
  readonly reversed: string;
  /** A mint on a rail that was paid, with the movement m1 and the receipt r1. */
  readonly paid: string;
  /** A mint on a rail that nobody has begun. */
  readonly open: string;
  /** An account with nothing. */
  readonly empty: string;
  /** A freeze of `empty`, which was lifted. */
  readonly freeze: string;
}

const PERSONAL = ["user_id", "phone_number", "phone_number_index", "email", "content_salt"];

const CHECK = /check constraint/i;
const UNIQUE = /unique constraint/i;
const FOREIGN_KEY = /foreign key constraint/i;
const APPEND_ONLY = /append-only/;

/** The statement with an id in place of each name in braces. */
function filled(sql: string, ids: Ids): string {
  return sql.replaceAll(/\{(\w+)\}/g, (_, name: keyof Ids) => ids[name]);
}

/** Doubles the journal's row of the mint, with other values in some columns. */
function doubledRow(changes: Readonly<Partial<Record<keyof typeof JOURNAL_COLUMNS, string>>>): string {
  const columns = Object.keys(JOURNAL_COLUMNS) as (keyof typeof JOURNAL_COLUMNS)[];
  const values = columns.map((column) => changes[column] ?? (column === "seq" ? "seq + 1000" : column));
  return `INSERT INTO journal (${columns.join(", ")}) SELECT ${values.join(", ")} FROM journal
          WHERE transaction_id IN (SELECT id FROM transactions WHERE reference = 'guarded')`;
}

/** A row like that of the mint which moves no money, so that only `changes` can be wrong in it. */
function quietRow(changes: Parameters<typeof doubledRow>[0]): string {
  const quiet = { transaction_id: "NULL", kind: "'account.updated'", debit: "NULL", credit: "NULL" };
  return doubledRow({ ...quiet, amount_cents: "NULL", ...changes });
}

/** Sets all columns of a person to NULL, apart from one. */
function erasedBut(kept: string, account: "account" | "empty" = "account"): string {
  const set = [...PERSONAL, "email_index"].filter((column) => column !== kept);
  const changes = set.map((column) => `${column} = NULL`).join(", ");
  return `UPDATE account_holders SET ${changes} WHERE account_id = '{${account}}'`;
}

const paymentOf = (transaction: "paid" | "open", set: string): string =>
  `UPDATE payments SET ${set} WHERE transaction_id = '{${transaction}}'`;
const ofMint = (set: string): string => `UPDATE transactions SET ${set} WHERE id = '{transaction}'`;
const ofAccount = (set: string): string => `UPDATE accounts SET ${set} WHERE id = '{account}'`;

/** Still with the row before it. */
const ofNoAccount = {
  kind: "'organization.created'",
  account_id: "NULL",
  available_after_cents: "NULL",
  held_after_cents: "NULL",
} as const;

const MAX = String(MAX_SUM_CENTS);
const BIGGER = String(2n ** 53n);

const refused: readonly (readonly [what: string, refusal: RegExp, sql: string])[] = [
  ["a changed row of the journal", APPEND_ONLY, "UPDATE journal SET amount_cents = 1"],
  ["a deleted row of the journal", APPEND_ONLY, "DELETE FROM journal"],
  ["a negative balance", CHECK, ofAccount("available_cents = -1")],
  ["more than an account can hold", CHECK, ofAccount("available_cents = 1000000000000000")],
  ["a closed account with money", CHECK, ofAccount("status = 'CLOSED'")],
  ["an account whose newest row is older than its first", CHECK, ofAccount("last_seq = seq - 1")],

  ["a reserve that is not what is owed", CHECK, "UPDATE books SET reserve_cents = reserve_cents + 1"],
  ["a shortfall that nobody is owed", CHECK, "UPDATE books SET shortfall_cents = shortfall_cents + 1"],
  ["a reserve below zero without a shortfall", CHECK, "UPDATE books SET reserve_cents = -1, available_cents = 0"],
  ...["available_cents", "held_cents", "unallocated_cents"].flatMap(
    (sum) =>
      [
        [`${sum} that nothing backs`, CHECK, `UPDATE books SET ${sum} = ${sum} + 1`],
        [
          `negative ${sum}, though the sums are equal`,
          CHECK,
          sum === "available_cents"
            ? "UPDATE books SET available_cents = -1, held_cents = 101"
            : `UPDATE books SET ${sum} = -1, available_cents = 101`,
        ],
        [
          `${sum} past 2^53 - 1, though the sums are equal`,
          CHECK,
          `UPDATE books SET ${sum} = ${BIGGER}, shortfall_cents = ${BIGGER} - 100
                 ${sum === "available_cents" ? "" : ", available_cents = 0"}`,
        ],
      ] as const,
  ),
  [
    "a reserve past 2^53 - 1, though the sums are equal",
    CHECK,
    `UPDATE books SET reserve_cents = ${BIGGER}, available_cents = ${MAX}, held_cents = 1`,
  ],
  [
    "a shortfall past 2^53 - 1, though the sums are equal",
    CHECK,
    `UPDATE books SET shortfall_cents = ${BIGGER}, reserve_cents = 0, available_cents = ${MAX}, held_cents = 1`,
  ],
  [
    "a negative shortfall, though the sums are equal",
    CHECK,
    "UPDATE books SET shortfall_cents = -1, reserve_cents = 101",
  ],
  ["a book in a state that does not exist", CHECK, "UPDATE books SET state = 'LOST'"],
  [
    "a second book of an organization",
    UNIQUE,
    `INSERT INTO books (number, organization_id, state, suspended_seq, last_seq, last_recorded_at,
             reserve_cents, shortfall_cents, available_cents, held_cents, unallocated_cents, mac)
           SELECT number + 1, organization_id, state, suspended_seq, last_seq, last_recorded_at,
             reserve_cents, shortfall_cents, available_cents, held_cents, unallocated_cents, mac FROM books`,
  ],

  ["a completed transaction without its time", CHECK, ofMint("completed_at = NULL")],
  ["a reversal that names no original", CHECK, ofMint("correction = 'REVERSAL'")],
  ["a link that says nothing of the correction", CHECK, ofMint("corrects_id = id")],
  ["a correction of a kind that does not exist", CHECK, ofMint("corrects_id = id, correction = 'REFUND'")],
  [
    "a correction of a transaction that does not exist",
    FOREIGN_KEY,
    ofMint("corrects_id = 'txn_other', correction = 'REVERSAL'"),
  ],
  ["a second reversal of a transaction", UNIQUE, ofMint("corrects_id = '{reversed}', correction = 'REVERSAL'")],
  [
    "a reversal of a transaction that is not completed",
    CHECK,
    ofMint("reversed_by_id = id, status = 'PENDING', completed_at = NULL"),
  ],
  ["a reversal of a reversal", CHECK, "UPDATE transactions SET reversed_by_id = id WHERE corrects_id = '{reversed}'"],
  ["an amount of zero", CHECK, ofMint("amount_cents = 0")],

  ...PERSONAL.flatMap(
    (column) =>
      [
        [
          `a holder without ${column} alone`,
          CHECK,
          `UPDATE account_holders SET ${column} = NULL WHERE account_id = '{account}'`,
        ],
        [`an erased holder that has ${column} still`, CHECK, erasedBut(column)],
      ] as const,
  ),
  ["an erased holder that has email_index still", CHECK, erasedBut("email_index")],
  [
    "a user_id that has an account already",
    UNIQUE,
    "UPDATE account_holders SET user_id = 'user' WHERE account_id = '{empty}'",
  ],

  ["a second end of a transaction", UNIQUE, doubledRow({ kind: "'transaction.canceled'" })],
  ["a posting on one side only", CHECK, doubledRow({ kind: "'transaction.pending'", credit: "NULL" })],
  ["a posting without an amount", CHECK, doubledRow({ kind: "'transaction.pending'", amount_cents: "NULL" })],
  ["a posting to one account twice", CHECK, doubledRow({ kind: "'transaction.pending'", credit: "debit" })],
  [
    "a posting to a book account that does not exist",
    CHECK,
    doubledRow({ kind: "'transaction.pending'", credit: "'profit'" }),
  ],
  ["a row that names a later one as the one before it", CHECK, quietRow({ previous_seq: "seq + 1000" })],
  ["a second row with one seq", UNIQUE, quietRow({ seq: "seq" })],
  ["a row before the first", CHECK, quietRow({ seq: "0", previous_seq: "NULL" })],
  ["a row of a book that does not exist", FOREIGN_KEY, quietRow({ book: "book + 1000" })],
  ["a row with an account and without its balances", CHECK, quietRow({ available_after_cents: "NULL" })],
  ["a row with half of an account's balances", CHECK, quietRow({ held_after_cents: "NULL" })],
  [
    "a row with balances of no account",
    CHECK,
    quietRow({ kind: "'organization.created'", account_id: "NULL", previous_seq: "NULL" }),
  ],
  ["a row of no account that follows one of an account", CHECK, quietRow(ofNoAccount)],
  ["a row of a transaction without its id", CHECK, quietRow({ kind: "'transaction.pending'" })],
  ["a row of an account that names a transaction", CHECK, quietRow({ transaction_id: "transaction_id" })],
  ["a freeze in the journal without its id", CHECK, quietRow({ kind: "'account.frozen'" })],
  ["a row that names a freeze and is none", CHECK, quietRow({ freeze_id: "'{freeze}'" })],
  ["a second end of a freeze", UNIQUE, quietRow({ kind: "'account.unfrozen'", freeze_id: "'{freeze}'" })],
  ["a freeze that does not exist", FOREIGN_KEY, quietRow({ kind: "'account.frozen'", freeze_id: "'frz_other'" })],
  ["a freeze for a reason that does not exist", CHECK, "UPDATE freezes SET reason_code = 'BOREDOM'"],
  ["a freeze that ended before it began", CHECK, "UPDATE freezes SET lifted_at = created_at - 1"],
  ...["lifted_by", "lifted_at", "lift_reason"].map(
    (column) => [`the end of a freeze without ${column}`, CHECK, `UPDATE freezes SET ${column} = NULL`] as const,
  ),
  ["a negative number of open payments", CHECK, ofAccount("open_payments = -1")],
  [
    "a closed account with an open payment",
    CHECK,
    "UPDATE accounts SET status = 'CLOSED', open_payments = 1 WHERE id = '{empty}'",
  ],
  ["a failed transaction without a failure", CHECK, ofMint("status = 'FAILED', completed_at = NULL")],
  ["a completed transaction with a failure", CHECK, ofMint("failure = 'EXPIRED'")],
  ["a failure that does not exist", CHECK, ofMint("status = 'FAILED', completed_at = NULL, failure = 'BORED'")],
  [
    "a receipt of a transaction that is not completed",
    CHECK,
    ofMint("status = 'PENDING', completed_at = NULL, rail_receipt = 'r9'"),
  ],
  ["a mint that is held", CHECK, ofMint("held_for = 'AMOUNT'")],
  ["a later failure beside another one", CHECK, ofMint("later_failure = 'REFUSED_BY_OPERATOR'")],
  ["an empty list of flags", CHECK, ofMint("open_flags = ''")],
  ["a movement that another transaction has", UNIQUE, ofMint("rail_movement = 'm1'")],
  ["a receipt that another row has", UNIQUE, doubledRow({ kind: "'transaction.receipted'", rail_receipt: "'r1'" })],
  ["a payment of no transaction", FOREIGN_KEY, paymentOf("paid", "transaction_id = 'txn_other'")],
  ["a payment in a state that does not exist", CHECK, paymentOf("paid", "state = 'LOST'")],
  ["an open payment without a phone number", CHECK, paymentOf("paid", "state = 'READY'")],
  ["a payment that is sent and was never begun", CHECK, paymentOf("open", "state = 'SENDING'")],
  ["an ended payment with its phone number", CHECK, paymentOf("open", "state = 'ENDED'")],
  ["a proposal by nobody", CHECK, "UPDATE proposals SET person = ''"],
  [
    "a proposal that was done before it was made",
    CHECK,
    "UPDATE proposals SET done_at = proposed_at - 1, decision = 'LAPSED'",
  ],
  ["a proposal that was done without a decision", CHECK, "UPDATE proposals SET done_at = proposed_at, decision = NULL"],
  ["a second proposal about a subject", UNIQUE, "INSERT INTO proposals SELECT * FROM proposals"],
  ["a content hash that is too short", CHECK, quietRow({ content_hash: "substr(content_hash, 2)" })],
];

const taken: readonly [what: string, sql: string][] = [
  [
    "a reserve below zero, with a shortfall that says why",
    `UPDATE books SET reserve_cents = -1, shortfall_cents = ${MAX}, available_cents = ${MAX} - 1`,
  ],
  [
    "each sum at 2^53 - 1",
    `UPDATE books SET reserve_cents = ${MAX}, shortfall_cents = ${MAX}, available_cents = ${MAX},
           held_cents = ${MAX}, unallocated_cents = 0`,
  ],
  [
    "unallocated money at 2^53 - 1",
    `UPDATE books SET reserve_cents = ${MAX}, shortfall_cents = 0, available_cents = 0, held_cents = 0,
           unallocated_cents = ${MAX}`,
  ],
  [
    "a holder without an index of an e-mail address",
    "UPDATE account_holders SET email_index = NULL WHERE account_id = '{account}'",
  ],
  ["an erased holder", erasedBut("", "empty")],
  ["a row of no account", quietRow({ ...ofNoAccount, previous_seq: "NULL" })],
];

// The database refuses rows that can't be true, whatever our own code does.
for (const engine of ENGINES) {
  describe(`the schema on ${engine}`, () => {
    const opened = databaseOfSuite(engine);
    let ids: Ids;

    before(async () => {
      const { database, cell } = opened;
      const now = toUnixMillis(Date.now());
      const organizationId = (await keys(database, () => now).createOrganization("guarded")).id;
      const account = createAccount(organizationId, "user", { email: "a@example.com" as EmailAddress });
      const empty = createAccount(organizationId, "empty");
      const deposit = mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference: "guarded" });
      const doubled = { organizationId, accountId: empty.newAccountId, amount: "1.00", reference: "doubled" };
      const reversed = mint(doubled);
      const undo = reverse(organizationId, reversed.newTransactionId);
      const freeze = freezeAccount(organizationId, empty.newAccountId);
      const lift = unfreezeAccount(organizationId, empty.newAccountId, freeze.newFreezeId);
      const railed = { organizationId, accountId: account.newAccountId, amount: "1.00", rail: SLOW_RAIL };
      const paid = mint({ ...railed, reference: "paid" });
      const open = mint({ ...railed, reference: "open" });
      const orders = [
        paid,
        open,
        beginPayment(organizationId, paid.newTransactionId),
        completePayment(organizationId, paid.newTransactionId, { movement: "m1", receipt: "r1" }),
        setRailAccount(organizationId, { resolveAloneMaxCents: MAX_CENTS }),
        correctBook("bookReceipt", organizationId, { amountCents: 1, key: "c", target: "r2" }),
        correctBook("returnUnallocated", organizationId, { amountCents: 1, key: "d", target: "r3" }),
        // The sums are those of the first mint again.
        redeem({ ...railed, reference: "back", rail: DIRECT_RAIL }),
      ];
      const commands = [account, empty, deposit, reversed, undo, freeze, lift, ...orders];
      const answers = await cell.committer.commit(commands, now);
      expect(answers.map(({ kind }) => kind)).to.deep.equal(commands.map(() => "done"));
      ids = {
        account: account.newAccountId,
        transaction: deposit.newTransactionId,
        reversed: reversed.newTransactionId,
        empty: empty.newAccountId,
        freeze: freeze.newFreezeId,
        paid: paid.newTransactionId,
        open: open.newTransactionId,
      };
    });

    for (const [what, refusal, sql] of refused) {
      it(`refuses ${what}`, async () => {
        const answered = await execute(opened.address, filled(sql, ids)).then(() => "taken", String);
        expect(answered).to.match(refusal);
      });
    }

    for (const [what, sql] of taken) {
      it(`takes ${what}`, async () => {
        await execute(opened.address, filled(sql, ids));
      });
    }
  });
}
