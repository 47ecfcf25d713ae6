import { expect } from "chai";

import type { Organization } from "../../../src/domain/api-key.js";
import type { Command } from "../../../src/domain/commands.js";
import type { StatusReason } from "../../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import { purgeIdempotencyKeys } from "../../../src/storage/idempotency-keys.js";
import { keys as openKeys } from "../../../src/storage/keys.js";
import { KeyUses } from "../../../src/storage/organizations/key-uses.js";
import { changeSuspension } from "../../../src/storage/organizations/suspension.js";
import { verify } from "../../../src/verify/verify.js";
import { createAccount } from "../../support/commands.js";
import { ENGINES, execute, openDatabaseAt, openTestDatabase, type TestDatabase } from "../../support/databases.js";

const HOUR_MILLIS = 3_600_000;
const DAY_MILLIS = 24 * HOUR_MILLIS;

for (const engine of ENGINES) {
  describe(`the rows of an organization itself (${engine})`, () => {
    let opened: TestDatabase;
    let keys: Keys;
    let organization: Organization;
    let clock: UnixMillis;
    const now = (): UnixMillis => clock;
    beforeEach(async () => {
      clock = toUnixMillis(Date.now());
      opened = await openTestDatabase(engine);
      keys = openKeys(opened.database, now);
      organization = await keys.createOrganization("Duka");
    });
    afterEach(() => opened.dispose());

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

    const suspend = (isSuspended: boolean, reason: string): Promise<boolean> =>
      changeSuspension(opened.cell, {
        organizationId: organization.id,
        isSuspended,
        reason: reason as StatusReason,
        now: now(),
      });

    const findings = async (): Promise<unknown> => (await verify(opened.database)).firstFindings;

    it("say which keys were created and revoked, each once, and by whom", async () => {
      const { key } = await newKey("till");
      await commit(createAccount(organization.id, "user"));
      const revoked = await Promise.all([keys.revokeApiKey(key.id), keys.revokeApiKey(key.id)]);
      expect(revoked[0]).to.deep.equal(revoked[1]);
      expect(revoked[0]?.revokedAt).to.be.a("number");
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

    it("are not written to a book that moves, and neither is the key", async () => {
      await execute(opened.address, "UPDATE books SET state = 'MOVING'");
      const error: unknown = await newKey("late").catch((reason: unknown) => reason);
      expect(error).to.include({ name: "StoreError", kind: "rejected" });
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

    it("are not needed for the last use of a key, which is written once an hour", async () => {
      const [{ key, secret }, unused] = [await newKey("till"), await newKey("unused")];
      const uses = new KeyUses(opened.database, now);
      const noting = uses.noting(keys);
      const lastUses = async (): Promise<unknown> => {
        await uses.flush();
        return (await keys.apiKeys(organization.id)).map(({ lastUsedAt }) => lastUsedAt);
      };
      const first = clock;
      await Promise.all([noting.apiKeyWithSecret(secret), noting.apiKeyWithSecret(secret)]);
      expect(await lastUses()).to.have.members([first, undefined]);
      clock = toUnixMillis(first + HOUR_MILLIS - 1);
      await noting.apiKeyWithSecret(secret);
      expect(await lastUses()).to.have.members([first, undefined]);
      clock = toUnixMillis(first + HOUR_MILLIS);
      await noting.apiKeyWithSecret(secret);
      expect(await lastUses()).to.have.members([first + HOUR_MILLIS, undefined]);

      clock = first;
      await keys.revokeApiKey(unused.key.id);
      await noting.apiKeyWithSecret(unused.secret);
      expect(await lastUses()).to.have.members([first + HOUR_MILLIS, undefined]);
      expect(await findings()).to.deep.equal([]);
      expect(await keys.apiKeyWithSecret(secret)).to.include({ id: key.id });
    });

    it("and a database that takes no writes only loses the last use", async () => {
      const { secret } = await newKey("till");
      const broken = { ...opened.cell, transact: () => Promise.reject(new Error("read-only")) };
      const uses = new KeyUses({ cells: [broken] }, now);
      await uses.noting(keys).apiKeyWithSecret(secret);
      await uses.flush();
      await uses.close();
      expect((await keys.apiKeys(organization.id))[0]?.lastUsedAt).to.equal(undefined);
    });

    it("do not mind that idempotency keys of more than 30 days are removed", async () => {
      const old = clock;
      const many = Array.from({ length: 1_200 }, (_, index) =>
        createAccount(organization.id, `old ${String(index)}`, { key: `old-${String(index)}` }),
      );
      await opened.cell.committer.commit(many, clock);
      clock = toUnixMillis(old + 1_000);
      await commit(createAccount(organization.id, "new", { key: "new" }));
      const purgeAt = (at: number): Promise<number> => purgeIdempotencyKeys(opened.database, toUnixMillis(at));
      expect(await purgeAt(old + 30 * DAY_MILLIS)).to.equal(0);
      expect(await purgeAt(old + 30 * DAY_MILLIS + 1)).to.equal(1_200);
      expect(await purgeAt(old + 30 * DAY_MILLIS + 1)).to.equal(0);
      const left = await execute<{ key: string }>(opened.address, "SELECT key FROM idempotency_keys");
      expect(left.map(({ key }) => key)).to.deep.equal(["new"]);
      expect(await findings()).to.deep.equal([]);
      // The user_id still guards the account.
      const [again] = await opened.cell.committer.commit([createAccount(organization.id, "old 0")], clock);
      expect(again).to.include({ kind: "done", replayed: true });
    });
  });
}
