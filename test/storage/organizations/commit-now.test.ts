import { expect } from "chai";

import type { ApiKey, Organization, StoredApiKey } from "../../../src/domain/api-key.js";
import type { Command } from "../../../src/domain/operations.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import { acceptClock } from "../../../src/storage/books.js";
import { keys as openKeys } from "../../../src/storage/keys.js";
import { RefusedCommandError } from "../../../src/storage/organizations/commit-now.js";
import { revokeApiKey } from "../../support/as-machine.js";
import { databaseOfEachTest, ENGINES, execute, openDatabaseAt } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { createAccount } from "../../support/operations/accounts.js";
import { createWebhookEndpoint } from "../../support/operations/webhooks.js";
import { changeSuspension } from "../../support/suspend.js";

for (const engine of ENGINES) {
  describe(`the rows of an organization itself (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let keys: Keys;
    let organization: Organization;
    let clock: UnixMillis;
    const now = (): UnixMillis => clock;
    beforeEach(async () => {
      clock = toUnixMillis(Date.now());
      keys = openKeys(opened.database, now);
      organization = await keys.createOrganization("Duka");
    });

    const newKey = (name: string, database = keys): ReturnType<Keys["createApiKey"]> =>
      database.createApiKey({
        organizationId: organization.id,
        name,
        scopes: ["accounts:read"],
        expiresAt: undefined,
      });

    const rows = async (): Promise<readonly string[]> => {
      const sql = "SELECT seq, kind, actor, reason FROM journal ORDER BY seq";
      const found = await execute<Record<string, string | number>>(opened.address, sql);
      return found.map(({ seq, kind, actor, reason }) => [seq, kind, actor, reason].join(" ").trim());
    };

    const commit = async (command: Command): Promise<string> => {
      const [result] = await opened.cell.committer.commit([command], now());
      return result?.kind === "refused" ? result.refusal.reason : String(result?.kind);
    };

    const refusalOf = async (work: Promise<unknown>): Promise<unknown> => {
      const error: unknown = await work.catch((reason: unknown) => reason);
      return error instanceof RefusedCommandError ? error.refusal.reason : error;
    };

    const revoke = ({ id }: ApiKey): Promise<StoredApiKey> => revokeApiKey(opened.database, id, now());

    const suspend = (isSuspended: boolean, reason: string): Promise<boolean> =>
      changeSuspension(opened.cell, {
        organizationId: organization.id,
        isSuspended,
        reason: reason,
        now: now(),
      });

    const findings = async (): Promise<unknown> => findingsIn(opened.database);

    it("say which keys were created and revoked, each once, and by whom", async () => {
      const { key } = await newKey("till");
      await commit(createAccount(organization.id, "user"));
      const revoked = await Promise.all([revoke(key), revoke(key)]);
      expect(revoked[0]).to.deep.equal(revoked[1]);
      expect(revoked[0].revokedAt).to.be.a("number");
      expect(await rows()).to.deep.equal([
        "1 organization.created operator",
        "2 key.created operator",
        "3 account.created key_of_a_test",
        "4 key.revoked operator",
      ]);
      expect(await findings()).to.deep.equal([]);
    });

    it("have no gap when several processes and the ledger write to the book at once", async () => {
      const second = await openDatabaseAt(opened.url);
      try {
        const others = openKeys(second, now);
        await Promise.all(
          Array.from({ length: 12 }, async (_, index) => {
            if (index % 3 === 0) await commit(createAccount(organization.id, `user ${String(index)}`));
            else await newKey(`key ${String(index)}`, index % 3 === 1 ? keys : others);
          }),
        );
      } finally {
        await second.close();
      }
      expect((await rows()).map((row) => Number(row.split(" ")[0]))).to.deep.equal(
        Array.from({ length: 13 }, (_, index) => index + 1),
      );
      expect(await findings()).to.deep.equal([]);
    });

    it("keep their times in order when the clock falls back", async () => {
      const first = await newKey("first");
      clock = toUnixMillis(clock - 5_000);
      expect((await newKey("second")).key.createdAt).to.equal(first.key.createdAt);
      expect(await findings()).to.deep.equal([]);
    });

    it("are refused by a clock that is more than a minute behind, until an operator accepts the newest row", async () => {
      const { key } = await newKey("first");
      clock = toUnixMillis(clock - 60_001);
      expect(await refusalOf(newKey("second"))).to.equal("CLOCK_BEHIND");
      expect(await commit(createAccount(organization.id, "user"))).to.equal("CLOCK_BEHIND");
      expect(await commit(createWebhookEndpoint(organization.id))).to.equal("CLOCK_BEHIND");

      expect(await acceptClock(opened.cell, organization.id)).to.equal(key.createdAt);
      expect((await newKey("second")).key.createdAt).to.equal(key.createdAt);
      expect(await commit(createAccount(organization.id, "user"))).to.equal("done");
      expect(await findings()).to.deep.equal([]);
    });

    it("revoke a key and suspend the organization, however wrong the clock is", async () => {
      const { key } = await newKey("leaked");
      clock = toUnixMillis(clock - 7 * 86_400_000);
      expect((await revoke(key)).revokedAt).to.equal(key.createdAt);
      expect(await suspend(true, "leaked")).to.equal(true);
      expect(await findings()).to.deep.equal([]);
    });

    it("are not written to a book that moves, and neither is the key", async () => {
      await execute(opened.address, "UPDATE books SET state = 'MOVING'");
      expect(await refusalOf(newKey("late"))).to.equal("BOOK_MOVING");
      expect(await commit(createWebhookEndpoint(organization.id))).to.equal("BOOK_MOVING");
      expect(await keys.apiKeys(organization.id)).to.deep.equal([]);
      expect(await rows()).to.have.length(1);
    });

    it("suspend and resume the organization, each once, with the reason", async () => {
      expect([await suspend(true, "case 17"), await suspend(true, "again")]).to.deep.equal([true, false]);
      expect(await commit(createAccount(organization.id, "user"))).to.equal("ORGANIZATION_SUSPENDED");
      expect(await keys.organization(organization.id)).to.include({ isSuspended: true });
      expect([await suspend(false, "closed"), await suspend(false, "again")]).to.deep.equal([true, false]);
      expect(await commit(createAccount(organization.id, "user"))).to.equal("done");
      expect((await rows()).slice(1, 3)).to.deep.equal([
        "2 organization.suspended operator case 17",
        "3 organization.resumed operator closed",
      ]);
      expect(await findings()).to.deep.equal([]);
    });

    it("mark a sandbox, whose keys begin with kesc_test_", async () => {
      organization = await keys.createOrganization("Duka, tests", { isSandbox: true });
      expect(await keys.organization(organization.id)).to.include({ isSandbox: true });
      const { key, secret } = await newKey("till");
      expect(secret).to.match(/^kesc_test_0_[A-Za-z0-9_-]{43}$/);
      expect(await keys.apiKeyWithSecret(secret)).to.deep.equal(key);
      expect(await findings()).to.deep.equal([]);
    });
  });
}
