import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { makeTenants, type Tenant, withKeys } from "../../support/service/tenants.js";
import { Random } from "../random.js";
import { type Audit, audit, verified } from "./audit.js";
import { type Acknowledged, Clients } from "./clients.js";
import { Victim } from "./victim.js";

const KILLS = 2;

describe("the audit after kills with -9", () => {
  let database: TestDatabase;
  let victim: Victim;
  let clients: Clients;
  let caller: GrpcCaller;
  let tenant: Tenant;
  before(async () => {
    database = await openTestDatabase("sqlite");
    [tenant] = await withKeys(database.url, makeTenants);
    const { key } = tenant;
    victim = new Victim(database.url);
    await victim.start();
    clients = new Clients([victim.address], { key, random: new Random(1), count: 32 });
    await clients.start();
    for (let kills = 0; kills < KILLS; kills += 1) {
      await sleep(200);
      await victim.kill();
      await victim.start();
    }
    await clients.stop();
    caller = new GrpcCaller(victim.address, { key });
  });
  after(async () => {
    caller.close();
    await victim.kill();
    await database.dispose();
  });

  function auditOf(acknowledged: readonly Acknowledged[]): Promise<Audit> {
    return audit(acknowledged, { caller, databaseUrl: database.url, organizationId: tenant.organizationId });
  }

  it("finds every acknowledged effect, and no other", async () => {
    expect(clients.violations).to.deep.equal([]);
    expect(clients.retries).to.be.greaterThan(0);
    const checked = clients.acknowledged.length;
    expect(await auditOf(clients.acknowledged)).to.deep.equal({ checked, lost: [], doubled: [], wrong: [] });
    expect(await verified(database.url)).to.deep.equal([]);
  });

  it("finds an effect that is gone, one that differs, and one that no client asked for", async () => {
    const [first, second, ...others] = clients.acknowledged.filter(({ kind }) => kind === "Mint").toReversed();
    if (first === undefined || second === undefined) throw new Error("the clients have minted next to nothing");
    const gone = { ...first, naturalKey: "gone", id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye" };
    const other = { ...second, cents: second.cents + 1 };
    const rest = clients.acknowledged.filter(({ kind }) => kind !== "Mint");
    const { lost, doubled, wrong } = await auditOf([...rest, ...others, gone, other]);
    expect(lost).to.have.length(2);
    expect(lost.join()).to.contain('"gone"').and.contain("NOT_FOUND").and.contain(second.naturalKey);
    expect(doubled).to.deep.equal([`${first.naturalKey} also made ${first.id}`]);
    // The balance is the same with the first mint as with the one that never was: only the cent of
    // the other shows.
    expect(wrong).to.have.length(1);
  });
});
