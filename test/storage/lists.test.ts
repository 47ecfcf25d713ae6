import { expect } from "chai";

import type { Command } from "../../src/domain/commands.js";
import type { Transaction } from "../../src/domain/transaction.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { Page, PageRequest, Reads, TransactionFilters } from "../../src/ledger/ports/reads.js";
import { keys } from "../../src/storage/keys.js";
import { firstSeqFrom } from "../../src/storage/lists/first-seq-from.js";
import { LOOKED_AT_MAX } from "../../src/storage/lists/page.js";
import { reads } from "../../src/storage/reads.js";
import { createAccount, mint, redeem, SLOW_RAIL } from "../support/commands.js";
import { ENGINES, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { NOW } from "../support/given.js";

const BATCHES = 9;
const BATCH_SIZE = 500;
const STEP_MILLIS = 1_000;

/** More transactions than one page looks at, of two accounts. One in 1,000 is a redemption. */
for (const engine of ENGINES) {
  describe(`the lists of ${engine}`, function () {
    this.timeout(60_000);
    let opened: TestDatabase;
    let organizationId: OrganizationId;
    let stored: Reads;
    let busy: AccountId;
    let quiet: AccountId;
    /** Newest first. */
    let all: readonly Transaction[];

    before(async () => {
      opened = await openTestDatabase(engine);
      organizationId = (await keys(opened.database, () => NOW).createOrganization("lists")).id;
      stored = reads(opened.cell);
      const accounts = [createAccount(organizationId, "busy"), createAccount(organizationId, "quiet")] as const;
      await commit(accounts, 0);
      [busy, quiet] = [accounts[0].newAccountId, accounts[1].newAccountId];
      for (let batch = 0; batch < BATCHES; batch += 1) await commit(batchOf(batch), batch);
      all = await pagesOf((page) => stored.transactions(organizationId, {}, page), 1_000).then(rowsOf);
    });
    after(() => opened.dispose());

    function batchOf(batch: number): Command[] {
      return Array.from({ length: BATCH_SIZE }, (_, index) => {
        const number = batch * BATCH_SIZE + index;
        const movement = {
          organizationId,
          accountId: number % 10 === 3 ? quiet : busy,
          amount: "1.00",
          reference: `r${String(number)}`,
        };
        if (number % 1_000 === 500) return redeem(movement);
        return mint(number % 1_000 === 700 ? { ...movement, rail: SLOW_RAIL } : movement);
      });
    }

    async function commit(commands: readonly Command[], batch: number): Promise<void> {
      const results = await opened.cell.committer.commit(commands, toUnixMillis(NOW + batch * STEP_MILLIS));
      for (const result of results) expect(result.kind, JSON.stringify(result)).to.equal("done");
    }

    async function pagesOf<Row>(
      read: (page: PageRequest) => Promise<Page<Row>>,
      size: number,
    ): Promise<readonly (readonly Row[])[]> {
      const pages: (readonly Row[])[] = [];
      let beforeSeq: number | undefined;
      do {
        const { rows, nextBeforeSeq } = await read({ size, beforeSeq });
        expect(rows.length).to.be.at.most(size);
        pages.push(rows);
        beforeSeq = nextBeforeSeq;
      } while (beforeSeq !== undefined);
      return pages;
    }

    const rowsOf = <Row>(pages: readonly (readonly Row[])[]): readonly Row[] => pages.flat();

    const batchAt = (batch: number): { time: ReturnType<typeof toUnixMillis> } => ({
      time: toUnixMillis(NOW + batch * STEP_MILLIS),
    });

    const CASES: readonly (readonly [string, () => TransactionFilters])[] = [
      ["nothing", () => ({})],
      ["an account", () => ({ accountId: busy })],
      ["the other account", () => ({ accountId: quiet })],
      ["a rare type", () => ({ type: "REDEEM" })],
      ["a frequent type", () => ({ type: "MINT" })],
      ["a rare status", () => ({ status: "PENDING" })],
      ["a frequent status", () => ({ status: "COMPLETED" })],
      ["a status that none has", () => ({ status: "FAILED" })],
      ["a type and a status", () => ({ type: "MINT", status: "PENDING" })],
      ["a type and a frequent status", () => ({ type: "REDEEM", status: "COMPLETED" })],
      ["an account and a rare type", () => ({ accountId: busy, type: "REDEEM" })],
      ["an account and a rare status", () => ({ accountId: busy, status: "PENDING" })],
      ["a reference", () => ({ reference: all[77]?.reference as never })],
      [
        "a reference and another account",
        () => ({ reference: all[77]?.reference as never, accountId: quiet, type: "REDEEM" }),
      ],
      ["a time", () => ({ createdAfter: batchAt(3).time, createdBefore: batchAt(5).time })],
      ["the time after all", () => ({ createdAfter: batchAt(BATCHES).time })],
      ["the time before all", () => ({ createdBefore: NOW })],
      ["a time between two batches", () => ({ createdAfter: toUnixMillis(batchAt(6).time + 1) })],
      [
        "an account and a time",
        () => ({ accountId: busy, createdAfter: batchAt(1).time, createdBefore: batchAt(2).time }),
      ],
      ["everything", () => ({ accountId: busy, type: "REDEEM", status: "COMPLETED", createdAfter: batchAt(1).time })],
    ];

    it("know every transaction", () => {
      expect(all).to.have.lengthOf(BATCHES * BATCH_SIZE);
    });

    for (const [name, filtersOf] of CASES) {
      for (const size of [7, 1_000]) {
        it(`by ${name} have each transaction once, newest first, in pages of ${String(size)}`, async () => {
          const filters = filtersOf();
          const found = rowsOf(await pagesOf((page) => stored.transactions(organizationId, filters, page), size));
          const expected = all.filter(
            ({ accountId, type, status, reference, createdAt }) =>
              (filters.accountId ?? accountId) === accountId &&
              (filters.type ?? type) === type &&
              (filters.status ?? status) === status &&
              (filters.reference ?? reference) === reference &&
              createdAt >= (filters.createdAfter ?? 0) &&
              createdAt < (filters.createdBefore ?? Infinity),
          );
          expect(found.map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
        });
      }
    }

    it("look at a bounded number of rows for each page, also when few of them match", async () => {
      const pages = await pagesOf(
        (page) => stored.transactions(organizationId, { accountId: busy, type: "REDEEM" }, page),
        1_000,
      );
      const ofBusy = all.filter(({ accountId }) => accountId === busy).length;
      expect(pages).to.have.lengthOf(Math.ceil((ofBusy + 1) / LOOKED_AT_MAX));
    });

    it("go on where they were while others add rows", async () => {
      const filters: TransactionFilters = { status: "PENDING" };
      const first = await stored.transactions(organizationId, filters, { size: 2, beforeSeq: undefined });
      await commit([createAccount(organizationId, `late${String(Math.random())}`)], BATCHES);
      const second = await stored.transactions(organizationId, filters, { size: 100, beforeSeq: first.nextBeforeSeq });
      const expected = all.filter(({ status }) => status === "PENDING");
      expect([...first.rows, ...second.rows].map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
    });

    it("find the first row of a time", async () => {
      const rows = await opened.cell.listReader.rows<{ seq: number; recorded_at: number }>(
        `SELECT seq, recorded_at FROM ${opened.cell.engine.table("journal")} WHERE book = 1 ORDER BY seq`,
      );
      const firstFrom = (time: number): number => rows.find((row) => row.recorded_at >= time)?.seq ?? rows.length + 1;
      for (const millis of [
        0,
        NOW - 1,
        NOW,
        NOW + 1,
        ...rows.filter(({ seq }) => seq % 613 === 0).map((row) => row.recorded_at),
        Date.now(),
      ]) {
        const found = await firstSeqFrom(opened.cell.listReader, opened.cell.engine, {
          book: 1,
          time: toUnixMillis(millis),
        });
        expect(found, String(millis)).to.equal(firstFrom(millis));
      }
    });

    describe("of accounts that share a phone number", () => {
      const shared = "+254700000001" as PhoneNumber;
      const count = 2 * LOOKED_AT_MAX - 1;
      before(async () => {
        const created = Array.from({ length: count }, (_, index) =>
          createAccount(organizationId, `shared${String(index)}`, { phoneNumber: shared }),
        );
        for (let at = 0; at < count; at += 500) await commit(created.slice(at, at + 500), BATCHES + 1);
      });

      it("look at a bounded number of rows for each page", async () => {
        const filters = { phoneNumber: shared, status: "CLOSED" } as const;
        const pages = await pagesOf((page) => stored.accounts(organizationId, filters, page), 100);
        expect(pages).to.deep.equal([[], []]);
      });

      it("have each account once", async () => {
        const filters = { phoneNumber: shared, status: "ACTIVE" } as const;
        const found = rowsOf(await pagesOf((page) => stored.accounts(organizationId, filters, page), 999));
        expect(new Set(found.map(({ id }) => id)).size).to.equal(count);
        expect(found).to.have.lengthOf(count);
      });
    });
  });
}
