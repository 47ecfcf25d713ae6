import { expect } from "chai";

import type { Deposit } from "../../../src/domain/deposit.js";
import { DEFAULT_TIER } from "../../../src/domain/limits/limits.js";
import type { Command } from "../../../src/domain/operations.js";
import type { Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import type { UserId } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { DepositFilters, Reads } from "../../../src/ledger/ports/reads.js";
import { keys } from "../../../src/storage/keys.js";
import { reads } from "../../../src/storage/reads.js";
import { commitAll } from "../../support/commit.js";
import { databaseOfSuite, ENGINES, execute } from "../../support/databases.js";
import { depositReference, newDepositId, NOW, receiptNamed } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { receiveDeposit } from "../../support/operations/deposits.js";
import { setRailAccount } from "../../support/operations/rails.js";
import { pagesOf } from "./pages.js";

const BATCHES = 3;
const BATCH_SIZE = 500;
const STEP_MILLIS = 1_000;

/** More deposits than one page looks at. One in 100 is credited, and one in 50 says something. */
for (const engine of ENGINES) {
  describe(`the lists of deposits of ${engine}`, function () {
    this.timeout(60_000);
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    let otherId: OrganizationId;
    let stored: Reads;
    let accountId: AccountId;
    /** Newest first. */
    let all: readonly Deposit[];

    before(async () => {
      const own = keys(opened.database, () => NOW);
      organizationId = (await own.createOrganization("deposits")).id;
      otherId = (await own.createOrganization("others")).id;
      stored = reads(opened.cell);
      const account = { ...createAccount(organizationId, "amina"), depositReferences: [depositReference(5)] };
      accountId = account.newAccountId;
      await commit([account, receiveDeposit(otherId, { receipt: "r7" })], 0);
      for (let batch = 0; batch < BATCHES; batch += 1) {
        await commit(
          Array.from({ length: BATCH_SIZE }, (_, index) => {
            const number = batch * BATCH_SIZE + index;
            const typed = number % 100 === 0 ? depositReference(5) : number % 50 === 1 ? `name ${String(number)}` : "";
            return receiveDeposit(organizationId, {
              receipt: `r${String(number)}`,
              typed,
              amountCents: toCents(number + 1),
            });
          }),
          batch,
        );
      }
      all = await listed({});
    });

    const commit = (commands: readonly Command[], batch: number): Promise<void> =>
      commitAll(opened.cell, commands, toUnixMillis(NOW + batch * STEP_MILLIS));

    async function listed(filters: DepositFilters): Promise<readonly Deposit[]> {
      return (await pagesOf((page) => stored.deposits(organizationId, filters, page), 200)).flat();
    }

    it("has each deposit once, newest first, as it was received", () => {
      expect(all.map(({ receipt }) => receipt)).to.deep.equal(
        Array.from({ length: BATCHES * BATCH_SIZE }, (_, index) => `r${String(BATCHES * BATCH_SIZE - 1 - index)}`),
      );
      expect(all.find(({ receipt }) => receipt === receiptNamed("r51"))).to.include({
        typedReference: "name 51",
        status: "UNALLOCATED",
        reason: "UNKNOWN_REFERENCE",
        amountCents: 52,
      });
    });

    it("has those that match all filters", async () => {
      const batchAt = (batch: number) => toUnixMillis(NOW + batch * STEP_MILLIS);
      for (const [filters, matches] of [
        [{ accountId }, ({ accountId: of }) => of === accountId],
        [{ accountId, status: ["UNALLOCATED"] }, () => false],
        [{ status: ["UNALLOCATED"] }, ({ status }) => status === "UNALLOCATED"],
        [{ status: ["CREDITED"] }, ({ status }) => status === "CREDITED"],
        [{ status: ["CREDITED", "RETURNED"] }, ({ status }) => status === "CREDITED"],
        [{ reason: ["UNKNOWN_REFERENCE"] }, ({ reason }) => reason === "UNKNOWN_REFERENCE"],
        [{ reason: ["UNKNOWN_REFERENCE"], status: ["CREDITED"] }, () => false],
        [{ receipt: receiptNamed("r300") }, ({ receipt }) => receipt === receiptNamed("r300")],
        [{ receipt: receiptNamed("r300"), accountId }, ({ receipt }) => receipt === receiptNamed("r300")],
        [{ receipt: receiptNamed("r301"), accountId }, () => false],
        [{ receipt: receiptNamed("r301"), createdAfter: batchAt(1) }, () => false],
        [{ minAmountCents: toCents(52), maxAmountCents: toCents(52) }, ({ amountCents }) => amountCents === 52],
        [
          { minAmountCents: toCents(300), maxAmountCents: toCents(302), status: ["UNALLOCATED"] },
          ({ amountCents, status }) => amountCents >= 300 && amountCents <= 302 && status === "UNALLOCATED",
        ],
        [
          { maxAmountCents: toCents(60), status: ["UNALLOCATED", "RETURNING"] },
          ({ amountCents, status }) => amountCents <= 60 && status === "UNALLOCATED",
        ],
        [
          { minAmountCents: toCents(300), accountId },
          (each) => each.amountCents >= 300 && each.accountId === accountId,
        ],
        [{ receipt: receiptNamed("r300"), minAmountCents: toCents(302) }, () => false],
        [{ createdAfter: batchAt(1) }, ({ createdAt }) => createdAt >= batchAt(1)],
        [
          { createdBefore: batchAt(2), createdAfter: batchAt(1), accountId },
          ({ createdAt, accountId: of }) => createdAt === batchAt(1) && of === accountId,
        ],
        [
          { status: ["UNALLOCATED"], createdBefore: batchAt(1) },
          ({ createdAt, status }) => createdAt < batchAt(1) && status === "UNALLOCATED",
        ],
      ] as readonly (readonly [DepositFilters, (deposit: Deposit) => boolean])[]) {
        const found = await listed(filters);
        expect(found, JSON.stringify(filters)).to.deep.equal(all.filter(matches));
      }
    });

    it("finds a deposit by its id, in its own organization only", async () => {
      const [first] = all;
      const id = first?.id ?? newDepositId();
      expect(await stored.deposit(organizationId, id)).to.deep.equal(first);
      expect(await stored.deposit(otherId, id)).to.equal(undefined);
      expect(await stored.deposit(organizationId, newDepositId())).to.equal(undefined);
    });

    it("finds the account of a deposit reference, in its own organization only", async () => {
      const page = { size: 10, beforeSeq: undefined };
      const own = await stored.accounts(organizationId, { depositReference: depositReference(5) }, page);
      expect(own.rows.map(({ id }) => id)).to.deep.equal([accountId]);
      for (const [of, filters] of [
        [otherId, { depositReference: depositReference(5) }],
        [organizationId, { depositReference: depositReference(5), userId: "nobody" as UserId, tier: DEFAULT_TIER }],
        [organizationId, { depositReference: depositReference(6) }],
        [organizationId, { depositReference: depositReference(5), status: ["CLOSED"] }],
      ] as const) {
        expect((await stored.accounts(of, filters, page)).rows).to.deep.equal([]);
      }
    });

    it("finds the rails that take deposits", async () => {
      await commit([setRailAccount(organizationId, { settings: '{"a":1}' })], BATCHES);
      expect(await stored.depositRails(organizationId)).to.deep.equal([]);
      await execute(opened.address, "UPDATE rail_accounts SET deposits_since = 1");
      expect(await stored.depositRails(organizationId)).to.deep.equal([{ rail: "mpesa" as Rail, settings: '{"a":1}' }]);
      expect(await stored.depositRails(otherId)).to.deep.equal([]);
    });
  });
}
