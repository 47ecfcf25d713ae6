import { expect } from "chai";

import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import { keys as openKeys } from "../../../src/storage/keys.js";
import { KeyUses } from "../../../src/storage/organizations/key-uses.js";
import { revokeApiKey } from "../../support/as-machine.js";
import { databaseOfEachTest, ENGINES } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { makeKey, makeTenant, type Tenant } from "../../support/service/tenants.js";

const HOUR_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`the last use of API keys (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let keys: Keys;
    let tenant: Tenant;
    let clock: UnixMillis;
    const now = (): UnixMillis => clock;
    beforeEach(async () => {
      clock = toUnixMillis(Date.now());
      keys = openKeys(opened.database, now);
      tenant = await makeTenant(keys, "Duka");
    });

    const lastUses = async (): Promise<readonly (UnixMillis | undefined)[]> =>
      (await keys.apiKeys(tenant.organizationId)).map(({ lastUsedAt }) => lastUsedAt);

    it("is written once an hour for each key, and never when the key is looked up", async () => {
      await makeKey(keys, tenant.organizationId);
      const uses = new KeyUses(opened.database, now);
      const noting = uses.noting(keys);
      const first = clock;
      await Promise.all([noting.apiKeyWithSecret(tenant.key), noting.apiKeyWithSecret(tenant.key)]);
      expect(await lastUses()).to.deep.equal([undefined, undefined]);
      await uses.flush();
      expect(await lastUses()).to.have.members([first, undefined]);
      for (const [later, noted] of [
        [HOUR_MILLIS - 1, 0],
        [HOUR_MILLIS, HOUR_MILLIS],
      ] as const) {
        clock = toUnixMillis(first + later);
        const found = await noting.apiKeyWithSecret(tenant.key);
        expect(found).to.include({ organizationId: tenant.organizationId });
        await uses.flush();
        expect(await lastUses()).to.have.members([first + noted, undefined]);
      }
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    });

    it("is not that of a caller with a revoked or an expired key", async () => {
      const expired = await makeKey(keys, tenant.organizationId, { expiresAt: clock });
      const revoked = await makeKey(keys, tenant.organizationId);
      await revokeApiKey(opened.database, revoked.id);
      const uses = new KeyUses(opened.database, now);
      for (const { secret } of [expired, revoked]) await uses.noting(keys).apiKeyWithSecret(secret);
      await uses.flush();
      expect(await lastUses()).to.deep.equal([undefined, undefined, undefined]);
    });

    it("is written for many keys in several commits", async () => {
      const [key] = await keys.apiKeys(tenant.organizationId);
      if (key === undefined) throw new Error("the key is missing");
      let commits = 0;
      const transact: typeof opened.cell.transact = (work) => {
        commits += 1;
        return opened.cell.transact(work);
      };
      const uses = new KeyUses({ cells: [{ ...opened.cell, transact }] }, now);
      const ids = Array.from({ length: 600 }, (_, index) => `key_${String(index)}` as typeof key.id);
      for (const id of [...ids, key.id]) {
        const noting = uses.noting({ apiKeyWithSecret: () => Promise.resolve({ ...key, id }) });
        await noting.apiKeyWithSecret(tenant.key);
      }
      await uses.flush();
      expect(commits).to.equal(2);
      expect(await lastUses()).to.deep.equal([clock]);
    });

    it("is lost when the database takes no writes, and the caller does not notice", async () => {
      const broken = { ...opened.cell, transact: () => Promise.reject(new Error("read-only")) };
      const uses = new KeyUses({ cells: [broken] }, now);
      expect(await uses.noting(keys).apiKeyWithSecret(tenant.key)).to.include({ cell: 0 });
      await uses.flush();
      expect(await lastUses()).to.deep.equal([undefined]);
    });
  });
}
