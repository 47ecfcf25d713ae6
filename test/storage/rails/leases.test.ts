import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";

import { expect } from "chai";

import type { EarlyLease, LeaseStore } from "../../../src/leases/ports.js";
import { openDatabase } from "../../../src/storage/database.js";
import { leases } from "../../../src/storage/rails/leases.js";
import { databaseOfEachTest, ENGINES, execute } from "../../support/databases.js";

const LONG_MILLIS = 3_600_000;

for (const engine of ENGINES) {
  describe(`leases (${engine})`, () => {
    const opened = databaseOfEachTest(engine);
    let store: LeaseStore;
    let early: EarlyLease[];
    beforeEach(() => {
      early = [];
      store = leases(opened.cell, (lease) => early.push(lease));
    });

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

    it("go to another holder if they end later than any lease can: a clock was wrong", async () => {
      await take("a");
      const later = (millis: number): Promise<unknown> =>
        execute(opened.address, `UPDATE leases SET until = until + ${String(millis)}`);
      await later(LONG_MILLIS / 2);
      expect(await take("b")).to.equal(false);
      await later(LONG_MILLIS);
      expect(await take("b")).to.equal(true);
      expect(early).to.have.lengthOf(1);
      expect(early[0]).to.include({ name: "settlement", because: "it was taken by a wrong clock" });
      expect(early[0]?.leftMillis).to.be.within(2 * LONG_MILLIS, 3 * LONG_MILLIS);
    });

    it("go to one of many who ask at once", async () => {
      const holders = Array.from({ length: 8 }, (_, index) => `holder ${String(index)}`);
      const taken = await Promise.all(holders.map((holder) => take(holder).catch(() => false)));
      expect(taken.filter(Boolean)).to.have.lengthOf(1);
    });
  });
}

describe("leases of an SQLite file", () => {
  const opened = databaseOfEachTest("sqlite");
  let filename: string;
  beforeEach(() => {
    filename = opened.address.engine === "sqlite" ? opened.address.filename : "";
  });

  const HOLD = `
    const { ServerLock } = await import(process.argv[1]);
    const lock = new ServerLock(process.argv[2]);
    process.stdout.write(String(lock.take()));
    setInterval(() => lock, 60_000);`;
  const MODULE = new URL("../../../src/storage/sqlite/server-lock.js", import.meta.url).href;

  /** Starts a process that has the lock, as a server has it. */
  async function otherServer(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ["--input-type=module", "-e", HOLD, MODULE, filename]);
    const [taken] = (await once(child.stdout, "data")) as [Buffer];
    expect(taken.toString()).to.equal("true");
    return child;
  }

  const take = (store: LeaseStore, holder: string): Promise<boolean> =>
    store.take("settlement", { holder, millis: LONG_MILLIS });

  it("go to the next server at once when a process is killed, and not while it lives", async () => {
    const early: EarlyLease[] = [];
    const next = leases(opened.cell, (lease) => early.push(lease));
    const other = await otherServer();
    expect(await take(leases({ ...opened.cell, serverLock: undefined }), "killed")).to.equal(true);
    expect(await take(next, "next")).to.equal(false);

    other.kill("SIGKILL");
    await once(other, "exit");
    expect(await take(next, "next")).to.equal(true);
    expect(early).to.have.lengthOf(1);
    expect(early[0]).to.include({ name: "settlement", because: "its server has ended" });
  });

  it("are taken over once by the server that has the lock, and by no other", async () => {
    const first = leases(opened.cell);
    expect(await take(first, "first")).to.equal(true);
    const beside = await openDatabase(opened.address);
    expect(await take(leases(beside.cells[0]), "beside")).to.equal(false);
    await beside.close();
    expect(opened.cell.serverLock?.take()).to.equal(true);

    // A server that went on without the lock has it in time, as on PostgreSQL.
    await execute(opened.address, "UPDATE leases SET holder = 'in time'");
    expect(await take(first, "first")).to.equal(false);
  });

  it("leave an empty file beside the database, which only its owner can read", async () => {
    await take(leases(opened.cell), "a");
    const { size, mode } = statSync(`${filename}-lock`);
    expect([size, mode & 0o777]).to.deep.equal([0, 0o600]);
  });
});
