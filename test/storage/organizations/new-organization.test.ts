import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { keys } from "../../../src/storage/keys.js";
import { verify } from "../../../src/verify/verify.js";
import { databaseOfSuite, ENGINES, execute, openDatabaseAt } from "../../support/databases.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";

const now = () => toUnixMillis(Date.now());

for (const engine of ENGINES) {
  describe(`new organizations (${engine})`, () => {
    const opened = databaseOfSuite(engine);

    it("each get a book of their own when several processes create them at once", async () => {
      const second = await openDatabaseAt(opened.url);
      try {
        const names = Array.from({ length: 10 }, (_, index) => `organization ${String(index)}`);
        await Promise.all(
          names.map((name, index) => keys(index % 2 === 0 ? opened.database : second, now).createOrganization(name)),
        );
      } finally {
        await second.close();
      }
      const books = await execute<{ number: number | string }>(
        opened.address,
        "SELECT number FROM books ORDER BY number",
      );
      expect(books.map(({ number }) => Number(number))).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect((await verify(opened.database)).findingsCount).to.equal(0);
    });

    it("without a book fail alone", async () => {
      const { id: lost } = await keys(opened.database, now).createOrganization("lost");
      const { id: kept } = await keys(opened.database, now).createOrganization("kept");
      const unguarded =
        engine === "sqlite" ? "DROP TRIGGER journal_refuses_delete" : "DROP TRIGGER journal_refuses_change ON journal";
      const book = `(SELECT number FROM books WHERE organization_id = '${lost}')`;
      await execute(
        opened.address,
        unguarded,
        `DELETE FROM journal WHERE book = ${book}`,
        `DELETE FROM book_keys WHERE book = ${book}`,
        `DELETE FROM books WHERE organization_id = '${lost}'`,
      );
      const account = createAccount(kept, "user");
      const [first, second, third] = await opened.cell.committer.commit(
        [
          createAccount(lost, "user"),
          account,
          mint({ organizationId: kept, accountId: account.newAccountId, amount: "1.00", reference: "one" }),
        ],
        now(),
      );
      expect(first?.kind).to.equal("bug");
      expect([second?.kind, third?.kind]).to.deep.equal(["done", "done"]);
    });
  });
}
