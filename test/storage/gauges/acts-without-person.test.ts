import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { SCOPES } from "../../../src/domain/api-key.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { actsSql, ActsWithoutPersonCount, sumOf } from "../../../src/storage/gauges/acts-without-person.js";
import { keys } from "../../../src/storage/keys.js";
import { StoredAdministration } from "../../../src/storage/operators/administration.js";
import { makeOperator } from "../../operators/given.js";
import { databaseOfSuite, ENGINES, execute } from "../../support/databases.js";

const EXPLAIN = { sqlite: "EXPLAIN QUERY PLAN", postgres: "EXPLAIN" };
const now = (): UnixMillis => toUnixMillis(Date.now());

for (const engine of ENGINES) {
  describe(`the count of acts without a person (${engine})`, () => {
    const opened = databaseOfSuite(engine);

    it("has the acts of the machine since the first operator, and reads on from there", async () => {
      const { database, cell } = opened;
      const stored = keys(database, now);
      const administration = new StoredAdministration(database, { now, fourEyes: new Set() });
      const acts = new ActsWithoutPersonCount(cell, cell);
      const organizations = [await stored.createOrganization("one"), await stored.createOrganization("two")] as const;
      const makeKey = async (index: 0 | 1): Promise<void> => {
        const { id: organizationId } = organizations[index];
        await stored.createApiKey({ organizationId, name: "till", scopes: SCOPES, expiresAt: undefined });
      };
      await makeKey(0);
      expect(await acts.read()).to.deep.equal({ count: 0, newest: undefined });
      // The rows of before are older than the first operator.
      await sleep(2);
      const { operator } = await makeOperator(administration, "Ann", ["admin"]);
      expect(await acts.read()).to.deep.equal({ count: 0, newest: undefined });

      await makeKey(0);
      await sleep(2);
      await makeKey(1);
      const inBooks = await acts.read();
      expect(inBooks?.count).to.equal(2);
      expect(inBooks?.newest?.organizationId).to.equal(organizations[1].id);

      await sleep(2);
      await makeKey(0);
      await administration.createOrganization({ name: "three", isSandbox: true }, operator);
      const more = await acts.read();
      expect(more?.count).to.equal(3);
      expect(more?.newest?.organizationId).to.equal(organizations[0].id);

      await sleep(2);
      await makeOperator(administration, "Ben", ["admin"]);
      expect(await acts.read()).to.deep.include({ count: 4 });
      const fresh = await new ActsWithoutPersonCount(cell, cell).read();
      expect(fresh).to.deep.equal(await acts.read());
      expect(fresh?.newest?.organizationId).to.equal(undefined);
    });

    it("says nothing until it has read all, a few rows at a time", async () => {
      const { cell } = opened;
      const acts = new ActsWithoutPersonCount(cell, cell, { statements: 2, rows: 2 });
      const counts = [await acts.read(), await acts.read(), await acts.read()];
      expect(counts.map((counted) => counted?.count)).to.deep.equal([undefined, 4, 4]);
    });

    it("is read along the index of the acts", async () => {
      const bindings = [`'[{"book":1,"after_seq":2,"up_to_seq":3}]'`, "5"];
      const sql = actsSql(opened.cell.engine).replaceAll("?", () => bindings.shift() ?? "");
      const settings = engine === "postgres" ? ["SET enable_seqscan = off"] : [];
      const plan = JSON.stringify(await execute(opened.address, ...settings, `${EXPLAIN[engine]} ${sql}`));
      expect(plan).to.match(engine === "sqlite" ? /SEARCH j USING INDEX journal_own_rows/ : /journal_own_rows/);
      expect(plan).not.to.match(/Seq Scan/);
    });
  });
}

it("the newest act of several cells is the newest of all", () => {
  const act = (organizationId: string, recordedAt: number) => ({ count: 2, newest: { organizationId, recordedAt } });
  expect(sumOf([act("a", 1), { count: 0, newest: undefined }, act("b", 3), act("c", 2)])).to.deep.equal({
    count: 6,
    newest: { organizationId: "b", recordedAt: 3 },
  });
});
