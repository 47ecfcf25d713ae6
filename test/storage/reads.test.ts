import { expect } from "chai";

import type { Command } from "../../src/domain/operations.js";
import type { EmailAddress } from "../../src/domain/values/email-address.js";
import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import type { UserId } from "../../src/domain/values/text.js";
import type { AccountFilters, Reads } from "../../src/ledger/ports/reads.js";
import { keys } from "../../src/storage/keys.js";
import { reads } from "../../src/storage/reads.js";
import { commitAll } from "../support/commit.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { newOrganizationId, NOW } from "../support/names.js";
import { createAccount, eraseAccount, freezeAccount } from "../support/operations/accounts.js";
import { mint } from "../support/operations/transactions.js";

const PAGE = { size: 10, beforeSeq: undefined };
const PHONE = "+254712345678" as PhoneNumber;
const OTHER_PHONE = "+254733000000" as PhoneNumber;
const EMAIL = "Wanjiku.Kamau@example.com" as EmailAddress;

for (const engine of ENGINES) {
  describe(`the accounts of an organization, read from ${engine}`, () => {
    const opened = databaseOfSuite(engine);
    let organizationId: OrganizationId;
    let stranger: OrganizationId;
    let stored: Reads;
    /** In the order in which they were created: Wanjiku's, Otieno's, and that of a third. */
    let wanjiku: AccountId;
    let otieno: AccountId;
    let third: AccountId;

    before(async () => {
      const own = keys(opened.database, () => NOW);
      organizationId = (await own.createOrganization("own")).id;
      stranger = (await own.createOrganization("stranger")).id;
      stored = reads(opened.cell);
      const commands = [
        createAccount(organizationId, "wanjiku", { email: EMAIL }),
        createAccount(organizationId, "otieno", {
          phoneNumber: OTHER_PHONE,
          email: EMAIL.toLowerCase() as EmailAddress,
        }),
        createAccount(organizationId, "third"),
        createAccount(stranger, "wanjiku", { email: EMAIL }),
      ] as const;
      await commit(...commands);
      [wanjiku, otieno, third] = [commands[0].newAccountId, commands[1].newAccountId, commands[2].newAccountId];
      await commit(freezeAccount(organizationId, otieno));
    });

    const commit = (...commands: readonly Command[]): Promise<void> => commitAll(opened.cell, commands, NOW);

    async function listed(filters: AccountFilters, page = PAGE): Promise<readonly AccountId[]> {
      return (await stored.accounts(organizationId, filters, page)).rows.map(({ id }) => id);
    }

    it("have their personal data, as it was given", async () => {
      const account = await stored.account(organizationId, wanjiku);
      expect(account?.person).to.deep.equal({ userId: "wanjiku", phoneNumber: PHONE, email: EMAIL });
    });

    it("show none of it in the tables, apart from the user_id", async () => {
      const rows = await execute<object>(opened.address, "SELECT * FROM account_holders");
      const text = rows
        .flatMap((row) => Object.values(row) as unknown[])
        .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value)))
        .join("\n");
      expect(text).to.contain("wanjiku");
      expect(text.toLowerCase()).not.to.contain("example.com").and.not.to.contain("254712345678");
    });

    it("are listed newest first", async () => {
      expect(await listed({})).to.deep.equal([third, otieno, wanjiku]);
    });

    for (const email of [EMAIL, EMAIL.toLowerCase(), EMAIL.toUpperCase()] as EmailAddress[]) {
      it(`are found by an e-mail address in any case: ${email}`, async () => {
        expect(await listed({ email })).to.deep.equal([otieno, wanjiku]);
      });
    }

    for (const [what, filters, expected] of [
      ["a user_id", { userId: "wanjiku" as UserId }, () => [wanjiku]],
      ["a user_id, whose case counts", { userId: "Wanjiku" as UserId }, () => []],
      ["a phone number", { phoneNumber: PHONE }, () => [third, wanjiku]],
      ["another phone number", { phoneNumber: OTHER_PHONE }, () => [otieno]],
      ["a phone number and an e-mail address", { phoneNumber: PHONE, email: EMAIL }, () => [wanjiku]],
      ["an e-mail address and a status", { email: EMAIL, status: ["FROZEN"] }, () => [otieno]],
      [
        "a user_id and a phone number that is not hers",
        { userId: "wanjiku" as UserId, phoneNumber: OTHER_PHONE },
        () => [],
      ],
      ["the e-mail address of nobody", { email: "nobody@example.com" as EmailAddress }, () => []],
    ] as const satisfies readonly (readonly [string, AccountFilters, () => readonly AccountId[]])[]) {
      it(`are found by ${what}`, async () => {
        expect(await listed(filters)).to.deep.equal(expected());
      });
    }

    it("are paged under a filter, without one lost or doubled", async () => {
      const first = await stored.accounts(organizationId, { email: EMAIL }, { size: 1, beforeSeq: undefined });
      const second = await stored.accounts(
        organizationId,
        { email: EMAIL },
        { size: 1, beforeSeq: first.nextBeforeSeq },
      );
      expect([...first.rows, ...second.rows].map(({ id }) => id)).to.deep.equal([otieno, wanjiku]);
      expect(second.nextBeforeSeq).to.equal(undefined);
    });

    it("are none for an organization that does not exist", async () => {
      const nobody = newOrganizationId();
      expect(await stored.account(nobody, wanjiku)).to.equal(undefined);
      expect(await stored.accounts(nobody, {}, PAGE)).to.include({ nextBeforeSeq: undefined, lookedAt: 0 });
      expect(await stored.transactions(nobody, {}, PAGE)).to.include({ nextBeforeSeq: undefined, lookedAt: 0 });
    });

    describe("after an erasure", () => {
      before(async () => {
        await commit(
          eraseAccount(organizationId, wanjiku),
          mint({ organizationId, accountId: wanjiku, amount: "1.00", reference: "after" }),
        );
      });

      it("have no person, and everything else", async () => {
        const account = await stored.account(organizationId, wanjiku);
        expect(account).to.deep.include({ id: wanjiku, person: undefined, status: "ACTIVE", availableCents: 100 });
      });

      it("are listed, but found by nothing of the person", async () => {
        expect(await listed({})).to.deep.equal([third, otieno, wanjiku]);
        expect(await listed({ status: ["ACTIVE"] })).to.deep.equal([third, wanjiku]);
        expect(await listed({ userId: "wanjiku" as UserId })).to.deep.equal([]);
        expect(await listed({ email: EMAIL })).to.deep.equal([otieno]);
        expect(await listed({ phoneNumber: PHONE })).to.deep.equal([third]);
      });

      it("keep their transactions", async () => {
        const { rows } = await stored.transactions(organizationId, { accountId: wanjiku }, PAGE);
        expect(rows.map(({ reference }) => reference)).to.deep.equal(["after"]);
      });

      it("keep nothing of the person in the tables, and the books hold", async () => {
        const rows = await execute(
          opened.address,
          `SELECT user_id, phone_number, phone_number_index, email, email_index, content_salt
           FROM account_holders WHERE account_id = '${wanjiku}'`,
        );
        expect(rows.flatMap((row) => Object.values(row as object) as unknown[])).to.deep.equal(Array(6).fill(null));
        expect(await findingsIn(opened.database)).to.deep.equal([]);
      });

      it("are the same person's in another organization", async () => {
        const { rows } = await stored.accounts(stranger, { email: EMAIL }, PAGE);
        expect(rows.map(({ person }) => person?.userId)).to.deep.equal(["wanjiku"]);
      });
    });
  });
}
