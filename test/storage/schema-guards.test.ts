import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { createAccount, mint } from "../support/commands.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";

const attempts: readonly [what: string, sql: (ids: { account: string; transaction: string }) => string][] = [
  ["a changed row of the journal", () => "UPDATE journal SET amount_cents = 1"],
  ["a deleted row of the journal", () => "DELETE FROM journal"],
  ["a negative balance", ({ account }) => `UPDATE accounts SET available_cents = -1 WHERE id = '${account}'`],
  [
    "more than an account can hold",
    ({ account }) => `UPDATE accounts SET available_cents = 1000000000000000 WHERE id = '${account}'`,
  ],
  ["a closed account with money", ({ account }) => `UPDATE accounts SET status = 'CLOSED' WHERE id = '${account}'`],
  ["a reserve that is not what is owed", () => "UPDATE supply SET reserve_cents = reserve_cents + 1"],
  [
    "a completed transaction without its time",
    ({ transaction }) => `UPDATE transactions SET completed_at = NULL WHERE id = '${transaction}'`,
  ],
  ["an amount of zero", ({ transaction }) => `UPDATE transactions SET amount_cents = 0 WHERE id = '${transaction}'`],
  [
    "a second end of a transaction",
    () => `INSERT INTO journal SELECT seq + 1000000, organization_id, account_id, transaction_id, 'transaction.canceled',
           debit, credit, amount_cents, available_after_cents, held_after_cents, actor, reason, recorded_at, seq
           FROM journal WHERE transaction_id IS NOT NULL`,
  ],
  [
    "a posting on one side only",
    () => `INSERT INTO journal SELECT seq + 2000000, organization_id, account_id, transaction_id, 'transaction.pending',
           debit, NULL, amount_cents, available_after_cents, held_after_cents, actor, reason, recorded_at, seq
           FROM journal WHERE transaction_id IS NOT NULL`,
  ],
  [
    "a row that names a later one as the one before it",
    () => `INSERT INTO journal SELECT seq + 3000000, organization_id, account_id, NULL, 'account.frozen',
           NULL, NULL, NULL, available_after_cents, held_after_cents, actor, reason, recorded_at, seq + 3000000
           FROM journal WHERE transaction_id IS NOT NULL`,
  ],
];

// The database refuses rows that can't be true, whatever our own code does.
for (const engine of ENGINES) {
  describe(`the schema on ${engine}`, () => {
    let opened: TestDatabase;
    let ids: { account: string; transaction: string };

    before(async () => {
      opened = await openTestDatabase(engine);
      const { database, cell } = opened;
      const now = toUnixMillis(Date.now());
      const organizationId = (await keys(database, () => now).createOrganization("guarded")).id;
      const { committer } = cell;
      const account = createAccount(organizationId, "user");
      const deposit = mint({ organizationId, accountId: account.newAccountId, amount: "1.00", reference: "guarded" });
      const answers = await committer.commit([account, deposit], now);
      expect(answers.map(({ kind }) => kind)).to.deep.equal(["done", "done"]);
      ids = { account: account.newAccountId, transaction: deposit.newTransactionId };
    });
    after(() => opened.dispose());

    for (const [what, sql] of attempts) {
      it(`refuses ${what}`, async () => {
        const answered = await execute(opened.address, sql(ids)).then(() => "taken", String);
        expect(answered).to.match(/constraint|append-only/);
      });
    }
  });
}
