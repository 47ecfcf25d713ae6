import { expect } from "chai";

import type { AccountId, OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { exportAccount } from "../../src/storage/account-export.js";
import { keys } from "../../src/storage/keys.js";
import { createAccount, freezeAccount, mint, newAccountId, redeem, unfreezeAccount } from "../support/commands.js";
import { ENGINES, openTestDatabase, type TestDatabase } from "../support/databases.js";

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());
// More rows than a cursor of PostgreSQL fetches at once.
const MINTS = 6_000;

for (const engine of ENGINES) {
  describe(`the export of an account (${engine})`, () => {
    let database: TestDatabase;
    let organizationId: OrganizationId;
    let strangerId: OrganizationId;
    const [accountId, otherId] = [newAccountId(), newAccountId()];
    let freezeIds: readonly string[] = [];

    before(async () => {
      database = await openTestDatabase(engine);
      const openKeys = keys(database.database, now);
      ({ id: strangerId } = await openKeys.createOrganization("stranger"));
      ({ id: organizationId } = await openKeys.createOrganization("own"));
      const { committer } = database.cell;
      await committer.commit(
        [
          createAccount(organizationId, "amina", { newAccountId: accountId }),
          createAccount(organizationId, "other", { newAccountId: otherId }),
        ],
        now(),
      );
      const ids = [accountId, otherId];
      const mints = Array.from({ length: 2 * MINTS }, (_, index) => {
        const reference = `mint ${String(index)}`;
        return mint({ organizationId, accountId: ids[index % 2] ?? accountId, amount: "1.00", reference });
      });
      await committer.commit(mints, now());
      await committer.commit([redeem({ organizationId, accountId, amount: "0.50", reference: "redeem" })], now());
      const [lifted, standing] = [freezeAccount(organizationId, accountId), freezeAccount(organizationId, accountId)];
      const lift = unfreezeAccount(organizationId, accountId, lifted.newFreezeId);
      await committer.commit([lifted, standing, lift], now());
      freezeIds = [standing.newFreezeId, lifted.newFreezeId];
    });
    after(() => database.dispose());

    async function exported(organization: OrganizationId, account: AccountId) {
      const parts = {
        accounts: [] as unknown[],
        freezes: [] as unknown[],
        references: [] as string[],
        seqs: [] as number[],
      };
      const exists = await exportAccount(
        database.cell,
        { organizationId: organization, accountId: account },
        {
          account: ({ person, availableCents }) => {
            parts.accounts.push({ ...person, availableCents });
            return Promise.resolve();
          },
          freeze: ({ id, lifted }) => {
            parts.freezes.push([id, lifted?.note]);
            return Promise.resolve();
          },
          transaction: ({ reference }) => {
            parts.references.push(reference);
            return Promise.resolve();
          },
          journalRow: ({ seq }) => {
            parts.seqs.push(seq);
            return Promise.resolve();
          },
        },
      );
      return { exists, ...parts };
    }

    it("has the person, and every freeze, transaction and journal row of the account, newest first", async () => {
      const { exists, accounts, freezes, references, seqs } = await exported(organizationId, accountId);
      expect(exists).to.equal(true);
      expect(accounts).to.deep.equal([
        { userId: "amina", phoneNumber: "+254712345678", email: "", availableCents: MINTS * 100 - 50 },
      ]);
      expect(freezes).to.deep.equal([
        [freezeIds[0], undefined],
        [freezeIds[1], ""],
      ]);
      const mintNumbers = Array.from({ length: MINTS }, (_, index) => 2 * (MINTS - 1 - index));
      expect(references).to.deep.equal(["redeem", ...mintNumbers.map((number) => `mint ${String(number)}`)]);
      // The book has its opening row, two accounts and the mints of both before the redemption.
      const firstMintSeq = 4;
      const redeemSeq = firstMintSeq + 2 * MINTS;
      expect(seqs).to.deep.equal([
        ...[3, 2, 1].map((number) => redeemSeq + number),
        redeemSeq,
        ...mintNumbers.map((number) => firstMintSeq + number),
        firstMintSeq - 2,
      ]);
    });

    it("waits for the receiver of each part", async () => {
      let [underWay, most, parts] = [0, 0, 0];
      const receive = async (): Promise<void> => {
        parts += 1;
        underWay += 1;
        most = Math.max(most, underWay);
        await new Promise(setImmediate);
        underWay -= 1;
      };
      const found = { organizationId, accountId };
      await exportAccount(database.cell, found, {
        account: receive,
        freeze: receive,
        transaction: receive,
        journalRow: receive,
      });
      expect([most, underWay, parts]).to.deep.equal([1, 0, 2 * MINTS + 9]);
    });

    it("is nothing for an account that does not exist, or that belongs to another organization", async () => {
      const nothing = { exists: false, accounts: [], freezes: [], references: [], seqs: [] };
      expect(await exported(organizationId, newAccountId())).to.deep.equal(nothing);
      expect(await exported(strangerId, accountId)).to.deep.equal(nothing);
    });
  });
}
