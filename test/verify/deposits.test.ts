import { expect } from "chai";

import { ENGINES } from "../support/databases.js";
import { depositReference } from "../support/names.js";
import { correctBook } from "../support/operations/corrections.js";
import { receiveDeposit } from "../support/operations/deposits.js";
import { mint } from "../support/operations/transactions.js";
import { GivenBooks } from "./given/books.js";
import { makeDeposits } from "./given/deposits.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

/** The seq of the row by which a correction gives 4.00 to an account. */
const ALLOCATED = 32;
const DEPOSIT = `book, rail, rail_account_id, amount_cents, status, reason, credits, created_at, updated_at`;
/** The account whose person is erased. */
const ERASED = "(SELECT account_id FROM account_holders WHERE user_id IS NULL)";

const TAMPERINGS: readonly (readonly [name: string, statements: readonly string[], finding: RegExp])[] = [
  ["a missing deposit", ["DELETE FROM deposits WHERE seq = 8"], /^deposits 8 dep_\S+: a row \| none$/m],
  [
    "a deposit from nowhere, older than the journal's last row",
    [
      `INSERT INTO deposits (seq, id, receipt, ${DEPOSIT}) SELECT 2, 'dep_new', 'd20', ${DEPOSIT} FROM deposits WHERE seq = 8`,
    ],
    /^deposits 2 dep_new: a journal row that received it \| none$/m,
  ],
  [
    "a deposit from nowhere, newer than the journal",
    [
      `INSERT INTO deposits (seq, id, receipt, ${DEPOSIT}) SELECT 999, 'dep_new', 'd20', ${DEPOSIT} FROM deposits WHERE seq = 8`,
    ],
    /^deposits 999 dep_new: a journal row that received it \| none$/m,
  ],
  [
    "a second deposit for the shillings of a mint",
    ["UPDATE transactions SET deposit_id = (SELECT id FROM deposits WHERE seq = 6) WHERE seq = 12"],
    /^journal 12 dep_\S+: no row of it once it is CREDITED \| transaction\.completed$/m,
  ],
  [
    "a credit that is taken back without its mint",
    ["UPDATE transactions SET corrects_id = 'txn_other' WHERE seq = 11"],
    /^transactions 11 txn_\S+: corrects_id txn_\S+ \| corrects_id txn_other$/m,
  ],
  [
    "a mint that claims a deposit with another receipt",
    ["UPDATE transactions SET rail_receipt = 'd2' WHERE seq = 21"],
    /^transactions 21 txn_\S+: rail_receipt d6 \| rail_receipt d2$/m,
  ],
  [
    "a payment for a mint that credits a deposit",
    [
      `INSERT INTO payments (transaction_id, book, rail_account_id, direction, state, masked_phone, sends, turned_away, due_at, ahead_millis, updated_at)
         SELECT id, book, 'rail account', type, 'ENDED', '', 0, 0, 0, 0, updated_at FROM transactions WHERE seq = 7`,
    ],
    /^payments \d+ txn_\S+: no payment without an order \| a row$/m,
  ],
  [
    "shillings of deposits that a correction gave away",
    ["UPDATE journal SET amount_cents = 100 WHERE kind = 'book.received'"],
    new RegExp(
      `^journal ${String(ALLOCATED)} : no use of the shillings of deposits that wait \\| 3\\.00 of them$`,
      "m",
    ),
  ],
  [
    "a deposit that names what the book did not have",
    ["UPDATE journal SET rail_receipt = 'kcb:d31' WHERE rail_receipt = 'kcb:d30'"],
    /^journal \d+ dep_\S+: an earlier row with the number from another source \| kcb:d30 txn_\S+$/m,
  ],
  [
    "what a payer typed, still there after the erasure of the account",
    [`UPDATE accounts SET updated_at = updated_at - 90000000 WHERE id = ${ERASED}`],
    /^deposits \d+ dep_\S+: no typed_reference a day after the erasure of its account \| one$/m,
  ],
];

/** Beside the rows of makeDeposits: what a correction gives away, and an account that is erased. */
async function makeOthers(books: GivenBooks): Promise<void> {
  const fay = await books.createAccount("fay", { depositReferences: [depositReference(2)] });
  await books.do((id) => correctBook("bookReceipt", id, { amountCents: 400, key: "book", target: "r1" }));
  await books.do((id) => correctBook("allocate", id, { amountCents: 400, key: "give", target: fay.id }));
  await books.do((id) => receiveDeposit(id, { receipt: "d9", typed: depositReference(2) }));
  const gail = await books.createAccount("gail");
  await books.do((organizationId) =>
    mint({ organizationId, accountId: gail.id, amount: "5.00", reference: "by hand", receipt: "kcb:d30" }),
  );
  await books.do((id) => receiveDeposit(id, { receipt: "d30" }));
  await books.move("redeem", fay, "9.00");
  await books.close(fay, "moved away");
  await books.erase(fay);
}

for (const engine of ENGINES) {
  describe(`verify on ${engine}, of a book with deposits`, () => {
    let unguarded: Unguarded;
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => {
        const books = await GivenBooks.open(database);
        await makeDeposits(books);
        await makeOthers(books);
      });
    });
    after(() => unguarded.dispose());

    it("finds nothing in deposits that came, were credited, taken back and returned", async () => {
      expect(findingsOnRows(await unguarded.verifyAfter([]))).to.deep.equal([]);
    });

    for (const [name, statements, finding] of TAMPERINGS) {
      it(`finds ${name}`, async () => {
        expect(findingsOnRows(await unguarded.verifyAfter(statements)).join("\n")).to.match(finding);
      });
    }
  });
}
