import { statSync } from "node:fs";

import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { StoreError } from "../../src/ledger/ports/store.js";
import { keys } from "../../src/storage/keys.js";
import { WriteCheck } from "../../src/storage/write-check.js";
import { databaseOfSuite, ENGINES, execute, type TestDatabase } from "../support/databases.js";

const unavailable = new StoreError("unavailable", new Error("the disk is full"));

for (const engine of ENGINES) {
  describe(`the check after a batch that was not committed (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    before(async () => {
      await keys(opened.database, () => toUnixMillis(Date.now())).createOrganization("one");
    });

    it("writes nothing as long as no batch has failed", async () => {
      const writes = new WriteCheck({ tryToWrite: () => Promise.reject(new Error("a trial write")) });
      for (const kind of ["conflict", "rejected"] as const) writes.failed(new StoreError(kind, undefined));
      await writes.check();
    });

    it("fails after a batch has failed, and succeeds once a trial write does", async () => {
      const writes = new WriteCheck(opened.cell);
      const before = await everything(opened);
      const writtenBefore = await written(opened);
      for (let time = 0; time < 2; time += 1) {
        writes.failed(unavailable);
        expect(await failureOf(writes.check())).to.equal("a batch could not be committed");
      }
      expect(await written(opened)).to.equal(writtenBefore);
      await writes.check();
      expect(await written(opened)).to.not.equal(writtenBefore);
      expect(await everything(opened)).to.deep.equal(before);
    });
  });
}

describe("the check while a trial write fails", () => {
  it("fails, and starts no second trial write beside one that hangs", async () => {
    const pending: ((error: Error) => void)[] = [];
    const writes = new WriteCheck({ tryToWrite: () => new Promise((_, reject) => pending.push(reject)) });
    writes.failed(unavailable);
    await failureOf(writes.check());
    const hanging = [failureOf(writes.check()), failureOf(writes.check())];
    expect(pending).to.have.length(1);
    pending[0]?.(new Error("still full"));
    expect(await Promise.all(hanging)).to.deep.equal(["still full", "still full"]);
    const again = failureOf(writes.check());
    pending[1]?.(new Error("full as before"));
    expect(await again).to.equal("full as before");
  });
});

/** All rows of the books. */
function everything({ address }: TestDatabase): Promise<unknown[]> {
  return execute(address, "SELECT * FROM books ORDER BY number");
}

/** A value that changes when something is written to the disk. */
async function written({ address }: TestDatabase): Promise<unknown> {
  if (address.engine === "sqlite") return statSync(`${address.filename}-wal`).size;
  const [row] = await execute<{ version: unknown }>(address, "SELECT xmin::text AS version FROM books");
  return row?.version;
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return "none";
}
