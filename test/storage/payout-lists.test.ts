import { expect } from "chai";

import { LIST_ENTRIES_MAX, parseListed, payoutListFromText } from "../../src/domain/payout-list.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { ListedEntry } from "../../src/payouts/read-payout-list.js";
import { keys } from "../../src/storage/keys.js";
import { payoutLists } from "../../src/storage/payouts/payout-lists.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { SLOW_RAIL, valid } from "../support/names.js";
import { createAccount, updateAccount } from "../support/operations/accounts.js";
import { setPayoutList } from "../support/operations/payouts.js";
import { mint, redeem } from "../support/operations/transactions.js";

const NOW = toUnixMillis(Date.now());
const DAY_MILLIS = 86_400_000;
const NUMBERS = ["+254712345600", "+254712345601"] as const;

function entries(...numbers: readonly string[]): readonly ListedEntry[] {
  return numbers.flatMap((number) =>
    valid(parseListed("number", number)).map((text) => ({ kind: "number" as const, text })),
  );
}

for (const engine of ENGINES) {
  describe(`a list of payouts that are held, in the database (${engine})`, () => {
    let opened: TestDatabase;
    let organizationId: OrganizationId;
    let accounts: readonly AccountId[];
    let references = 0;

    beforeEach(async () => {
      opened = await openTestDatabase(engine);
      ({ id: organizationId } = await keys(opened.database, () => NOW).createOrganization("lists"));
      const users = NUMBERS.map((phoneNumber, index) =>
        createAccount(organizationId, `user ${String(index)}`, { phoneNumber: phoneNumber as never }),
      );
      accounts = users.map(({ newAccountId }) => newAccountId);
      await commit(...users);
      await commit(...accounts.map((accountId) => mint({ ...to(accountId), amount: "1000.00" })));
    });
    afterEach(() => opened.dispose());

    const commit = async (...commands: Parameters<TestDatabase["cell"]["committer"]["commit"]>[0]) =>
      (await opened.cell.committer.commit(commands, NOW)).map((result) => {
        if (result.kind === "bug") throw result.error;
        if (result.kind === "refused") return result.refusal.reason;
        const { resource } = result;
        return "heldFor" in resource ? resource.heldFor.join() : result.kind;
      });
    const to = (accountId: AccountId) => {
      references += 1;
      return { organizationId, accountId, amount: "1.00", reference: `r${String(references)}` };
    };
    const pay = (index: number) => redeem({ ...to(accounts[index] as AccountId), rail: SLOW_RAIL });
    const organization = () => ({ id: organizationId, cell: 0 });
    const store = (given: readonly ListedEntry[], now = NOW) =>
      payoutLists(opened.database).store(organization(), given, now);
    const set = async (...numbers: readonly string[]) =>
      setPayoutList(organizationId, await store(entries(...numbers)));
    const count = async () =>
      Number(
        (await execute<{ readonly count: number }>(opened.address, "SELECT COUNT(*) AS count FROM payout_lists"))[0]
          ?.count,
      );

    it("holds from the next command of the same batch on, whatever list held before", async () => {
      expect(await commit(pay(0))).to.deep.equal([""]);
      expect(await commit(pay(0), await set(NUMBERS[0]), pay(0), pay(1))).to.deep.equal(["", "done", "LISTED", ""]);
      expect(await commit(pay(0), await set(NUMBERS[1]), pay(0), pay(1))).to.deep.equal([
        "LISTED",
        "done",
        "",
        "LISTED",
      ]);
      expect(await commit(await set(), pay(0), pay(1))).to.deep.equal(["done", "", ""]);
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    });

    it("holds what is paid to a number that the same batch has set", async () => {
      await commit(await set("+254712345699"));
      const [accountId] = accounts as readonly [AccountId];
      const change = updateAccount(organizationId, accountId, { phoneNumber: "+254712345698" as never });
      expect((await commit(change, pay(0)))[1]).to.equal("LISTED");
      expect(await commit(pay(0))).to.deep.equal([""]);
    });

    it("says what a new list ends of the one that holds, and what it was compared with", async () => {
      expect(await store(entries(...NUMBERS))).to.include({ replaces: "", ended: 0 });
      await commit(await set(...NUMBERS));
      const standing = await payoutLists(opened.database).standing(organization());
      expect(standing?.counts).to.deep.equal({ account: 0, number: 2, name: 0 });
      const next = await store(entries(NUMBERS[1], "+254712345602"));
      expect([next.ended, payoutListFromText(next.replaces)]).to.deep.equal([1, standing]);
    });

    it("keeps the list that holds, and one that may still be approved, and forgets the others", async () => {
      await commit(setPayoutList(organizationId, await store(entries(NUMBERS[0]))));
      await store(entries(NUMBERS[1]));
      const later = toUnixMillis(NOW + 4 * DAY_MILLIS);
      await store(entries("+254712345602"), later);
      // A list that is proposed again is kept as long as a new one.
      await store(entries(NUMBERS[1]), later);
      expect(await count()).to.equal(3);
      await store(entries("+254712345603"), toUnixMillis(later + 4 * DAY_MILLIS));
      expect(await count()).to.equal(4);
      await store(entries("+254712345604"), toUnixMillis(later + 6 * DAY_MILLIS));
      expect(await count()).to.equal(3);
      expect(await commit(pay(0))).to.deep.equal(["LISTED"]);
    });

    for (const [what, change] of [
      ["without an entry", "UPDATE payout_lists SET entries = substr(entries, 17)"],
      ["that is gone", "DELETE FROM payout_lists"],
    ] as const) {
      it(`pays nobody by a list ${what}, and does all else`, async () => {
        await commit(await set(...NUMBERS));
        await execute(opened.address, change);
        // One person must not set a shorter list in its place.
        expect(await store(entries(NUMBERS[0]))).to.include({ ended: 2 });
        const [first] = accounts as readonly [AccountId];
        expect(await commit(pay(0), mint(to(first)), redeem(to(first)))).to.deep.equal(["ROW_CHANGED", "", ""]);
        expect(await findingsIn(opened.database)).to.have.length(1);
        // The file that was kept makes the list whole again.
        await store(entries(...NUMBERS));
        expect(await commit(pay(0))).to.deep.equal(["LISTED"]);
        expect(await findingsIn(opened.database)).to.deep.equal([]);
      });
    }

    it("costs a redemption little, and is read once: the worst list, of 10,000 entries", async () => {
      const names = Array.from({ length: LIST_ENTRIES_MAX }, (_, index): ListedEntry => {
        const [text] = valid(parseListed("name", `${"Wanjiku ".repeat(24)}${String(index)}`));
        return { kind: "name", text: text as ListedEntry["text"] };
      });
      // Processor time of all threads, so that a busy machine fails nothing.
      const measured = async (work: () => Promise<unknown>): Promise<number> => {
        const begun = process.cpuUsage();
        await work();
        const { user, system } = process.cpuUsage(begun);
        return (user + system) / 1_000;
      };
      const pays = async (): Promise<void> => {
        for (let round = 0; round < 20; round += 1) await commit(pay(0));
      };
      await pays();
      const without = await measured(pays);
      const setting = async () => commit(setPayoutList(organizationId, await store(names)));
      expect(await measured(setting)).to.be.below(3_000);
      expect(await commit(pay(0))).to.deep.equal([""]);
      expect(await measured(pays)).to.be.below(2 * without + 200);
    });
  });
}
