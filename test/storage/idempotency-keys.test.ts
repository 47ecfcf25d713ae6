import { expect } from "chai";

import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { purgeIdempotencyKeys } from "../../src/storage/idempotency-keys.js";
import { keys } from "../../src/storage/keys.js";
import { databaseOfEachTest, ENGINES, execute } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { createAccount } from "../support/operations/accounts.js";

const LIFE_MILLIS = 30 * 86_400_000;
const OLD_KEYS = 1_200;

for (const engine of ENGINES) {
  describe(`idempotency keys (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let first: OrganizationId;
    let second: OrganizationId;
    /** The time of the old keys. */
    let old: UnixMillis;
    beforeEach(async () => {
      old = toUnixMillis(Date.now());
      const all = keys(opened.database, () => old);
      [first, second] = [(await all.createOrganization("first")).id, (await all.createOrganization("second")).id];
    });

    /** Removes the keys that are older than 30 days when the old ones have this age. */
    async function purgeAtAge(millis: number): Promise<{ purged: number; rests: number }> {
      let rests = 0;
      const rest = (): Promise<void> => Promise.resolve(void (rests += 1));
      const purged = await purgeIdempotencyKeys(opened.database, { now: toUnixMillis(old + millis), rest });
      return { purged, rests };
    }

    it("are removed when they are older than 30 days, with a rest after each thousand, and never before", async () => {
      const create = (organizationId: OrganizationId, key: string) => createAccount(organizationId, key, { key });
      const many = Array.from({ length: OLD_KEYS }, (_, index) => create(first, `old-${String(index)}`));
      await opened.cell.committer.commit([...many, create(second, "old-0")], old);
      await opened.cell.committer.commit([create(first, "new"), create(second, "new")], toUnixMillis(old + 1));

      expect(await purgeAtAge(LIFE_MILLIS)).to.deep.equal({ purged: 0, rests: 0 });
      expect(await purgeAtAge(LIFE_MILLIS + 1)).to.deep.equal({ purged: OLD_KEYS + 1, rests: 2 });
      expect(await purgeAtAge(LIFE_MILLIS + 1)).to.deep.equal({ purged: 0, rests: 0 });
      const left = await execute<{ key: string }>(opened.address, "SELECT key FROM idempotency_keys");
      expect(left.map(({ key }) => key)).to.deep.equal(["new", "new"]);
      expect(await findingsIn(opened.database)).to.deep.equal([]);
    });

    it("leave the user_id to guard the account, and may then be used for another call", async () => {
      const made = createAccount(first, "amina", { key: "key" });
      await opened.cell.committer.commit([made], old);
      await purgeAtAge(LIFE_MILLIS + 1);
      const batch = [createAccount(first, "amina"), createAccount(first, "brian", { key: "key" })];
      const [again, other] = await opened.cell.committer.commit(batch, old);
      expect(again).to.deep.include({ kind: "done", replayed: true });
      expect(again?.kind === "done" && "id" in again.resource && again.resource.id).to.equal(made.newAccountId);
      expect(other).to.include({ kind: "done", replayed: false });
    });
  });
}
