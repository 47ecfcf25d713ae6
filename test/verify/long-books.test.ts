import { expect } from "chai";

import { ENGINES } from "../support/databases.js";
import { GivenBooks } from "./given/books.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

/** Changes whose rows are not read by the same statement, because 5,000 rows are between them. */
const CHANGES = [
  [
    "a row too many of a transaction that ended long before",
    `UPDATE journal SET transaction_id = (SELECT id FROM transactions WHERE seq = 5), kind = 'transaction.pending'
       WHERE seq = 5050`,
    /journal 5050 txn_\S+: no row of a transaction that has ended \| transaction\.pending/,
  ],
  [
    "a transaction with a seq from long before",
    "UPDATE transactions SET seq = 2 WHERE seq = 5050",
    /seq 5050 \| seq 2/,
  ],
  ["a transaction with a seq from long after", "UPDATE transactions SET seq = 5104 WHERE seq = 5", /seq 5 \| seq 5104/],
  [
    "a transaction with a seq after the last row",
    "UPDATE transactions SET seq = 9999 WHERE seq = 5",
    /seq 5 \| seq 9999/,
  ],
  ["a missing transaction", "DELETE FROM transactions WHERE seq = 5050", /transactions 5050 txn_\S+: a row \| none/],
  ["a wrong balance after a row", "UPDATE journal SET available_after_cents = 7 WHERE seq = 5050", /available 0\.07/],
  ["a missing row", "DELETE FROM journal WHERE seq = 5050", /journal 5050 : a row \| no row/],
] as const;

for (const engine of ENGINES) {
  describe(`verify on ${engine}, in a book of more rows than one statement reads`, () => {
    let unguarded: Unguarded;
    before(async () => {
      unguarded = await openUnguarded(engine, async (database) => {
        const books = await GivenBooks.open(database);
        await books.mintOften(await books.createAccount("amina"), 5_100);
        await books.move("mint", await books.createAccount("brian"), "1.00");
      });
    });
    after(() => unguarded.dispose());

    it("finds nothing when nobody changed anything", async () => {
      expect(findingsOnRows(await unguarded.verifyAfter([]))).to.deep.equal([]);
    });

    for (const [name, statement, words] of CHANGES) {
      it(`names ${name}`, async () => {
        expect(findingsOnRows(await unguarded.verifyAfter([statement])).join("\n")).to.match(words);
      });
    }
  });
}
