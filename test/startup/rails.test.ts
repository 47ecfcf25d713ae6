import { readFileSync } from "node:fs";

import { expect } from "chai";
import { type Logger, pino } from "pino";
import { toUUID, type TypeId } from "typeid-js";

import type { RailAccountId } from "../../src/domain/payment.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { balanceNotes, railAccountsOf } from "../../src/startup/rails.js";
import { keys } from "../../src/storage/keys.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import type { RailAccountDirectory } from "../../src/storage/rails/rail-account-directory.js";
import { storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import { CERTIFICATE_FILE } from "../daraja/given.js";
import { balanceResult } from "../rails/mpesa/messages.js";
import { railSetting } from "../storage/rails/given-payments.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";
import { eventually } from "../support/eventually.js";

const ID = "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId;
const now = toUnixMillis(1_000_000_000_000);

// The UUID in ID.
const UUID = toUUID(ID as string as TypeId<"rail">);

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

  it("store the balance that a rail tells, and nothing else", async () => {
    const settings = JSON.stringify({
      baseUrl: "http://127.0.0.1:9",
      collectShortcode: "174379",
      payOutShortcode: "600992",
      initiatorName: "testapi",
      certificatePem: readFileSync(CERTIFICATE_FILE, "utf8"),
    });
    const names = ["consumerKey", "consumerSecret", "passkey", "initiatorPassword"];
    const credentials = JSON.stringify(Object.fromEntries(names.map((name) => [name, "secret"])));
    const mpesa = railSetting(opened, { id: ID, organizationId, rail: "mpesa", now, settings, credentials });
    await saveRailAccount(opened.database, mpesa);
    const callbacks = {
      settings: { baseUrl: "https://kesc.test", secretFile: "" },
      secrets: [Buffer.alloc(32)] as const,
    };
    const served = railAccountsOf(opened.cell, { callbacks, hosts: [], now: () => now, logger });
    await served.start();
    const note = balanceNotes(opened.cell, { rails: served, now: () => now, logger });
    const stored = async (): Promise<string | undefined> => (await storedRailAccounts(opened.cell))[0]?.balance?.json;

    note(UUID, { purpose: "balance", body: "no balance" });
    note("01932d53-1b2e-7c3a-8f00-0123456789ab", {
      purpose: "balance",
      body: balanceResult("Utility Account|KES|1.00"),
    });
    note(UUID, { purpose: "balance", body: balanceResult("Utility Account|KES|7.50|7.50|0.00|0.00") });
    const accounts = [{ name: "Utility Account", currency: "KES", availableCents: 750 }];
    await eventually(async () => (await stored()) === JSON.stringify({ accounts }));
    await served.stop();
    expect(lines).to.deep.equal([]);
  });
});
