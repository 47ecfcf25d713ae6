import { expect } from "chai";

import { ENGINES, execute } from "../support/databases.js";
import { eventually } from "../support/eventually.js";
import { expectBooksHold, fresh, newAccount } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";
import { Receiver, verifySignature } from "../support/webhooks/receiver.js";

const EVENTS = 600;
const BATCH = 100;
const WEBHOOKS = { KESC_WEBHOOKS_ALLOW: "127.0.0.1" };
/** A server that waits for the lease asks for it every 15 seconds. */
const ARRIVED_MILLIS_MAX = 60_000;
// As if the minute of the killed server were over.
const EXPIRE_LEASE = "UPDATE leases SET until = 0";

async function newEndpoint(service: Service, { url }: Receiver): Promise<{ id: string; secret: string }> {
  const created = await service.rest("POST", "/webhook-endpoints", { body: { url, types: ["transaction.completed"] } });
  if (created.status !== 201) throw new Error(created.text);
  return created.json as { id: string; secret: string };
}

/** Mints with the key of the first service's organization; returns the ids of the transactions. */
async function mint({ grpc }: Service, key: string, { accountId, count }: { accountId: string; count: number }) {
  const ids: string[] = [];
  while (ids.length < count) {
    const requests = Array.from({ length: BATCH }, () => ({
      mint: { account_id: accountId, amount: "0.01", reference: fresh("hook") },
    }));
    const { response } = await grpc.call("BatchCreateTransactions", { requests }, { key });
    const results = response["results"] as { transaction: { id: string } }[];
    ids.push(...results.map(({ transaction }) => transaction.id));
  }
  return ids;
}

/** The transactions of the deliveries that came, with the webhook-ids of each. */
function arrived({ received }: Receiver): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { id, json } of received) {
    const transaction = (json.data["transaction"] as { id: string }).id;
    ids.set(transaction, (ids.get(transaction) ?? new Set()).add(id));
  }
  return ids;
}

async function allArrive(receiver: Receiver, ids: readonly string[]): Promise<void> {
  const missing = (): number => {
    const found = arrived(receiver);
    return ids.filter((id) => !found.has(id)).length;
  };
  await eventually(() => missing() === 0, {
    millisMax: ARRIVED_MILLIS_MAX,
    what: () => `${String(missing())} of ${String(ids.length)} transactions did not arrive`,
  });
}

function expectSameIds(receiver: Receiver, secret: string): void {
  const ids = [...arrived(receiver).values()];
  expect(ids.filter(({ size }) => size !== 1)).to.deep.equal([]);
  expect(new Set(ids.flatMap((each) => [...each])).size).to.equal(ids.length);
  for (const received of receiver.received) verifySignature(received, secret);
}

for (const engine of ENGINES) {
  describe(`a server that is killed with -9 while it delivers webhooks (${engine})`, function () {
    this.timeout(3 * ARRIVED_MILLIS_MAX);
    let service: Service;
    let receiver: Receiver;
    before(async () => {
      service = await Service.start(engine, WEBHOOKS);
      receiver = await Receiver.start();
    });
    after(async () => {
      await receiver.close();
      await service.dispose();
    });

    it("delivers every event after its restart, each with the same webhook-id as before", async () => {
      const { secret } = await newEndpoint(service, receiver);
      const accountId = await newAccount(service);
      // Some deliveries have their response when the server dies, some are under way, all others
      // wait.
      receiver.answer = (response) => {
        if (receiver.received.length % 3 !== 0) response.writeHead(204).end();
      };
      const ids = await mint(service, service.a.key, { accountId, count: EVENTS });
      await eventually(() => receiver.received.length >= BATCH, { millisMax: ARRIVED_MILLIS_MAX });
      await service.kill();
      const before = receiver.received.length;
      expect(before).to.be.below(EVENTS);
      receiver.answer = (response) => response.writeHead(204).end();
      await execute({ engine, ...place(service.databaseUrl) }, EXPIRE_LEASE);
      await service.start();
      ids.push(...(await mint(service, service.a.key, { accountId, count: BATCH })));
      await allArrive(receiver, ids);
      expectSameIds(receiver, secret);
      // What was under way went out again.
      expect(receiver.received.length).to.be.above(ids.length);
      await expectBooksHold(service);
    });
  });
}

function place(databaseUrl: string): { filename: string; url: string } {
  return { filename: databaseUrl.replace(/^sqlite:/, ""), url: databaseUrl };
}

describe("two servers on one PostgreSQL that deliver webhooks, one of which is killed", function () {
  this.timeout(3 * ARRIVED_MILLIS_MAX);
  let first: Service;
  let second: Service | undefined;
  let receiver: Receiver;
  before(async () => {
    first = await Service.start("postgres", WEBHOOKS);
    receiver = await Receiver.start();
  });
  after(async () => {
    await receiver.close();
    await second?.dispose();
    await first.dispose();
  });

  it("deliver once while both live, and the other one goes on after the first has died", async () => {
    const { key } = first.a;
    const { secret } = await newEndpoint(first, receiver);
    const accountId = await newAccount(first);
    // The first server has the lease: it delivers before the second one begins.
    const ids = await mint(first, key, { accountId, count: BATCH });
    await allArrive(receiver, ids);
    second = await Service.start("postgres", { ...WEBHOOKS, DATABASE_URL: first.databaseUrl });

    for (const server of [first, second, first, second])
      ids.push(...(await mint(server, key, { accountId, count: BATCH })));
    await allArrive(receiver, ids);
    expect(receiver.received.length).to.equal(ids.length);

    const held = receiver.received.length;
    receiver.answer = (response) => {
      if (receiver.received.length % 3 !== 0) response.writeHead(204).end();
    };
    ids.push(...(await mint(second, key, { accountId, count: EVENTS })));
    await eventually(() => receiver.received.length >= held + BATCH, { millisMax: ARRIVED_MILLIS_MAX });
    await first.kill();
    expect(arrived(receiver).size).to.be.below(ids.length);
    receiver.answer = (response) => response.writeHead(204).end();
    await execute({ engine: "postgres", url: first.databaseUrl }, EXPIRE_LEASE);
    await allArrive(receiver, ids);
    expectSameIds(receiver, secret);
    await expectBooksHold(second);
  });
});
