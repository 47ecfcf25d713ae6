import { expect } from "chai";

import type { Command } from "../../../src/domain/operations.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { type Cents, parseAmount } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import { type Metadata, parseMetadata } from "../../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Page, PageRequest, Reads, TransactionFilters } from "../../../src/ledger/ports/reads.js";
import { keys } from "../../../src/storage/keys.js";
import { firstSeqFrom } from "../../../src/storage/lists/first-seq-from.js";
import { LOOKED_AT_MAX } from "../../../src/storage/lists/page.js";
import { reads } from "../../../src/storage/reads.js";
import { commitAll } from "../../support/commit.js";
import { databaseOfSuite, ENGINES } from "../../support/databases.js";
import { NOW, receiptNamed, SLOW_RAIL, valid } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { cancel, flag, mint, redeem } from "../../support/operations/transactions.js";
import { pagesOf } from "./pages.js";

const BATCHES = 9;
const BATCH_SIZE = 500;
const STEP_MILLIS = 1_000;

const cents = (amount: string): Cents => valid(parseAmount(amount));
const metadata = (...pairs: (readonly [string, string])[]): Metadata => valid(parseMetadata(new Map(pairs)));

/** A key and a value that look like the text of the column. */
const ODD_PAIR = ['"],["', '"]]\\é'] as const;

/**
 * More transactions than one page looks at, of two accounts. One in 1,000 is a redemption, one is
 * pending, one is canceled, one has a large amount and one has an odd pair in its metadata.
 */
for (const engine of ENGINES) {
  describe(`the lists of ${engine}`, function () {
    this.timeout(60_000);
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    let stored: Reads;
    let busy: AccountId;
    let quiet: AccountId;
    /** Newest first. */
    let all: readonly Transaction[];

    before(async () => {
      organizationId = (await keys(opened.database, () => NOW).createOrganization("lists")).id;
      stored = reads(opened.cell);
      const accounts = [createAccount(organizationId, "busy"), createAccount(organizationId, "quiet")] as const;
      await commit(accounts, 0);
      [busy, quiet] = [accounts[0].newAccountId, accounts[1].newAccountId];
      for (let batch = 0; batch < BATCHES; batch += 1) await commit(batchOf(batch), batch);
      const pending = await stored.transactions(
        organizationId,
        { status: ["PENDING"] },
        { size: 100, beforeSeq: undefined },
      );
      const canceled = pending.rows.filter(({ reference }) => reference.endsWith("1"));
      await commit(
        canceled.map(({ id }) => cancel(organizationId, id)),
        BATCHES,
      );
      const completed = await stored.transactions(organizationId, {}, { size: 500, beforeSeq: undefined });
      await commit(
        [...pending.rows, ...completed.rows.filter(({ reference }) => /[37]1$/.test(reference))].map(({ id }) =>
          flag(organizationId, id),
        ),
        BATCHES,
      );
      all = await listed({}, 1_000);
    });

    function batchOf(batch: number): Command[] {
      return Array.from({ length: BATCH_SIZE }, (_, index) => {
        const number = batch * BATCH_SIZE + index;
        const place = number % 1_000;
        const movement = {
          organizationId,
          accountId: number % 10 === 3 ? quiet : busy,
          amount: place === 600 ? "77.01" : `${String((number % 3) + 1)}.00`,
          reference: `r${String(number)}`,
          ...(place === 900 ? { receipt: `kcb-1:${String(number)}` } : {}),
          metadata: {
            ...(number % 2 === 0 ? { shop: `shop-${String(number % 4)}` } : {}),
            ...(place === 800 ? { [ODD_PAIR[0]]: ODD_PAIR[1] } : {}),
          },
        };
        if (place === 500) return redeem(movement);
        return mint(place === 700 || place === 701 ? { ...movement, rail: SLOW_RAIL } : movement);
      });
    }

    const commit = (commands: readonly Command[], batch: number): Promise<void> =>
      commitAll(opened.cell, commands, timeOf(batch));

    const timeOf = (batch: number): UnixMillis => toUnixMillis(NOW + batch * STEP_MILLIS);

    async function listed(filters: TransactionFilters, size: number): Promise<readonly Transaction[]> {
      return (await pagesOf((page) => stored.transactions(organizationId, filters, page), size)).flat();
    }

    const CASES: readonly (readonly [string, () => TransactionFilters])[] = [
      ["nothing", () => ({})],
      ["an account", () => ({ accountId: busy })],
      ["the other account", () => ({ accountId: quiet })],
      ["a rare type", () => ({ type: "REDEEM" })],
      ["a frequent type", () => ({ type: "MINT" })],
      ["a rare status", () => ({ status: ["PENDING"] })],
      ["a frequent status", () => ({ status: ["COMPLETED"] })],
      ["a status that none has", () => ({ status: ["FAILED"] })],
      ["two rare statuses", () => ({ status: ["PENDING", "CANCELED"] })],
      ["all statuses but one", () => ({ status: ["PENDING", "PROCESSING", "FAILED", "CANCELED"] })],
      ["a frequent status and a rare one", () => ({ status: ["COMPLETED", "CANCELED"] })],
      ["two rare statuses and a time", () => ({ status: ["PENDING", "CANCELED"], createdBefore: timeOf(6) })],
      ["a type and a status", () => ({ type: "MINT", status: ["PENDING"] })],
      ["a type and two rare statuses", () => ({ type: "REDEEM", status: ["FAILED", "CANCELED"] })],
      ["a type and a frequent status", () => ({ type: "REDEEM", status: ["COMPLETED"] })],
      ["a least amount", () => ({ minAmountCents: cents("77.01") })],
      ["a least amount that none has", () => ({ minAmountCents: cents("77.02") })],
      ["a largest amount", () => ({ maxAmountCents: cents("1.00") })],
      ["one amount exactly", () => ({ minAmountCents: cents("2.00"), maxAmountCents: cents("2.00") })],
      ["a type and an amount", () => ({ type: "MINT", maxAmountCents: cents("76.99"), minAmountCents: cents("3.00") })],
      ["an account and an amount", () => ({ accountId: busy, minAmountCents: cents("3.01") })],
      ["two rare statuses and an amount", () => ({ status: ["PENDING", "CANCELED"], minAmountCents: cents("3.00") })],
      ["a pair of metadata", () => ({ metadata: metadata(["shop", "shop-2"]) })],
      ["a part of a value of metadata", () => ({ metadata: metadata(["shop", "shop-"]) })],
      ["a key as a value of metadata", () => ({ metadata: metadata(["shop-2", "shop"]) })],
      ["an odd pair of metadata", () => ({ metadata: metadata(ODD_PAIR) })],
      ["two pairs of metadata", () => ({ metadata: metadata(ODD_PAIR, ["shop", "shop-0"]) })],
      ["two pairs of metadata that none has", () => ({ metadata: metadata(ODD_PAIR, ["shop", "shop-2"]) })],
      ["an account and a pair of metadata", () => ({ accountId: quiet, metadata: metadata(["shop", "shop-2"]) })],
      ["a rare status and a pair of metadata", () => ({ status: ["PENDING"], metadata: metadata(["shop", "shop-0"]) })],
      [
        "a reference, an amount and a pair of metadata",
        () => ({
          reference: all[0]?.reference as never,
          maxAmountCents: cents("1.00"),
          metadata: metadata(["shop", "x"]),
        }),
      ],
      ["an account and a rare type", () => ({ accountId: busy, type: "REDEEM" })],
      ["an account and a rare status", () => ({ accountId: busy, status: ["PENDING"] })],
      ["an account and two statuses", () => ({ accountId: busy, status: ["PENDING", "CANCELED"] })],
      ["a rail", () => ({ rail: SLOW_RAIL })],
      ["a rail and an account", () => ({ rail: SLOW_RAIL, accountId: busy })],
      ["a kind of correction", () => ({ correction: "LATE" })],
      ["a need for attention", () => ({ needsAttention: true })],
      ["no need for attention", () => ({ needsAttention: false, status: ["PENDING", "CANCELED"] })],
      ["a need for attention and a status", () => ({ needsAttention: true, status: ["PENDING"] })],
      ["a need for attention and an account", () => ({ needsAttention: true, accountId: busy })],
      [
        "a need for attention, an amount and a time",
        () => ({ needsAttention: true, minAmountCents: cents("2.00"), createdAfter: timeOf(2) }),
      ],
      ["a reference", () => ({ reference: all[77]?.reference as never })],
      ["a receipt", () => ({ receipt: receiptNamed("kcb-1:1900") })],
      ["a receipt and a rare type", () => ({ receipt: receiptNamed("kcb-1:1900"), type: "REDEEM" })],
      ["a receipt that none has", () => ({ receipt: receiptNamed("kcb-1:1901") })],
      [
        "a reference and another account",
        () => ({ reference: all[77]?.reference as never, accountId: quiet, type: "REDEEM" }),
      ],
      ["a time", () => ({ createdAfter: timeOf(3), createdBefore: timeOf(5) })],
      ["the time after all", () => ({ createdAfter: timeOf(BATCHES) })],
      ["the time before all", () => ({ createdBefore: NOW })],
      ["a time between two batches", () => ({ createdAfter: toUnixMillis(timeOf(6) + 1) })],
      ["an account and a time", () => ({ accountId: busy, createdAfter: timeOf(1), createdBefore: timeOf(2) })],
      [
        "everything",
        () => ({
          accountId: busy,
          type: "REDEEM",
          status: ["COMPLETED", "FAILED"],
          createdAfter: timeOf(1),
          minAmountCents: cents("1.00"),
          maxAmountCents: cents("3.00"),
          metadata: metadata(["shop", "shop-0"]),
        }),
      ],
    ];

    it("know every transaction", () => {
      expect(all).to.have.lengthOf(BATCHES * BATCH_SIZE);
    });

    for (const [name, filtersOf] of CASES) {
      for (const pages of ["small", "large"]) {
        it(`by ${name} have each transaction once, newest first, in ${pages} pages`, async () => {
          const filters = filtersOf();
          const expected = all.filter(
            ({
              accountId,
              type,
              status,
              reference,
              createdAt,
              amountCents,
              metadata: pairs,
              openFlags,
              rail,
              railReceipt,
              corrects,
            }) =>
              (filters.receipt ?? railReceipt) === railReceipt &&
              (filters.rail ?? rail) === rail &&
              (filters.correction ?? corrects?.kind) === corrects?.kind &&
              (filters.needsAttention ?? openFlags.length > 0) === openFlags.length > 0 &&
              (filters.accountId ?? accountId) === accountId &&
              (filters.type ?? type) === type &&
              (filters.status ?? [status]).includes(status) &&
              (filters.reference ?? reference) === reference &&
              createdAt >= (filters.createdAfter ?? 0) &&
              createdAt < (filters.createdBefore ?? Infinity) &&
              amountCents >= (filters.minAmountCents ?? 0) &&
              amountCents <= (filters.maxAmountCents ?? Infinity) &&
              Array.from(filters.metadata ?? []).every(([key, value]) => pairs.get(key) === value),
          );
          // Pages of 7 would be 600 for a frequent one.
          const size = pages === "large" ? 1_000 : expected.length > 200 ? 97 : 7;
          const found = await listed(filters, size);
          expect(found.map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
        });
      }
    }

    /** Filters that pass few rows, and the rows that the index of each leads to. */
    const BOUNDED: readonly (readonly [string, () => TransactionFilters, (one: Transaction) => boolean])[] = [
      ["an account and a rare type", () => ({ accountId: busy, type: "REDEEM" }), (one) => one.accountId === busy],
      ["a least amount", () => ({ minAmountCents: cents("77.02") }), () => true],
      ["a largest amount", () => ({ maxAmountCents: cents("0.99") }), () => true],
      ["a type and an amount", () => ({ type: "MINT", minAmountCents: cents("78") }), (one) => one.type === "MINT"],
      [
        "an account and an amount",
        () => ({ accountId: busy, minAmountCents: cents("78") }),
        (one) => one.accountId === busy,
      ],
      ["a pair of metadata", () => ({ metadata: metadata(ODD_PAIR) }), () => true],
      [
        "an account and metadata",
        () => ({ accountId: busy, metadata: metadata(ODD_PAIR) }),
        (one) => one.accountId === busy,
      ],
      ["a type and metadata", () => ({ type: "MINT", metadata: metadata(["a", "b"]) }), (one) => one.type === "MINT"],
      [
        "an account and statuses",
        () => ({ accountId: busy, status: ["FAILED", "CANCELED"] }),
        (one) => one.accountId === busy,
      ],
      [
        "a frequent status and metadata",
        () => ({ status: ["COMPLETED", "FAILED"], metadata: metadata(["a", "b"]) }),
        () => true,
      ],
    ];

    for (const [name, filtersOf, isOnTheWay] of BOUNDED) {
      it(`by ${name} look at a bounded number of rows for each page`, async () => {
        const filters = filtersOf();
        const read = async (page: PageRequest): Promise<Page<Transaction>> => {
          const found = await stored.transactions(organizationId, filters, page);
          expect(found.lookedAt).to.be.at.most(LOOKED_AT_MAX);
          return found;
        };
        const pages = await pagesOf(read, 1_000);
        // Each page but the last looks at LOOKED_AT_MAX rows. A walk also passes over the account's
        // rows that created no transaction.
        const onTheWay = all.filter(isOnTheWay).length;
        expect(pages.length).to.be.within(
          Math.floor(onTheWay / LOOKED_AT_MAX),
          Math.ceil((onTheWay + 10) / LOOKED_AT_MAX),
        );
      });
    }

    it("by rare statuses look at no other rows", async () => {
      const filters: TransactionFilters = { status: ["PENDING", "FAILED", "CANCELED"] };
      const pages = await pagesOf((page) => stored.transactions(organizationId, filters, page), 1_000);
      expect(pages).to.have.lengthOf(1);
      expect(pages[0]?.map(({ status }) => status)).to.include.members(["PENDING", "CANCELED"]);
    });

    it("by a need for attention look at no other rows", async () => {
      const { rows, lookedAt } = await stored.transactions(
        organizationId,
        { needsAttention: true },
        { size: 1_000, beforeSeq: undefined },
      );
      expect(rows.length).to.be.within(2, 100);
      expect(lookedAt).to.equal(rows.length);
    });

    it("go on where they were while others add rows", async () => {
      const filters: TransactionFilters = { status: ["PENDING"] };
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
  });
}
