import { expect } from "chai";

import type { LeaseStore } from "../../../src/leases/ports.js";
import { leases } from "../../../src/storage/rails/leases.js";
import { ENGINES, execute, openTestDatabase, type TestDatabase } from "../../support/databases.js";

const LONG_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`leases (${engine})`, () => {
    let opened: TestDatabase;
    let store: LeaseStore;
    beforeEach(async () => {
      opened = await openTestDatabase(engine);
      store = leases(opened.cell);
    });
    afterEach(() => opened.dispose());

    const take = (holder: string, millis = LONG_MILLIS, name = "settlement"): Promise<boolean> =>
      store.take(name, { holder, millis });
    const row = async (): Promise<{ holder: string; fence: number }> => {
      const [found] = await execute<{ holder: string; fence: number | string }>(
        opened.address,
        "SELECT holder, fence FROM leases WHERE name = 'settlement'",
      );
      return { holder: found?.holder ?? "", fence: Number(found?.fence) };
    };

    it("belong to one holder, who renews them", async () => {
      expect(await take("a")).to.equal(true);
      expect(await take("b")).to.equal(false);
      expect(await take("a")).to.equal(true);
      expect(await take("b", LONG_MILLIS, "seals")).to.equal(true);
      expect(await row()).to.deep.equal({ holder: "a", fence: 1 });
    });

    it("go to another holder once they have run out, by the clock of the database", async () => {
      expect(await take("a", 0)).to.equal(true);
      expect(await take("b")).to.equal(true);
      expect(await take("a")).to.equal(false);
      expect(await row()).to.deep.equal({ holder: "b", fence: 2 });
    });

    it("end when their holder gives them back, and not when another does", async () => {
      await take("a");
      await store.release("settlement", "b");
      expect(await take("b")).to.equal(false);
      await store.release("settlement", "a");
      expect(await take("b")).to.equal(true);
      await store.release("unknown", "a");
    });

    it("last as long as they were taken for", async () => {
      await take("a");
      const left = `SELECT until - ${opened.cell.engine.nowMillis} AS millis FROM leases`;
      const [found] = await execute<{ millis: number | string }>(opened.address, left);
      expect(Number(found?.millis)).to.be.within(LONG_MILLIS - 60_000, LONG_MILLIS);
    });

    it("go to one of many who ask at once", async () => {
      const holders = Array.from({ length: 8 }, (_, index) => `holder ${String(index)}`);
      const taken = await Promise.all(holders.map((holder) => take(holder).catch(() => false)));
      expect(taken.filter(Boolean)).to.have.lengthOf(1);
    });
  });
}
