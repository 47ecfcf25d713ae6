import { expect } from "chai";

import type { Rail } from "../../../src/domain/transaction.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { BookedMovement } from "../../../src/reconcile/reconciliation.js";
import { bookedMovements } from "../../../src/storage/rails/booked-movements.js";
import { databaseOfSuite, ENGINES } from "../../support/databases.js";
import { correctBook } from "../../support/operations/corrections.js";
import { recordDeposit } from "../../support/operations/deposits.js";
import { GivenBooks } from "../../verify/given/books.js";
import { makeDeposits } from "../../verify/given/deposits.js";
import { heardPlans } from "../plans/heard-plans.js";

const ALWAYS = { from: toUnixMillis(0), to: toUnixMillis(Number.MAX_SAFE_INTEGER) };

for (const engine of ENGINES) {
  describe(`what a book with deposits says has moved at a rail (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let books: GivenBooks;
    before(async () => {
      books = await GivenBooks.open(opened.database);
      await makeDeposits(books);
      await books.do((id) => recordDeposit(id, { receipt: "kcb:1" }));
      const transfer = { amountCents: 700, key: "t", target: "kcb:2" };
      await books.do((id) => correctBook("explainTransfer", id, transfer));
    });

    const movementsAt = (rail: string) =>
      bookedMovements(opened.cell, { organizationId: books.organizationId, rail: rail as Rail });
    const textOf = ({ direction, receipt = "none", amountCents }: BookedMovement): string =>
      `${direction} ${receipt} ${String(amountCents)}`;
    const within = async (rail: string): Promise<readonly string[]> => {
      const texts: string[] = [];
      for await (const rows of (await movementsAt(rail)).within(ALWAYS)) texts.push(...rows.map(textOf));
      return texts;
    };

    it("has each deposit once, with what was returned and what the rail took back, and no credit", async () => {
      expect(await within("mpesa")).to.deep.equal([
        "in d1 500",
        "in d2 500",
        "in d3 500",
        "out b3 500",
        "in d4 500",
        "out b4 500",
        "in d5 2000",
        "out b5 2000",
        "in d6 500",
        "in d7 500",
        "out b7 500",
        "in d8 500",
        "out b8 500",
      ]);
    });

    it("has a deposit and a correction at the source of their receipts alone", async () => {
      expect(await within("kcb")).to.deep.equal(["in kcb:1 500", "out kcb:2 700"]);
    });

    it("finds deposits, and what went out of them, by their receipts", async () => {
      const found = await (await movementsAt("mpesa")).withReceipts(["d1", "b3", "b4", "b8", "d99"]);
      expect(found.map(textOf)).to.have.members(["in d1 500", "out b3 500", "out b4 500", "out b8 500"]);
    });

    it("reads no table from end to end for what a list names", async () => {
      const plans = await heardPlans(opened, async (cell) => {
        const heard = await bookedMovements(cell, { organizationId: books.organizationId, rail: "mpesa" as Rail });
        await heard.transactionsEndingWith(["w3xhb1z7q4ye"]);
        await heard.withReceipts(["d1"]);
        await heard.openPayouts();
      });
      const text = plans.flat().join("\n");
      expect(text).to.contain("payments_by_end").and.contain("journal_receipts");
      expect(text).to.contain("payments_other_open");
      expect(text).to.not.match(/SCAN (?:p|j|t)\b|Seq Scan/);
    });
  });
}
