import { expect } from "chai";
import { type Logger, pino } from "pino";

import type { RailAccountId } from "../../src/domain/payment.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { railAccountsOf } from "../../src/startup/rails.js";
import { keys } from "../../src/storage/keys.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import type { RailAccountDirectory } from "../../src/storage/rails/rail-account-directory.js";
import { railSetting } from "../storage/rails/given-payments.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";

const ID = "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId;
const now = toUnixMillis(1_000_000_000_000);

describe("the rails of a server", () => {
  let opened: TestDatabase;
  let organizationId: OrganizationId;
  let rails: RailAccountDirectory;
  let logger: Logger;
  let lines: Readonly<Record<string, unknown>>[];
  beforeEach(async () => {
    opened = await openTestDatabase("sqlite");
    const created = await keys(opened.database, () => now).createOrganization("rails", { isSandbox: true });
    organizationId = created.id;
    lines = [];
    const write = (line: string): void => {
      lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
    };
    logger = pino({ base: null, timestamp: false }, { write });
    rails = railAccountsOf(opened.cell, { callbacks: undefined, hosts: [], now: () => now, logger });
  });
  afterEach(async () => {
    await rails.stop();
    await opened.dispose();
  });

  const save = (rail: string, credentialsExpireAt?: number): Promise<void> => {
    const expireAt = credentialsExpireAt === undefined ? undefined : toUnixMillis(credentialsExpireAt);
    const setting = railSetting(opened, { id: ID, organizationId, rail, now, credentialsExpireAt: expireAt });
    return saveRailAccount(opened.database, setting);
  };

  it("are the accounts that operators have set", async () => {
    await save("sandbox");
    await rails.start();
    expect(rails.account(ID)?.rail.name).to.equal("sandbox");
    expect(lines).to.deep.equal([]);
  });

  it("tell why an account cannot be used, and when its credentials expire", async () => {
    await save("mpesa", now + 1);
    await rails.start();
    expect(rails.account(ID)).to.equal(undefined);
    const facts = { cell: 0, organization_id: organizationId, rail: "mpesa", rail_account_id: ID };
    expect(lines).to.have.lengthOf(2);
    expect(lines[0]).to.deep.include({ ...facts, level: 50, msg: "an account at a rail cannot be used" });
    expect(String(lines[0]?.["message"])).to.contain("collectShortcode is missing.");
    expect(lines[1]).to.deep.include({ ...facts, level: 40, expire_at: "2001-09-09T01:46:40.001Z" });
  });
});
