import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";

import { Server, ServerCredentials, type ServerDuplexStream, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { KescClient, KescError } from "../../client/kesc-client.js";
import { CONTRACT_URL, readContract } from "../../contract/contract.js";
import { TransactionServiceService } from "../../src/gen/kesc/v1/transaction_service.js";
import { type FakeRefusal, FakeServer, type Reply } from "../support/gateway/fake-server.js";
import { describeEachEngine, newAccount } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

const { registry } = readContract(readFileSync(CONTRACT_URL));

async function itemsOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function failureOf(promise: Promise<unknown>): Promise<KescError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof KescError)) throw new Error("the call did not fail with a KescError", { cause: error });
  return error;
}

/** What a program that sends or logs the value shows. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

describeEachEngine("KescClient", (service) => {
  let kesc: KescClient;
  let account_id: string;
  before(async () => {
    kesc = new KescClient({ address: service().grpcAddress, apiKey: service().a.key });
    account_id = await newAccount(service());
  });
  after(() => {
    kesc.close();
  });

  it("mints, and returns the same transaction for the same reference, marked as a replay", async () => {
    const mint = { account_id, amount: "12.50", reference: randomUUID(), metadata: { order: "17" } };
    const { transaction, replayed } = await kesc.transactions.mint(mint);
    expect(transaction).to.deep.include({ ...mint, type: "mint", status: "completed" });
    expect(replayed).to.equal(false);
    const again = await kesc.transactions.mint(mint);
    expect([again.transaction.id, again.replayed]).to.deep.equal([transaction.id, true]);
  });

  it("returns what JSON can hold, as REST writes it", async () => {
    const minted = await kesc.transactions.mint({ account_id, amount: "1.00", reference: randomUUID() });
    expect(asJson(minted)).to.deep.equal(minted);
    expect(minted.transaction.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { events, latest_sequence } = await kesc.events.listEvents({ page_size: 1 });
    expect(events[0]?.sequence).to.equal(1);
    expect(latest_sequence).to.be.a("number");
    const { account } = await kesc.accounts.getAccount({ account_id });
    const { json } = await service().rest("GET", `/accounts/${account_id}`);
    const { available_balance, held_balance, ...rest } = asJson(account) as Record<string, unknown>;
    const isThere = ([, value]: [string, unknown]): boolean => value !== null;
    expect({ ...rest, available_balance: Number(available_balance), held_balance: Number(held_balance) }).to.deep.equal(
      Object.fromEntries(Object.entries(json).filter(isThere)),
    );
  });

  it("has the reason, the facts and the fields of a refusal, also in its JSON", async () => {
    const failure = await failureOf(
      kesc.transactions.redeem({ account_id, amount: "99999.00", reference: randomUUID() }),
    );
    expect(failure).to.include({
      code: "FAILED_PRECONDITION",
      reason: "INSUFFICIENT_FUNDS",
      retryAfterMillis: undefined,
    });
    expect(failure.facts).to.include({ requested: "99999.00" });
    expect(failure.requestId).to.match(/^[0-9a-f-]{36}$/);
    expect(asJson(failure)).to.deep.include({ message: failure.message, reason: failure.reason, facts: failure.facts });
    const invalid = await failureOf(kesc.transactions.mint({ account_id, amount: "1.001", reference: "" }));
    expect(invalid.reason).to.equal("INVALID_FIELD");
    expect(invalid.fields.map(({ field }) => field)).to.deep.equal(["amount", "reference"]);
  });

  it("returns an outcome for each request of a batch, and for each of an import", async () => {
    const requests = () => [
      { mint: { account_id, amount: "1.00", reference: randomUUID() } },
      { redeem: { account_id, amount: "99999.00", reference: randomUUID() } },
    ];
    const { results } = await kesc.transactions.batchCreateTransactions({ requests: requests() });
    const imported = await itemsOf(kesc.transactions.importTransactions(requests()));
    for (const [minted, refused] of [results, imported]) {
      expect(minted).to.have.nested.property("transaction.amount", "1.00");
      expect(minted?.error).to.equal(undefined);
      expect(refused).to.have.nested.property("error.reason", "INSUFFICIENT_FUNDS");
      expect(refused).to.have.nested.property("error.facts.requested", "99999.00");
    }
  });

  it("returns a page of a list, and iterates over the items of all pages", async () => {
    const own = await newAccount(service());
    const references = ["a", "b", "c", "d", "e"].map((name) => `${name}-${randomUUID()}`);
    for (const reference of references) await kesc.transactions.mint({ account_id: own, amount: "1.00", reference });
    const list = { account_id: own, page_size: 2 };
    expect((await kesc.transactions.listTransactions(list)).transactions).to.have.length(2);
    const found = await itemsOf(kesc.transactions.listTransactions(list));
    expect(found.map(({ reference }) => reference)).to.deep.equal(references.toReversed());
    expect((await kesc.accounts.listAccounts()).accounts).to.not.deep.equal([]);
  });

  it("checks a request without doing anything", async () => {
    const reference = randomUUID();
    const mint = { account_id, amount: "1.00", reference };
    await kesc.transactions.mint(mint, { validateOnly: true }).then((response: unknown) => {
      expect(response).to.equal(undefined);
    });
    expect(await itemsOf(kesc.transactions.listTransactions({ reference }))).to.deep.equal([]);
  });

  it("ends a call when its signal aborts, with the reason of the signal", async () => {
    const reason = new Error("no longer wanted");
    const call = kesc.accounts.getAccount({ account_id }, { signal: AbortSignal.abort(reason) });
    expect(await call.catch((error: unknown) => error)).to.equal(reason);
    const later = new AbortController();
    const running = kesc.accounts.getAccount({ account_id }, { signal: later.signal });
    later.abort(reason);
    expect(await running.catch((error: unknown) => error)).to.equal(reason);
    const imported = itemsOf(kesc.transactions.importTransactions([], { signal: later.signal }));
    expect(await imported.catch((error: unknown) => error)).to.equal(reason);
  });

  it("fails every call with a KescError after it was closed, also one that is under way", async () => {
    const closing = new KescClient({ address: service().grpcAddress, apiKey: service().a.key });
    const running = failureOf(closing.accounts.getAccount({ account_id }));
    const watching = failureOf(itemsOf(closing.events.watchEvents()));
    closing.close();
    for (const call of [
      running,
      watching,
      failureOf(closing.accounts.getAccount({ account_id })),
      failureOf(itemsOf(closing.accounts.listAccounts())),
      failureOf(itemsOf(closing.events.watchEvents())),
    ]) {
      expect((await call).code).to.equal("CANCELLED");
    }
  });
});

describe("the API key of a KescClient", () => {
  const address = "127.0.0.1:1";
  const apiKey = `kesc_0_${"a".repeat(43)}`;

  it("may have white space around it, as a key from a file has", async () => {
    const kesc = new KescClient({ address, apiKey: ` ${apiKey}\r\n`, timeoutMillis: 100 });
    const failure = await failureOf(kesc.accounts.listAccounts());
    expect(["UNAVAILABLE", "DEADLINE_EXCEEDED"]).to.include(failure.code);
    kesc.close();
  });

  for (const [what, wrong] of [
    ["none", undefined as unknown as string],
    ["nothing", " "],
    ["two lines", `${apiKey}\n${apiKey}`],
    ["a letter beyond ASCII", `${apiKey}é`],
  ] as const) {
    it(`is refused with a TypeError that does not show it: ${what}`, () => {
      try {
        new KescClient({ address, apiKey: wrong });
        expect.fail("the key was taken");
      } catch (error) {
        const shown = inspect(error, { depth: 9, showHidden: true });
        expect(error).to.be.instanceOf(TypeError);
        expect(shown).to.include("apiKey must be one line of printable ASCII").and.not.to.include(apiKey);
      }
    });
  }

  it("goes with an address of gRPC, and not with a url", () => {
    for (const url of ["http://127.0.0.1:8080", "https://kesc.example.com", ""]) {
      expect(() => new KescClient({ address: url, apiKey })).to.throw(TypeError, /^address must be "host:port"/);
    }
  });
});

describe("KescClient: watchEvents", () => {
  it("yields each event once and in order while the server is killed and started again", async () => {
    const service = await Service.start("sqlite");
    const kesc = new KescClient({ address: service.grpcAddress, apiKey: service.a.key });
    try {
      const account_id = await newAccount(service);
      const ended = new AbortController();
      const seen: number[] = [];
      const last = 30;
      const watching = (async () => {
        for await (const { sequence } of kesc.events.watchEvents({}, { signal: ended.signal })) {
          seen.push(sequence);
          if (sequence === last) break;
        }
      })();
      for (let made = 1; made < last; made++) {
        if (made === 15) {
          await service.kill();
          await service.start();
        }
        await kesc.transactions.mint({ account_id, amount: "1.00", reference: `mint-${String(made)}` });
      }
      await watching;
      expect(seen).to.deep.equal(Array.from({ length: last }, (_, index) => index + 1));
    } finally {
      kesc.close();
      await service.dispose();
    }
  });

  it("says why it may not watch", async () => {
    const service = await Service.start("sqlite");
    const kesc = new KescClient({ address: service.grpcAddress, apiKey: "kesc_0_wrong" });
    try {
      expect(await failureOf(itemsOf(kesc.events.watchEvents()))).to.include({ reason: "INVALID_API_KEY" });
    } finally {
      kesc.close();
      await service.dispose();
    }
  });
});

/** What a test has opened. */
const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

function clientOf(address: string): KescClient {
  const kesc = new KescClient({ address, apiKey: "key", timeoutMillis: 10_000 });
  open.push(kesc);
  return kesc;
}

/** A client of a server that answers each call, by its number from 1 on, as the test says. */
async function served(answer: (call: number) => Reply) {
  const server = new FakeServer(registry);
  server.handle = () => answer(server.calls.length);
  await server.start();
  open.push({
    close: () => {
      server.stop();
    },
  });
  return { calls: server.calls, kesc: clientOf(server.target) };
}

const UNAVAILABLE = { code: Status.UNAVAILABLE, reason: "STORAGE_UNAVAILABLE", retryDelay: "1s" };
const refusingServer = (refusals: number, refusal: FakeRefusal = UNAVAILABLE) =>
  served((call) => (call <= refusals ? { refusal } : {}));

describe("KescClient: repeats", () => {
  const mint = { account_id: "acc_1", amount: "1.00", reference: "one" };

  it("repeats a call while the service is unavailable, under one request id", async () => {
    const { calls, kesc } = await refusingServer(2);
    await kesc.transactions.mint(mint);
    expect(calls.map(({ rpc }) => rpc)).to.deep.equal(["Mint", "Mint", "Mint"]);
    expect(new Set(calls.map(({ metadata }) => metadata["x-request-id"])).size).to.equal(1);
  });

  it("gives a freeze an idempotency key of its own, so that a repeat is not a second freeze", async () => {
    const { calls, kesc } = await refusingServer(1);
    // The service refuses a freeze without a reason, but this server does not look.
    const freeze = { account_id: "acc_1" } as Parameters<typeof kesc.accounts.freezeAccount>[0];
    await kesc.accounts.freezeAccount(freeze);
    await kesc.accounts.freezeAccount(freeze);
    const [first, second, other] = calls.map(({ metadata }) => metadata["idempotency-key"]);
    expect(first).to.match(/^[0-9a-f-]{36}$/);
    expect(second).to.equal(first);
    expect(other).to.not.equal(first);
  });

  it("repeats a call that does something each time only if the service has refused it", async () => {
    const { calls, kesc } = await refusingServer(1);
    await kesc.sandbox.advanceTransaction({ transaction_id: "txn_1" });
    expect(calls.length).to.equal(2);
  });

  for (const code of [Status.UNAVAILABLE, Status.INTERNAL, Status.CANCELLED, Status.UNKNOWN]) {
    const lost = { code, text: "the connection broke" };

    it(`takes ${Status[code]} without a reason for a lost response, and asks again what became of the call`, async () => {
      const { calls, kesc } = await refusingServer(1, lost);
      await kesc.transactions.mint(mint);
      expect(calls.length).to.equal(2);
    });

    it(`says after it that the outcome is unknown, if a repeat would be another deed: ${Status[code]}`, async () => {
      const { calls, kesc } = await refusingServer(1, lost);
      const failure = await failureOf(kesc.sandbox.advanceTransaction({ transaction_id: "txn_1" }));
      expect([failure.code, failure.reason, calls.length]).to.deep.equal([Status[code], "OUTCOME_UNKNOWN", 1]);
      expect(failure.message).to.include("The outcome is unknown").and.to.include(lost.text);
    });
  }

  it("says that the outcome of a write is unknown when its time is over, and says no such thing of a read", async () => {
    const { kesc } = await refusingServer(Infinity, { code: Status.UNAVAILABLE, text: "no connection" });
    const options = { timeoutMillis: 300 };
    expect((await failureOf(kesc.transactions.mint(mint, options))).reason).to.equal("OUTCOME_UNKNOWN");
    const nobody = new KescClient({ address: "127.0.0.1:1", apiKey: "key", timeoutMillis: 300 });
    const failure = await failureOf(nobody.accounts.listAccounts());
    expect(["UNAVAILABLE", "DEADLINE_EXCEEDED"]).to.include(failure.code);
    expect(failure.reason).to.equal(undefined);
    nobody.close();
  });

  it("gives up when the next try would come after its time", async () => {
    const { calls, kesc } = await refusingServer(Infinity);
    const failure = await failureOf(kesc.transactions.mint(mint, { timeoutMillis: 500 }));
    expect(failure.reason).to.equal("STORAGE_UNAVAILABLE");
    expect(calls.length).to.be.at.least(1);
  });
});

type Imported = ServerDuplexStream<{ requests: { movement?: { value: { reference: string } } }[] }, object>;

describe("KescClient: streams that end", () => {
  const lost = { code: Status.UNAVAILABLE, text: "the connection broke" };
  const period = { start: "2026-11-01", end: "2026-11-02" };

  /** Serves the journal 1 to 5 in messages of 2. Each failure ends a call, after some messages. */
  const journalServer = (...failures: readonly { after: number; with: FakeRefusal }[]) =>
    served((call) => {
      const failure = failures[call - 1];
      const lists = [["1", "2"], ["3", "4"], ["5"]].slice(0, failure?.after);
      const messages = lists.map((list) => ({ lines: list.map((sequence) => ({ sequence })) }));
      return failure === undefined ? { messages } : { messages, refusal: failure.with };
    });

  it("are whole, without an item twice, whatever breaks on the way", async () => {
    const { kesc } = await journalServer({ after: 0, with: lost }, { after: 2, with: lost }, { after: 1, with: lost });
    const lines = await itemsOf(kesc.books.exportJournal(period));
    expect(lines.map(({ sequence }) => sequence)).to.deep.equal([1, 2, 3, 4, 5]);
  });

  it("fail if no other try would mend them: what was yielded is not the whole", async () => {
    const { kesc } = await journalServer({ after: 1, with: { code: Status.INTERNAL, reason: "INTERNAL" } });
    const failure = await failureOf(itemsOf(kesc.books.exportJournal(period)));
    expect(failure.reason).to.equal("INTERNAL");
  });

  it("send again what has no result after a lost connection, and nothing else", async () => {
    const server = new Server();
    const seen: string[][] = [];
    const importTransactions = (call: Imported): void => {
      call.on("data", ({ requests }: { requests: { movement?: { value: { reference: string } } }[] }) => {
        const references = requests.map(({ movement }) => movement?.value.reference ?? "");
        seen.push([references[0] ?? "", String(references.length)]);
        // The second message is executed, but its response is lost.
        if (seen.length === 2) call.emit("error", { code: lost.code, details: lost.text });
        else call.write({ results: references.map(() => ({ outcome: undefined, replayed: seen.length === 3 })) });
      });
      call.on("end", () => {
        call.end();
      });
    };
    server.addService({ importTransactions: TransactionServiceService.importTransactions }, { importTransactions });
    const { promise: bound, resolve } = Promise.withResolvers<number>();
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_error, port) => {
      resolve(port);
    });
    const kesc = clientOf(`127.0.0.1:${String(await bound)}`);
    open.push({
      close: () => {
        server.forceShutdown();
      },
    });
    const requests = Array.from({ length: 1_200 }, (_, index) => ({
      mint: { account_id: "acc_1", amount: "1.00", reference: `m-${String(index)}` },
    }));
    const results = await itemsOf(kesc.transactions.importTransactions(requests));
    expect(seen).to.deep.equal([
      ["m-0", "500"],
      ["m-500", "500"],
      ["m-500", "500"],
      ["m-1000", "200"],
    ]);
    expect(results.map(({ replayed }) => replayed)).to.deep.equal(
      requests.map((_, index) => index >= 500 && index < 1_000),
    );
  });

  it("throw what the items of an import throw, and name the item that is wrong", async () => {
    const kesc = new KescClient({ address: "127.0.0.1:1", apiKey: "key" });
    const good = { mint: { account_id: "acc_1", amount: "1.00", reference: "one" } };
    const wrong = { mint: { ...good.mint, amount: 1 as unknown as string } };
    const failed = itemsOf(kesc.transactions.importTransactions([good, wrong]));
    await failed.then(
      () => expect.fail("the item was taken"),
      (error: unknown) => {
        expect(error).to.be.instanceOf(TypeError);
        expect(String(error)).to.include("requests[1].mint.amount must be a string");
      },
    );
    kesc.close();
  });
});
