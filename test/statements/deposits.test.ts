import { expect } from "chai";

import type { AccountId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { sumsAsOf } from "../../src/statements/as-of.js";
import {
  exportGeneralLedger,
  exportJournal,
  exportStatement,
  type LedgerLine,
  type StatementLine,
} from "../../src/statements/exports.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { GivenBooks } from "../verify/given/books.js";
import { makeDeposits } from "../verify/given/deposits.js";
import { historyOf } from "./random-history.js";

const ALWAYS = { start: toUnixMillis(1), end: toUnixMillis(Date.UTC(2100, 0, 1)) };

async function all<Line>(parts: AsyncGenerator<readonly Line[]>): Promise<readonly Line[]> {
  const lines: Line[] = [];
  for await (const part of parts) lines.push(...part);
  return lines;
}

for (const engine of ENGINES) {
  describe(`the exports of a book with deposits (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let books: GivenBooks;
    before(async () => {
      books = await GivenBooks.withoutKey(opened.database);
      await makeDeposits(books);
    });

    it("have each credit in the statement of its account, with its amount and the deposit's receipt", async () => {
      const { history } = historyOf(opened.database, books.organizationId);
      const [dina] = await execute<{ readonly id: AccountId }>(opened.address, "SELECT id FROM accounts WHERE seq = 2");
      if (dina === undefined) throw new Error("there is no account");
      const lines = await all<StatementLine>(exportStatement(history, { accountId: dina.id, ...ALWAYS }));
      const shown = lines.map(({ seq, line, inCents = 0, outCents = 0, balances }) =>
        [seq, line?.receipt ?? "", inCents, outCents, balances.availableCents].join(" "),
      );
      expect(shown).to.deep.equal([
        "0  0 0 0",
        "6 d1 500 0 500",
        "11 d3 500 0 1000",
        "12 b3 0 500 500",
        "20 d6 500 0 1000",
        "26 d8 500 0 1500",
        "27  0 1200 300",
        "28  2000 1700 300",
      ]);
    });

    it("have the accounts from which the sums after each row follow, with minted and redeemed", async () => {
      const { history } = historyOf(opened.database, books.organizationId);
      const derived: Record<string, bigint> = {};
      const add = (name: string, cents: bigint): void => {
        derived[name] = (derived[name] ?? 0n) + cents;
      };
      const outside = /^(reserve|shortfall|charges|unallocated)$/;
      for (const { seq, debit = "", credit = "", amountCents = 0 } of await all(exportJournal(history, ALWAYS))) {
        const cents = BigInt(amountCents);
        add(debit, cents);
        add(credit, -cents);
        if (outside.test(debit) && !outside.test(credit)) add("minted", cents);
        if (outside.test(credit) && !outside.test(debit)) add("redeemed", cents);
        const { sums, turnover } = await sumsAsOf(history, seq);
        for (const [name, sum] of Object.entries({ ...sums, ...turnover })) {
          const size = (derived[name] ?? 0n) * (/^(available|held|unallocated)$/.test(name) ? -1n : 1n);
          expect(BigInt(sum), `${name} after ${String(seq)}`).to.equal(size);
        }
        expect(Number(turnover.minted - turnover.redeemed)).to.equal(sums.available + sums.held);
      }
      expect(derived["minted"]).to.be.greaterThan(Number(derived["redeemed"]));
    });

    it("have the shillings of a deposit in the reserve once, and lead to the sums of the book", async () => {
      const { history } = historyOf(opened.database, books.organizationId);
      const lines = await all<LedgerLine>(exportGeneralLedger(history, ALWAYS));
      const closing = lines.filter(({ kind }) => kind === "closing");
      const sums = Object.fromEntries(closing.map(({ account, balanceCents }) => [account, balanceCents]));
      expect(sums).to.deep.equal({
        reserve: 300,
        shortfall: 500,
        charges: 0,
        available: 300,
        held: 0,
        unallocated: 500,
      });
      const ofReserve = lines.filter(({ account, line }) => account === "reserve" && line?.receipt === "d1");
      expect(ofReserve.map(({ kind, debitCents }) => [kind, debitCents])).to.deep.equal([["deposit.received", 500]]);
    });
  });
}
