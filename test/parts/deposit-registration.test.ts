import { expect } from "chai";

import { newOrganization } from "../../daraja/mpesa/organization.js";
import { type Daraja, startDaraja } from "../../daraja/simulator.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { AskedRegistration, DepositRegistered } from "../../src/operators/rails.js";
import { depositRegistration } from "../../src/parts/deposit-registration.js";
import type { Callbacks } from "../../src/startup/rails.js";
import { keys } from "../../src/storage/keys.js";
import { saveRailAccount } from "../../src/storage/rails/change-rail-accounts.js";
import { deposits } from "../../src/storage/rails/deposits.js";
import { setMpesa } from "../e2e/rails/mpesa-account.js";
import { railSetting } from "../storage/rails/given-payments.js";
import { openTestDatabase, type TestDatabase } from "../support/databases.js";

const NOW = toUnixMillis(1_700_000_000_000);
const LATER = toUnixMillis(NOW + 1_000);
const CALLBACKS: Callbacks = {
  settings: { baseUrl: "https://kesc.test", secretFile: "" },
  secrets: [Buffer.alloc(32, 5)],
};

describe("the registration for deposits", () => {
  let daraja: Daraja;
  let opened: TestDatabase;
  let organizationId: OrganizationId;
  let callbacks: Callbacks | undefined;
  let hosts: readonly string[];
  let begun: number;

  beforeEach(async () => {
    begun = 0;
    callbacks = CALLBACKS;
    hosts = ["127.0.0.1"];
    daraja = await startDaraja({ organizations: [newOrganization({ c2bVersion: 2 })] });
    opened = await openTestDatabase("sqlite");
    organizationId = (await keys(opened.database, () => NOW).createOrganization("Duka")).id;
    const given = { organizationId, baseUrl: daraja.url, organization: daraja.organization, now: NOW };
    await setMpesa(opened.database, given);
  });
  afterEach(async () => {
    await daraja.close();
    await opened.dispose();
  });

  function register(rail = "mpesa", now = NOW, mayBegin = true): Promise<DepositRegistered> {
    const registration = depositRegistration(opened.database, { callbacks: () => callbacks, hosts, now: () => now });
    const asked: AskedRegistration = {
      rail: rail as Rail,
      contact: "+254700000001" as PhoneNumber,
      mayBegin: () => {
        begun += 1;
        return Promise.resolve(mayBegin);
      },
    };
    return registration.register({ id: organizationId, cell: 0, isSandbox: false }, asked);
  }

  const since = async (): Promise<readonly number[]> =>
    (await deposits(opened.cell).dueLists(LATER)).map((list) => list.since);

  it("makes payments deposits from now on, and the list due", async () => {
    expect(await register()).to.deep.equal({ kind: "registered", since: NOW, keptAddresses: false });
    expect(await since()).to.deep.equal([NOW]);
  });

  it("keeps the moment of the first, and says that M-Pesa keeps its addresses", async () => {
    await register();
    expect(await register("mpesa", LATER)).to.deep.equal({ kind: "registered", since: NOW, keptAddresses: true });
  });

  it("begins nothing unless the book may change, and is whole the second time", async () => {
    expect(await register("mpesa", NOW, false)).to.deep.equal({ kind: "ended" });
    expect(await since()).to.deep.equal([]);
    expect(await register()).to.include({ kind: "registered", keptAddresses: true });
  });

  it("begins nothing when the rail refuses", async () => {
    daraja.organization.c2bVersion = 1;
    expect(await register()).to.deep.equal({
      kind: "failed",
      code: "the app lacks the product of this path (401.003.01, /mpesa/c2b/v2/registerurl)",
    });
    await daraja.goOffline();
    expect(await register()).to.include({ kind: "failed" });
    expect(await since()).to.deep.equal([]);
    expect(begun, "changes of the book").to.equal(0);
  });

  it("needs an account, of a rail with lists, that this program can open, and callbacks", async () => {
    expect(await register("airtel")).to.deep.equal({ kind: "no account" });
    const setting = railSetting(opened, { id: "rail_2" as RailAccountId, organizationId, rail: "sandbox", now: NOW });
    await saveRailAccount(opened.database, setting);
    expect(await register("sandbox")).to.include({ kind: "unusable" });
    hosts = [];
    expect(await register()).to.include({ kind: "unusable", problem: "must have an account that can be used" });
    callbacks = undefined;
    expect((await register()).kind).to.equal("unusable");
  });
});
