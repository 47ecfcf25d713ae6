import { statSync } from "node:fs";

import { expect } from "chai";

import { truncateLog, vacuumPersonalData } from "../../src/storage/erased-bytes.js";
import { execute, openTestDatabase, type TestDatabase } from "../support/databases.js";

describe("the log of an SQLite database", () => {
  let database: TestDatabase;
  let filename: string;
  before(async () => {
    database = await openTestDatabase("sqlite");
    if (database.address.engine !== "sqlite") throw new Error("not SQLite");
    ({ filename } = database.address);
  });
  after(() => database.dispose());

  const write = (): Promise<unknown> =>
    execute(database.address, "CREATE TABLE IF NOT EXISTS words (word TEXT)", "INSERT INTO words VALUES ('word')");
  const logBytes = (): number => statSync(`${filename}-wal`).size;

  it("has no bytes afterwards, while the service has the file open", async () => {
    await write();
    expect(logBytes()).to.be.greaterThan(0);
    expect(await truncateLog(filename, { retryMillisMax: 0 })).to.equal(true);
    expect(logBytes()).to.equal(0);
  });

  it("keeps its bytes while somebody reads an older state, and loses them once that read has ended", async () => {
    await database.cell.reader.snapshot(async (snapshot) => {
      await snapshot.rows("SELECT * FROM words").next();
      await write();
      expect(await truncateLog(filename, { retryMillisMax: 0 })).to.equal(false);
      expect(logBytes()).to.be.greaterThan(0);
    });
    expect(await truncateLog(filename, { retryMillisMax: 0 })).to.equal(true);
    expect(logBytes()).to.equal(0);
  });

  it("is cut by a later try", async () => {
    let truncating: Promise<boolean> | undefined;
    await database.cell.reader.snapshot(async (snapshot) => {
      await snapshot.rows("SELECT * FROM words").next();
      await write();
      truncating = truncateLog(filename, { retryMillisMax: 60_000 });
      // Lets the first try fail: it runs before this turn of the event loop.
      await new Promise(setImmediate);
    });
    expect(await truncating).to.equal(true);
    expect(logBytes()).to.equal(0);
  });
});

describe("the table of personal data on PostgreSQL", () => {
  it("is not written anew while another transaction reads it, so that no call waits for long", async () => {
    const database = await openTestDatabase("postgres");
    try {
      const error: unknown = await database.cell.reader.snapshot(async (snapshot) => {
        await snapshot.rows("SELECT * FROM account_holders").next();
        return vacuumPersonalData(database.url, database.cell.engine).catch((thrown: unknown) => thrown);
      });
      expect(error).to.include({ code: "55P03" });
      await vacuumPersonalData(database.url, database.cell.engine);
    } finally {
      await database.dispose();
    }
  });
});
