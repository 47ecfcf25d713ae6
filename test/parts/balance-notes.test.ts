import { readFileSync } from "node:fs";

import { expect } from "chai";
import { pino } from "pino";
import { toUUID, type TypeId } from "typeid-js";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { balanceNotes } from "../../src/parts/balance-notes.js";
import { RailFaults } from "../../src/settlement/faults.js";
import type { SubmitWatch } from "../../src/settlement/ports/runtime.js";
import { railAccountsOf } from "../../src/startup/rails.js";
import { keys } from "../../src/storage/keys.js";
import { noteQuestion } from "../../src/storage/rails/balances.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import { storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import { CERTIFICATE_FILE } from "../daraja/given.js";
import { balanceResult } from "../rails/mpesa/messages.js";
import { railSetting } from "../storage/rails/given-payments.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";
import { eventually } from "../support/eventually.js";

const ID = "rail_01jd2r6p5vf8ksw3xhb1z7q4ye" as RailAccountId;
const [FIRST, SECOND] = ["01932d53-1b2e-7c3a-8f00-000000000001", "01932d53-1b2e-7c3a-8f00-000000000002"] as const;
const now = toUnixMillis(1_000_000_000_000);

describe("the balances of a server", () => {
  let opened: TestDatabase;
  beforeEach(async () => {
    opened = await openTestDatabase("sqlite");
  });
  afterEach(() => opened.dispose());

  it("store the balance that answers the last question, and nothing else", async () => {
    const lines: Readonly<Record<string, unknown>>[] = [];
    const write = (line: string): void => {
      lines.push(JSON.parse(line) as Readonly<Record<string, unknown>>);
    };
    const logger = pino({ base: null, timestamp: false }, { write });
    const { id: organizationId } = await keys(opened.database, () => now).createOrganization("rails", {
      isSandbox: true,
    });
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
    const watched: (number | undefined)[] = [];
    const submit: SubmitWatch = ({ availableCents }) => {
      watched.push(availableCents);
      return Promise.reject(new Error("the test has no ledger"));
    };
    const timing = { ...SYSTEM_TIMING, now: () => now };
    const faults = new RailFaults({ submitWatch: submit, timing, onEvent: () => undefined });
    const note = balanceNotes(opened.cell, { rails: served, faults, submit, timing, onEvent: () => undefined, logger });
    const told = (shillings: string) => ({
      purpose: "balance" as const,
      body: balanceResult(`Utility Account|KES|${shillings}|7.50|0.00|0.00&Working Account|KES|1.00`),
    });
    const stored = async (): Promise<string | undefined> => (await storedRailAccounts(opened.cell))[0]?.balance?.json;

    for (const [question, at] of [
      [FIRST, toUnixMillis(0)],
      [SECOND, now],
    ] as const) {
      await noteQuestion(opened.cell, { id: ID, question, at });
    }
    // No address of an earlier question counts, nor one that names the account.
    for (const uuid of [FIRST, toUUID(ID as string as TypeId<"rail">)]) note(uuid, told("1.00"));
    note(SECOND, { purpose: "balance", body: "no balance" });
    note(SECOND, told("7.50"));
    await eventually(async () => (await stored()) !== undefined && watched.length > 0);
    note(SECOND, told("9.00"));
    await eventually(() => lines.length > 0);
    const accounts = [
      { name: "Utility Account", currency: "KES", availableCents: 750 },
      { name: "Working Account", currency: "KES", availableCents: 100 },
    ];
    expect(await stored()).to.equal(JSON.stringify({ accounts }));
    // The ledger may warn of what is available for payouts.
    expect(watched).to.deep.equal([750]);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ level: 40, msg: "a balance was not stored" });
    await served.stop();
  });
});
