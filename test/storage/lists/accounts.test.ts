import { expect } from "chai";

import type { Account } from "../../../src/domain/account.js";
import type { TierName } from "../../../src/domain/limits/limits.js";
import type { Command } from "../../../src/domain/operations.js";
import type { AccountId, OrganizationId } from "../../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { AccountFilters, Reads } from "../../../src/ledger/ports/reads.js";
import { keys } from "../../../src/storage/keys.js";
import { LOOKED_AT_MAX } from "../../../src/storage/lists/page.js";
import { reads } from "../../../src/storage/reads.js";
import { commitAll } from "../../support/commit.js";
import { databaseOfSuite, ENGINES } from "../../support/databases.js";
import { newAccountId, NOW } from "../../support/names.js";
import { closeAccount, createAccount, freezeAccount, setAccountTier } from "../../support/operations/accounts.js";
import { pagesOf } from "./pages.js";

const SHARED = "+254700000001" as PhoneNumber;
// One less than two pages look at.
const COUNT = 2 * LOOKED_AT_MAX - 1;
const BATCH_SIZE = 500;
const STEP_MILLIS = 1_000;

/** Accounts with one phone number. One in 100 is frozen, one is closed, one has another tier. */
for (const engine of ENGINES) {
  describe(`the lists of accounts of ${engine}`, function () {
    this.timeout(60_000);
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    let stored: Reads;
    /** Newest first. */
    let all: readonly Account[];

    before(async () => {
      organizationId = (await keys(opened.database, () => NOW).createOrganization("lists")).id;
      stored = reads(opened.cell);
      const created = Array.from({ length: COUNT }, (_, index) =>
        createAccount(organizationId, `shared${String(index)}`, { phoneNumber: SHARED }),
      );
      for (let at = 0; at < COUNT; at += BATCH_SIZE) await commit(created.slice(at, at + BATCH_SIZE), at / BATCH_SIZE);
      const change = (
        command: (organization: OrganizationId, account: AccountId) => Command,
        place: number,
      ): Command[] =>
        created
          .filter((_, index) => index % 100 === place)
          .map(({ newAccountId }) => command(organizationId, newAccountId));
      await commit([...change(freezeAccount, 7), ...change(closeAccount, 8), ...change(setAccountTier, 9)], 2);
      all = (await listed({}, 999)).flat();
    });

    const commit = (commands: readonly Command[], step: number): Promise<void> =>
      commitAll(opened.cell, commands, toUnixMillis(NOW + step * STEP_MILLIS));
    const listed = (filters: AccountFilters, size: number): Promise<readonly (readonly Account[])[]> =>
      pagesOf((page) => stored.accounts(organizationId, filters, page), size);

    it("know every account", () => {
      expect(all).to.have.lengthOf(COUNT);
    });

    const second = toUnixMillis(NOW + STEP_MILLIS);
    const CASES: readonly (readonly [string, AccountFilters])[] = [
      ["a status", { status: ["FROZEN"] }],
      ["two rare statuses", { status: ["FROZEN", "CLOSED"] }],
      ["a frequent status and a rare one", { status: ["ACTIVE", "CLOSED"] }],
      ["a time", { createdAfter: second }],
      ["the time before", { createdBefore: second }],
      ["the time after all", { createdAfter: toUnixMillis(NOW + STEP_MILLIS + 1) }],
      ["two statuses and a time", { status: ["FROZEN", "CLOSED"], createdBefore: second }],
      ["a phone number", { phoneNumber: SHARED }],
      ["a phone number and two statuses", { phoneNumber: SHARED, status: ["FROZEN", "CLOSED"] }],
      ["a phone number and a time", { phoneNumber: SHARED, createdAfter: second }],
      ["a tier", { tier: "small" as TierName }],
      ["a tier, a status and a phone number", { tier: "small" as TierName, status: ["ACTIVE"], phoneNumber: SHARED }],
      ["everything", { phoneNumber: SHARED, status: ["ACTIVE", "FROZEN"], createdAfter: NOW, createdBefore: second }],
    ];

    for (const [name, filters] of CASES) {
      for (const size of [7, 999]) {
        it(`by ${name} have each account once, newest first, in pages of ${String(size)}`, async () => {
          const expected = all.filter(
            ({ status, tier, createdAt }) =>
              (filters.tier ?? tier) === tier &&
              (filters.status ?? [status]).includes(status) &&
              createdAt >= (filters.createdAfter ?? 0) &&
              createdAt < (filters.createdBefore ?? Infinity),
          );
          const found = (await listed(filters, size)).flat();
          expect(found.map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
        });
      }
    }

    it("by ids have each of them once, newest first, and none that is unknown or of another status", async () => {
      const asked = [all[3], all[500], all[91]].map((account) => account?.id ?? newAccountId());
      const expected = [all[3], all[91], all[500]].map((account) => account?.id);
      for (const size of [1, 2, 100]) {
        const found = (await listed({ accountIds: [...asked, newAccountId()] }, size)).flat();
        expect(found.map(({ id }) => id)).to.deep.equal(expected);
      }
      expect((await listed({ accountIds: asked, status: ["CLOSED"], phoneNumber: SHARED }, 100)).flat()).to.deep.equal(
        all.filter(({ id, status }) => asked.includes(id) && status === "CLOSED"),
      );
    });

    it("look at a bounded number of rows for each page", async () => {
      const pages = await listed({ phoneNumber: SHARED, status: ["CLOSED"], createdBefore: NOW }, 100);
      expect(pages).to.deep.equal([[]]);
      const short = await listed({ phoneNumber: SHARED, status: ["FROZEN", "CLOSED"] }, 100);
      expect(short).to.have.lengthOf(2);
    });

    it("by rare statuses look at no other rows", async () => {
      expect(await listed({ status: ["FROZEN", "CLOSED"] }, 100)).to.have.lengthOf(1);
    });
  });
}
