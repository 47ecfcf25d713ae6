import { expect } from "chai";

import type { AccountId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { accountAsOf, type History, positionOf, sumsAsOf } from "../../src/statements/as-of.js";
import { ACCOUNT_MARK_ROWS } from "../../src/statements/mark-ports.js";
import { balancesAt, checkClosing, footed, rowsOf } from "../../src/statements/statement.js";
import { keys } from "../../src/storage/keys.js";
import { reads } from "../../src/storage/reads.js";
import { databaseOfSuite, ENGINES_OF_STAGE, execute } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { closeAccount, createAccount } from "../support/operations/accounts.js";
import { mint, redeem } from "../support/operations/transactions.js";
import { byStage } from "../support/stage.js";
import { historyOf, markAll, RandomHistory } from "./random-history.js";

const START = Date.UTC(2026, 10, 1);
const TIMES = byStage({ test: 150, check: 1_000 });

for (const engine of ENGINES_OF_STAGE) {
  describe(`the past of a book (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let made: RandomHistory;
    before(async function () {
      this.timeout(120_000);
      made = await RandomHistory.make(opened.database, { seed: 17, start: START, accounts: 12, batches: 150 });
    });

    async function accountAt(history: History, accountId: AccountId, before: UnixMillis) {
      const account = await reads(opened.cell).account(made.organizationId, accountId);
      if (account === undefined) throw new Error(`no account ${accountId}`);
      const { seq } = await positionOf(history, { before });
      return accountAsOf(history, { account, seq });
    }

    /** Compares balances and status with the model, at random times. */
    async function expectAsModel(times: number): Promise<void> {
      const { history } = historyOf(opened.database, made.organizationId);
      for (let round = 0; round < times; round++) {
        const [time, accountId] = [made.anyTime(), made.anyAccount()];
        const expected = made.before(time)?.states.get(accountId);
        const found = await accountAt(history, accountId, time);
        const shown =
          found === undefined
            ? undefined
            : {
                availableCents: found.availableCents as number,
                heldCents: found.heldCents as number,
                status: found.status,
                freezes: found.freezes.map(({ id }) => id),
              };
        expect(shown, `${accountId} before ${new Date(time).toISOString()}`).to.deep.equal(expected);
      }
    }

    /** Reads a statement in small pages, and compares its lines with the model. */
    async function expectStatement(accountId: AccountId, from: UnixMillis, to: UnixMillis): Promise<void> {
      const { history } = historyOf(opened.database, made.organizationId);
      const { organizationId, reads: own } = history;
      const { afterSeq, toSeq } = await rowsOf(history, { start: from, end: to });
      const opening = await balancesAt(history, { accountId, seq: afterSeq });
      const closing = await balancesAt(history, { accountId, seq: toSeq });
      let footing = { inCents: 0, outCents: 0, balances: opening };
      let next: number | undefined = afterSeq;
      let last = afterSeq;
      while (next !== undefined) {
        const request = { accountId, afterSeq: next, toSeq, size: 100 };
        const { result } = await own.accountLines(organizationId, request);
        expect(result.lines.length).to.be.at.most(100);
        for (const line of result.lines) {
          expect(line.seq).to.be.greaterThan(last).and.at.most(toSeq);
          footing = footed(footing, line);
          last = line.seq;
        }
        next = result.nextAfterSeq;
      }
      checkClosing({ opening, closing, footing });
      const totals = [from, to].map((time) => made.before(time)?.totals.get(accountId));
      const [before, after] = totals.map((total) => total ?? { inCents: 0, outCents: 0 });
      expect({ inCents: footing.inCents, outCents: footing.outCents }).to.deep.equal({
        inCents: (after?.inCents ?? 0) - (before?.inCents ?? 0),
        outCents: (after?.outCents ?? 0) - (before?.outCents ?? 0),
      });
    }

    async function expectStatements(count: number): Promise<void> {
      await expectStatement(made.accounts[0] as AccountId, toUnixMillis(START), made.end);
      for (let round = 0; round < count; round++) {
        const [one, other] = [made.anyTime(), made.anyTime()];
        if (one === other) continue;
        await expectStatement(
          made.anyAccount(),
          toUnixMillis(Math.min(one, other)),
          toUnixMillis(Math.max(one, other)),
        );
      }
    }

    /** Compares the sums of the book at random rows with those of the accounts in the model. */
    async function expectSums(count: number): Promise<void> {
      const { history } = historyOf(opened.database, made.organizationId);
      for (let round = 0; round < count; round++) {
        const time = made.anyTime();
        const { seq } = await positionOf(history, { before: time });
        const { sums, turnover } = await sumsAsOf(history, seq);
        const states = [...(made.before(time)?.states.values() ?? [])];
        const available = states.reduce((sum, state) => sum + state.availableCents, 0);
        const held = states.reduce((sum, state) => sum + state.heldCents, 0);
        expect(sums).to.deep.equal({
          reserve: available + held,
          shortfall: 0,
          charges: 0,
          available,
          held,
          unallocated: 0,
        });
        const totals = [...(made.before(time)?.totals.values() ?? [])];
        expect(turnover).to.deep.equal({
          minted: BigInt(totals.reduce((sum, { inCents }) => sum + inCents, 0)),
          redeemed: BigInt(totals.reduce((sum, { outCents }) => sum + outCents, 0)),
        });
      }
    }

    it("is right without marks, and each step looks at a bounded number of rows", async function () {
      this.timeout(120_000);
      await expectAsModel(50);
      await expectStatements(8);
      await expectSums(10);
      const { history, lookedAt } = historyOf(opened.database, made.organizationId);
      await accountAt(history, made.accounts[0] as AccountId, toUnixMillis(START + 2_500));
      expect(Math.max(...lookedAt)).to.be.at.most(256);
      expect(lookedAt.length).to.be.greaterThan(5);
    });

    it("has a mark at every 64th row of an account, and none elsewhere", async function () {
      this.timeout(60_000);
      const saved = await markAll(opened.database);
      expect(saved.map(({ mark }) => mark.seq)).to.deep.equal([2_048, 4_096, 6_144]);
      const rows = await execute<{ seq: number | string; account_id: string }>(
        opened.address,
        "SELECT seq, account_id FROM journal WHERE account_id IS NOT NULL AND seq <= 6144 ORDER BY seq",
      );
      const counts = new Map<string, number>();
      const expected = rows.filter(({ account_id: id }) => {
        counts.set(id, (counts.get(id) ?? 0) + 1);
        return (counts.get(id) ?? 0) % ACCOUNT_MARK_ROWS === 0;
      });
      const marks = await execute<{ seq: number | string; account_id: string }>(
        opened.address,
        "SELECT seq, account_id FROM account_marks ORDER BY seq",
      );
      const plain = (found: typeof rows): unknown[] => found.map(({ seq, account_id: id }) => [Number(seq), id]);
      expect(plain(marks)).to.deep.equal(plain(expected));
    });

    it("writes nothing in a second round, and the same marks after another server's", async () => {
      expect(await markAll(opened.database)).to.deep.equal([]);
      const marks = () => execute(opened.address, "SELECT * FROM account_marks ORDER BY seq");
      const before = await marks();
      await execute(opened.address, "DELETE FROM book_marks");
      expect((await markAll(opened.database)).length).to.equal(3);
      expect(await marks()).to.deep.equal(before);
    });

    it(`is the model's at ${String(TIMES)} random times`, async function () {
      this.timeout(120_000);
      await expectAsModel(TIMES);
      await expectSums(100);
    });

    it("has statements whose totals are the model's", async function () {
      this.timeout(120_000);
      await expectStatements(60);
    });

    it("reaches a balance in one step of at most 64 rows, where a mark lies past it", async () => {
      const { history, lookedAt } = historyOf(opened.database, made.organizationId);
      const { seq } = await positionOf(history, { before: toUnixMillis(START + 20_500) });
      lookedAt.length = 0;
      await balancesAt(history, { accountId: made.accounts[0] as AccountId, seq });
      expect(lookedAt).to.have.lengthOf(1);
      expect(lookedAt[0]).to.be.at.most(ACCOUNT_MARK_ROWS);
    });

    it("shows an account as active before it was closed, and as closed from then on", async () => {
      const now = toUnixMillis(START);
      const { id } = await keys(opened.database, () => now).createOrganization("closing");
      const { newAccountId, ...created } = createAccount(id, "user");
      const given = { organizationId: id, accountId: newAccountId, amount: "1.00" };
      const commands = [
        { ...created, newAccountId },
        mint({ ...given, reference: "in" }),
        redeem({ ...given, reference: "out" }),
        closeAccount(id, newAccountId),
      ];
      const results = await opened.cell.committer.commit(commands, now);
      expect(results.map(({ kind }) => kind)).to.deep.equal(["done", "done", "done", "done"]);
      const { history } = historyOf(opened.database, id);
      const account = await reads(opened.cell).account(id, newAccountId);
      if (account === undefined) throw new Error("there is no account");
      const { seq: last } = await positionOf(history, { before: toUnixMillis(START + 1) });
      const statuses: unknown[] = [];
      for (let seq = last - 4; seq <= last; seq += 1) {
        statuses.push((await accountAsOf(history, { account, seq }))?.status);
      }
      expect(statuses).to.deep.equal([undefined, "ACTIVE", "ACTIVE", "ACTIVE", "CLOSED"]);
    });

    it("does not follow a mark to a row of another account", async () => {
      await execute(opened.address, "CREATE TABLE kept AS SELECT * FROM account_marks");
      const { history } = historyOf(opened.database, made.organizationId);
      const [, other] = made.accounts;
      const first = "seq = (SELECT MIN(seq) FROM account_marks)";
      await execute(opened.address, `UPDATE account_marks SET account_id = '${String(other)}' WHERE ${first}`);
      const firstFindings = await findingsIn(opened.database);
      expect(firstFindings.map(({ table }) => table)).to.deep.equal(["account_marks"]);
      const read = await balancesAt(history, { accountId: other as AccountId, seq: 20 }).catch(String);
      expect(read).to.match(/does not begin at a row of its account/);
      await execute(
        opened.address,
        "DELETE FROM account_marks",
        "INSERT INTO account_marks SELECT * FROM kept",
        "DROP TABLE kept",
      );
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    });
  });
}
