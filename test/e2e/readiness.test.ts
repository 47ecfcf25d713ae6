import { expect } from "chai";

import { execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { startPostgres } from "../support/postgres.js";
import { newAccount } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

/** The time within which a server notices that its database is not fit. */
const NOTICED_MILLIS_MAX = 10_000;

async function expectReadyz(service: Service, status: 200 | 503): Promise<void> {
  await eventually(async () => (await service.rest("GET", "/readyz")).status === status, {
    millisMax: NOTICED_MILLIS_MAX,
    what: () => `/readyz never became ${String(status)}: ${service.printed()}`,
  });
}

async function mintStatus(service: Service, accountId: string, reference: string): Promise<number> {
  const body = { account_id: accountId, amount: 1, reference };
  return (await service.rest("POST", "/transactions/mint", { body })).status;
}

describe("a server whose PostgreSQL is changed under it", () => {
  it("is not ready while commits are not durable, and names the setting", async () => {
    const postgres = await startPostgres();
    const service = await Service.start("postgres", { DATABASE_URL: await postgres.createDatabase() });
    const setFsync = (value: string): Promise<unknown> =>
      execute(
        { engine: "postgres", url: service.databaseUrl },
        `ALTER SYSTEM SET fsync = ${value}`,
        "SELECT pg_reload_conf()",
      );
    try {
      await expectReadyz(service, 200);
      const accountId = await newAccount(service, "1.00");
      await setFsync("off");
      await expectReadyz(service, 503);
      // No caller gets a success for a commit that a power cut may lose.
      expect(await mintStatus(service, accountId, "not durable")).to.equal(503);
      await eventually(() => service.printed().includes("the PostgreSQL setting fsync is off"), {
        millisMax: NOTICED_MILLIS_MAX,
        what: () => `the setting is not named: ${service.printed()}`,
      });
      await setFsync("on");
      await expectReadyz(service, 200);
      expect(await mintStatus(service, accountId, "not durable")).to.equal(201);
    } finally {
      await service.dispose();
      await postgres.stop();
    }
  });

  it("is not ready while it takes no commits, although it can be read", async () => {
    const service = await Service.start("postgres");
    const run = (...statements: readonly string[]): Promise<unknown> =>
      execute({ engine: "postgres", url: service.databaseUrl }, ...statements);
    try {
      const accountId = await newAccount(service, "1.00");
      await run(
        `CREATE FUNCTION disk_is_full() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'disk_full'; END $$`,
        "CREATE TRIGGER full_disk BEFORE UPDATE ON books EXECUTE FUNCTION disk_is_full()",
      );
      await expectReadyz(service, 200);
      expect(await mintStatus(service, accountId, "on a full disk")).to.equal(503);
      await expectReadyz(service, 503);
      expect((await service.rest("GET", `/accounts/${accountId}`)).status).to.equal(200);
      await run("DROP TRIGGER full_disk ON books");
      await expectReadyz(service, 200);
      expect(await mintStatus(service, accountId, "on a full disk")).to.equal(201);
    } finally {
      await service.dispose();
    }
  });
});
