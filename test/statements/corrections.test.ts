import { expect } from "chai";

import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { toJournalLine } from "../../src/grpc/messages/history/statement.js";
import { keys } from "../../src/storage/keys.js";
import { commitAll } from "../support/commit.js";
import { databaseOfSuite, ENGINES } from "../support/databases.js";
import { newAccountId } from "../support/names.js";
import { createAccount } from "../support/operations/accounts.js";
import { correctBook } from "../support/operations/corrections.js";
import { receiveDeposit, reverseDeposit } from "../support/operations/deposits.js";
import { mint, reverse } from "../support/operations/transactions.js";
import { historyOf } from "./random-history.js";

/** A moment in Kenya. */
const at = (text: string): UnixMillis => toUnixMillis(Date.parse(`${text}+03:00`));

for (const engine of ENGINES) {
  describe(`the month that a correction corrects (${engine})`, () => {
    const opened = databaseOfSuite(engine);

    it("is that of the movement in Kenya, unless both are of one month", async () => {
      const october = at("2026-10-31T23:59:00");
      const { id } = await keys(opened.database, () => october).createOrganization("corrected");
      const moved = { organizationId: id, accountId: newAccountId(), amount: "10.00" };
      const [undone, adjusted, nameless] = [
        mint({ ...moved, reference: "a" }),
        mint({ ...moved, reference: "b", receipt: "kcb:B" }),
        mint({ ...moved, reference: "c" }),
      ];
      const deposit = receiveDeposit(id);
      const account = createAccount(id, "amina", { newAccountId: moved.accountId });
      const commit = (commands: Parameters<typeof commitAll>[1], now: UnixMillis): Promise<void> =>
        commitAll(opened.cell, commands, now);
      await commit([account, undone, adjusted, nameless, deposit], october);
      const own = mint({ ...moved, reference: "d" });
      const by = { amountCents: 100, account: moved.accountId };
      const november = at("2026-11-01T00:00:00");
      await commit([own, reverse(id, undone.newTransactionId), reverse(id, own.newTransactionId)], november);
      // The first proposes, and the second approves.
      for (const person of ["amina", "barasa"]) {
        const corrections = [
          correctBook("adjustMovement", id, { ...by, key: "k1", target: "kcb:B", person }),
          correctBook("adjustMovement", id, { ...by, key: "k2", target: nameless.newTransactionId, person }),
          reverseDeposit(id, deposit.newDepositId, { person }),
        ];
        await commit(corrections, november);
      }
      const { history } = historyOf(opened.database, id);
      const { result } = await history.reads.bookLines(id, { afterSeq: 0, toSeq: 100, size: 100 });
      const all = { filter: {}, startSeq: 1, endSeq: 100, size: 100, beforeSeq: undefined };
      const page = await history.reads.journal(id, all);
      const monthsOf = (lines: typeof result.lines) =>
        lines
          .map((line) => toJournalLine(line, { organizationId: id }))
          .filter(({ date, type }) => date === "2026-11-01" && !type.startsWith("book.propos"))
          .map(({ type, corrects_month }) => [type, corrects_month]);
      expect(monthsOf(result.lines)).to.deep.equal([
        ["transaction.completed", undefined],
        ["transaction.completed", "2026-10"],
        ["transaction.completed", undefined],
        ["book.adjusted", "2026-10"],
        ["book.adjusted", "2026-10"],
        ["deposit.reversed", "2026-10"],
      ]);
      expect(monthsOf(page.result.rows.toReversed())).to.deep.equal(monthsOf(result.lines));
    });
  });
}
