import { expect } from "chai";

import { SERVICES } from "../../client/gen/tables.js";
import { KescClient, KescError } from "../../client/kesc-client.js";
import { makeThings, rpcRequest } from "../support/callers/rpc-requests.js";
import type { Things } from "../support/operations/things.js";
import { failPayment, flag } from "../support/operations/transactions.js";
import { fresh } from "../support/service/each-engine.js";
import { WithRails } from "../support/service/with-rails.js";
import { type Matcher, TcpForwarder } from "../support/tcp-forwarder.js";

// The connection of this client ends in place of the first response to each call.

const HEADERS = 1;
const FRAME_HEADER_BYTES = 9;

/** Finds the beginning of a response among the frames of HTTP/2. */
const RESPONSE: Matcher = {
  test(text) {
    const bytes = Buffer.from(text, "latin1");
    for (let at = 0; at + FRAME_HEADER_BYTES <= bytes.length; at += FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3)) {
      if (bytes[at + 3] === HEADERS) return true;
    }
    return false;
  },
  source: "a response",
};

/** Its repeat asks for the same event once more, so it is no replay. */
const NOT_MARKED = "resendWebhookDelivery";
/** No host of this name exists, so no event is sent anywhere. */
const HOOKS = "https://kesc.invalid/";
/** The period is over, so the lines of it never change. */
const PERIOD = { start: "2026-01-01", end: "2026-01-02" };
const TILL = { kind: "till", number: "5432321" } as const;

/** The fields of a request, or the items of a stream of requests. */
type Request = object;

/** The requests of the streams that RPC_REQUESTS has only as refusals. */
const STREAMS: Readonly<Record<string, (things: Things) => object>> = {
  watchEvents: ({ account_id }) => ({ account_id }),
  exportStatement: ({ account_id }) => ({ account_id, ...PERIOD }),
  exportJournal: () => PERIOD,
  exportGeneralLedger: () => PERIOD,
};

/** What a caller learns of a call: its response, the items of its stream, or its refusal. */
async function outcomeOf(call: unknown): Promise<unknown> {
  try {
    if (isPromise(call)) return await call;
    // A watch goes on for ever.
    return await itemsOf(call as AsyncIterable<unknown>, 2);
  } catch (error) {
    if (!(error instanceof KescError)) throw error;
    const { code, reason, facts, fields } = error;
    return { code, reason, facts, fields };
  }
}

async function itemsOf(stream: AsyncIterable<unknown>, itemsMax = Infinity): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of stream) {
    items.push(item);
    if (items.length === itemsMax) break;
  }
  return items;
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

/** The members of a value, with the kinds of what they hold. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== "object" || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}

describe("@kesc/client, after each response was lost once", () => {
  let service: WithRails;
  let network: TcpForwarder;
  let things: Things;
  let direct: KescClient;
  let lossy: KescClient;

  before(async () => {
    service = await WithRails.start();
    const { grpcAddress, rest } = service.running;
    network = await TcpForwarder.start(Number(grpcAddress.split(":")[1]));
    things = await makeThings((method, path, call) => rest.send(method, path, call), service.key);
    direct = new KescClient({ address: grpcAddress, apiKey: service.key });
    lossy = new KescClient({ address: `127.0.0.1:${String(network.port)}`, apiKey: service.key });
  });
  after(async () => {
    direct.close();
    lossy.close();
    await network.stop();
    await service.dispose();
  });

  // An organization has at most ten.
  afterEach(async () => {
    for await (const { id, url } of direct.webhooks.listWebhookEndpoints()) {
      if (url.startsWith(HOOKS)) await direct.webhooks.deleteWebhookEndpoint({ webhook_endpoint_id: id });
    }
  });

  /** Calls through the network that loses the first response. */
  async function withLoss<Result>(call: (kesc: KescClient) => Promise<Result>): Promise<Result> {
    const lost = network.loseAnswer(RESPONSE);
    const [result] = await Promise.all([call(lossy), lost]);
    return result;
  }

  const account = async (): Promise<string> => {
    const made = await direct.accounts.createAccount({ user_id: fresh("user"), phone_number: "0712345678" });
    return made.account.id;
  };
  const version = async () => {
    const account_id = await account();
    const { etag } = (await direct.accounts.getAccount({ account_id })).account;
    return { account_id, etag };
  };
  const mint = async (amount = "10.00") => {
    const account_id = await account();
    const { transaction } = await direct.transactions.mint({ account_id, amount, reference: fresh("ref") });
    return { account_id, transaction_id: transaction.id };
  };
  const frozen = async () => {
    const account_id = await account();
    const { freeze } = await direct.accounts.freezeAccount({ account_id, reason: "fraud" });
    return { account_id, freeze_id: freeze.id };
  };
  const flagged = async () => {
    const transaction_id = await service.unknownMint(100);
    await service.submit(failPayment(service.organizationId, transaction_id));
    await service.submit(flag(service.organizationId, transaction_id, "NOT_CREDITED"));
    return { transaction_id, flag: "not_credited" } as const;
  };
  const endpoint = async () => {
    const made = await direct.webhooks.createWebhookEndpoint({ url: HOOKS + fresh("hook") });
    return { webhook_endpoint_id: made.webhook_endpoint.id };
  };
  const movements = (account_id: string) => [
    { mint: { account_id, amount: "1.00", reference: fresh("ref") } },
    { redeem: { account_id, amount: "0.50", reference: fresh("ref") } },
  ];

  /** The request of each rpc that writes. */
  const WRITES: Readonly<Record<string, () => Request | Promise<Request>>> = {
    createAccount: () => ({ user_id: fresh("user"), phone_number: "0712345678" }),
    updateAccount: async () => ({ ...(await version()), phone_number: "0733111222" }),
    freezeAccount: async () => ({ account_id: await account(), reason: "court_order" }),
    unfreezeAccount: frozen,
    closeAccount: version,
    createDestination: async () => ({ account_id: await account(), ...TILL }),
    removeDestination: async () => {
      const account_id = await account();
      const made = await direct.accounts.createDestination({ account_id, ...TILL });
      return { account_id, destination_id: made.destination.id };
    },
    mint: async () => ({ account_id: await account(), amount: "1.00", reference: fresh("ref") }),
    createDeposit: () => ({ amount: "1.00", typed_reference: "", receipt: fresh("SB") }),
    redeem: async () => ({ account_id: (await mint()).account_id, amount: "1.00", reference: fresh("ref") }),
    batchCreateTransactions: async () => ({ requests: movements(await account()) }),
    importTransactions: async () => movements(await account()),
    reverseTransaction: async () => ({ transaction_id: (await mint()).transaction_id }),
    cancelTransaction: async () => {
      const [account_id, reference] = [await account(), fresh("ref")];
      // The sandbox begins no order of this number before somebody advances it.
      const order = { account_id, amount: "10.00", reference, rail: "sandbox", payer_phone_number: "+254700000017" };
      return { transaction_id: (await direct.transactions.mint(order)).transaction.id };
    },
    resolveTransaction: async () => ({ transaction_id: await service.unknownMint(100), failed: {} }),
    clearFlag: flagged,
    createWebhookEndpoint: () => ({ url: HOOKS + fresh("hook") }),
    updateWebhookEndpoint: async () => ({ ...(await endpoint()), description: fresh("words") }),
    deleteWebhookEndpoint: endpoint,
    rotateWebhookSecret: endpoint,
    resendWebhookDelivery: async () => ({ ...(await endpoint()), sequence: 1 }),
    replayWebhookEvents: async () => ({ ...(await endpoint()), start_sequence: 1, end_sequence: 3 }),
  };

  /** The calls whose repeat would be another deed: the client does not repeat them. */
  const UNKNOWN: typeof WRITES = {
    advanceTransaction: async () => ({ transaction_id: await service.mint(100) }),
    sendTestEvent: endpoint,
  };

  const rpcs = Object.entries(SERVICES).flatMap(([of, each]) =>
    Object.entries(each).map(([name, rpc]) => ({ of, name, rpc })),
  );

  it("are all rpcs of the client", () => {
    const writes = rpcs.filter(({ rpc }) => rpc.writes === true).map(({ name }) => name);
    expect([...Object.keys(WRITES), ...Object.keys(UNKNOWN)]).to.have.members(writes);
  });

  for (const { of, name, rpc } of rpcs.filter((each) => each.rpc.writes !== true)) {
    it(`${name} returns what it would have returned`, async () => {
      const request = STREAMS[name]?.(things) ?? rpcRequest(rpc.path.replace("/kesc.v1.", "")).request(things);
      const call = (kesc: KescClient): Promise<unknown> => outcomeOf(methodOf(kesc, of, name)(request));
      const expected = await call(direct);
      expect(await withLoss(call)).to.deep.equal(expected);
    });
  }

  /** Prepares a call. */
  async function prepared(name: string, request: () => Request | Promise<Request>) {
    const of = rpcs.find((each) => each.name === name)?.of ?? "";
    const given = await request();
    return async (kesc: KescClient): Promise<unknown> => {
      const call = methodOf(kesc, of, name)(given);
      return name === "importTransactions" ? { results: await itemsOf(call as AsyncIterable<unknown>) } : call;
    };
  }

  for (const [name, request] of Object.entries(WRITES)) {
    it(`${name} says what it has done, which happened once`, async () => {
      const once = await (await prepared(name, request))(direct);
      const [call, before] = [await prepared(name, request), await rowsOfBook()];
      const answer = await withLoss(call);
      expect(shapeOf(answer)).to.deep.equal(shapeOf(once));
      if (name !== NOT_MARKED) expect(replaysIn(answer)).to.deep.equal(replaysIn(once).map(() => true));
      expect(replaysIn(once)).to.not.include(true);
      const [after, again] = [await rowsOfBook(), await prepared(name, request)];
      const beforeAgain = await rowsOfBook();
      await again(direct);
      expect(after - before).to.equal((await rowsOfBook()) - beforeAgain);
    });
  }

  for (const [name, request] of Object.entries(UNKNOWN)) {
    it(`${name} says that its outcome is unknown`, async () => {
      const call = await prepared(name, request);
      expect(await withLoss((kesc) => outcomeOf(call(kesc)))).to.include({ reason: "OUTCOME_UNKNOWN" });
    });
  }

  async function rowsOfBook(): Promise<number> {
    return (await direct.events.listEvents()).latest_sequence;
  }
});

/** Whether the call, or each item of a call of many, was a replay. */
function replaysIn(answer: unknown): unknown[] {
  const { results, replayed } = answer as { results?: { replayed: boolean }[]; replayed?: boolean };
  return results?.map((each) => each.replayed) ?? [replayed];
}

/** The method of an rpc, by the name of its service. */
function methodOf(kesc: KescClient, service: string, name: string): (request: object) => unknown {
  const group = service.replace(/Service$/, "").toLowerCase();
  const [, methods] = Object.entries(kesc).find(([each]) => [group, `${group}s`].includes(each)) ?? [];
  const method = (methods as Record<string, (request: object) => unknown> | undefined)?.[name];
  if (method === undefined) throw new Error(`the client has no ${service}.${name}`);
  return method;
}
