import { randomUUID } from "node:crypto";
import { inspect } from "node:util";

import { type sendUnaryData, Server, ServerCredentials, type ServerUnaryCall } from "@grpc/grpc-js";
import { expect } from "chai";

import { KescClient, KescError } from "../../src/client/kesc-client.js";
import { AccountServiceService, type FreezeAccountRequest } from "../../src/gen/kesc/v1/account_service.js";
import { SandboxServiceService } from "../../src/gen/kesc/v1/sandbox_service.js";
import {
  type MintRequest,
  MintResponse,
  TransactionServiceService,
} from "../../src/gen/kesc/v1/transaction_service.js";
import { statusOf } from "../../src/grpc/errors/status.js";
import { describeEachEngine, newAccount } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

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
  if (!(error instanceof KescError)) throw new Error("the call did not fail", { cause: error });
  return error;
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

  it("mints, and returns the same transaction for the same reference", async () => {
    const mint = { account_id, amount: "12.50", reference: randomUUID() };
    const { transaction } = await kesc.transactions.mint(mint);
    expect(transaction).to.include({ account_id, amount: "12.50", reference: mint.reference });
    expect((await kesc.transactions.mint(mint)).transaction?.id).to.equal(transaction?.id);
  });

  it("has the reason, the facts and the fields of a refusal", async () => {
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
    const invalid = await failureOf(kesc.transactions.mint({ account_id, amount: "1.001" }));
    expect(invalid.reason).to.equal("INVALID_FIELD");
    expect(invalid.fields.map(({ field }) => field)).to.deep.equal(["amount", "reference"]);
  });

  it("returns an outcome for each request of a batch", async () => {
    const [minted, refused] = await kesc.batch([
      { mint: { account_id, amount: "1.00", reference: randomUUID() } },
      { redeem: { account_id, amount: "99999.00", reference: randomUUID() } },
    ]);
    expect(minted).to.have.nested.property("transaction.amount", "1.00");
    expect(refused).to.have.nested.property("error.reason", "INSUFFICIENT_FUNDS");
  });

  it("reads all pages of a list", async () => {
    const own = await newAccount(service());
    const references = ["a", "b", "c", "d", "e"].map((name) => `${name}-${randomUUID()}`);
    for (const reference of references) await kesc.transactions.mint({ account_id: own, amount: "1.00", reference });
    const found = await itemsOf(kesc.allTransactions({ account_id: own, page_size: 2 }));
    expect(found.map(({ reference }) => reference)).to.deep.equal(references.toReversed());
  });

  it("checks a request without doing anything", async () => {
    const reference = randomUUID();
    const checked = await kesc.transactions.mint({ account_id, amount: "1.00", reference }, { validateOnly: true });
    expect(checked.transaction).to.equal(undefined);
    expect(await itemsOf(kesc.allTransactions({ reference }))).to.deep.equal([]);
  });

  it("ends a call when its signal aborts", async () => {
    const reason = new Error("no longer wanted");
    const call = kesc.accounts.getAccount({ account_id }, { signal: AbortSignal.abort(reason) });
    expect(await call.catch((error: unknown) => error)).to.equal(reason);
  });
});

describe("the API key of a KescClient", () => {
  const address = "127.0.0.1:1";
  const apiKey = `kesc_0_${"a".repeat(43)}`;

  it("may have white space around it, as a key from a file has", async () => {
    const kesc = new KescClient({ address, apiKey: ` ${apiKey}\r\n`, timeoutMillis: 100 });
    const failure = await failureOf(kesc.accounts.listAccounts({}));
    expect(["UNAVAILABLE", "DEADLINE_EXCEEDED"]).to.include(failure.code);
    kesc.close();
  });

  for (const [what, wrong] of [
    ["two lines", `${apiKey}\n${apiKey}`],
    ["a letter beyond ASCII", `${apiKey}é`],
  ] as const) {
    it(`is refused with a KescError that does not show it: ${what}`, async () => {
      const failure = await failureOf(
        (async () => {
          const kesc = new KescClient({ address, apiKey: wrong, timeoutMillis: 100 });
          await kesc.accounts.listAccounts({}).finally(() => {
            kesc.close();
          });
        })(),
      );
      expect(failure).to.include({ code: "INVALID_ARGUMENT", reason: undefined });
      const shown = inspect(failure, { depth: 9, showHidden: true });
      expect(shown).to.include("apiKey must be one line of printable ASCII").and.not.to.include(apiKey);
    });
  }
});

describe("KescClient: watchEvents", () => {
  it("yields each event once and in order while the server is killed and started again", async () => {
    const service = await Service.start("sqlite");
    const kesc = new KescClient({ address: service.grpcAddress, apiKey: service.a.key });
    try {
      const account_id = await newAccount(service);
      const ended = new AbortController();
      const seen: bigint[] = [];
      const last = 30n;
      const watching = (async () => {
        for await (const { sequence } of kesc.watchEvents({}, { signal: ended.signal })) {
          seen.push(sequence);
          if (sequence === last) break;
        }
      })();
      for (let made = 1; made < Number(last); made++) {
        if (made === 15) {
          await service.kill();
          await service.start();
        }
        await kesc.transactions.mint({ account_id, amount: "1.00", reference: `mint-${String(made)}` });
      }
      await watching;
      expect(seen).to.deep.equal(Array.from({ length: Number(last) }, (_, index) => BigInt(index + 1)));
    } finally {
      kesc.close();
      await service.dispose();
    }
  });

  it("says why it may not watch", async () => {
    const service = await Service.start("sqlite");
    const kesc = new KescClient({ address: service.grpcAddress, apiKey: "kesc_0_wrong" });
    try {
      expect(await failureOf(itemsOf(kesc.watchEvents()))).to.include({ reason: "INVALID_API_KEY" });
    } finally {
      kesc.close();
      await service.dispose();
    }
  });
});

/** A server that refuses the first calls as it is told, and counts all of them. */
async function refusingServer(refusals: number): Promise<{
  readonly calls: { readonly name: string; readonly idempotencyKey: string; readonly requestId: string }[];
  readonly kesc: KescClient;
  readonly close: () => void;
}> {
  const server = new Server();
  const calls: { name: string; idempotencyKey: string; requestId: string }[] = [];
  const handler =
    (name: string) =>
    ({ metadata }: ServerUnaryCall<object, object>, callback: sendUnaryData<object>): void => {
      const textOf = (header: string): string => String(metadata.get(header)[0] ?? "");
      calls.push({ name, idempotencyKey: textOf("idempotency-key"), requestId: textOf("x-request-id") });
      if (calls.length <= refusals) callback(statusOf({ reason: "STORAGE_UNAVAILABLE" }));
      else callback(null, {});
    };
  const answer = {
    responseSerialize: () =>
      Buffer.from(MintResponse.encode({ transaction: undefined, replayed: false } as never).finish()),
  };
  server.addService(
    {
      mint: { ...TransactionServiceService.mint, ...answer },
      freeze: { ...AccountServiceService.freezeAccount, ...answer },
      advance: { ...SandboxServiceService.advanceTransaction, ...answer },
    },
    { mint: handler("mint"), freeze: handler("freeze"), advance: handler("advance") },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
      if (error === null) resolve(bound);
      else reject(error);
    });
  });
  const kesc = new KescClient({ address: `127.0.0.1:${String(port)}`, apiKey: "key", timeoutMillis: 10_000 });
  return {
    calls,
    kesc,
    close: () => {
      kesc.close();
      server.forceShutdown();
    },
  };
}

describe("KescClient: repeats", () => {
  const mint: Partial<MintRequest> = { account_id: "acc_1", amount: "1.00", reference: "one" };

  it("repeats a call while the service is unavailable, under one request id", async () => {
    const { calls, kesc, close } = await refusingServer(2);
    await kesc.transactions.mint(mint);
    expect(calls.map(({ name }) => name)).to.deep.equal(["mint", "mint", "mint"]);
    expect(new Set(calls.map(({ requestId }) => requestId)).size).to.equal(1);
    close();
  });

  it("gives a freeze an idempotency key of its own, so that a repeat is not a second freeze", async () => {
    const { calls, kesc, close } = await refusingServer(1);
    const freeze: Partial<FreezeAccountRequest> = { account_id: "acc_1" };
    await kesc.accounts.freezeAccount(freeze);
    await kesc.accounts.freezeAccount(freeze);
    const [first, second, other] = calls.map(({ idempotencyKey }) => idempotencyKey);
    expect(first).to.match(/^[0-9a-f-]{36}$/);
    expect(second).to.equal(first);
    expect(other).to.not.equal(first);
    close();
  });

  it("does not repeat a call that does something each time", async () => {
    const { calls, kesc, close } = await refusingServer(1);
    const failure = await failureOf(kesc.sandbox.advanceTransaction({ transaction_id: "txn_1" }));
    expect([failure.code, failure.reason, calls.length]).to.deep.equal(["UNAVAILABLE", "STORAGE_UNAVAILABLE", 1]);
    close();
  });

  it("gives up when the next try would come after its time", async () => {
    const { calls, kesc, close } = await refusingServer(Infinity);
    const failure = await failureOf(kesc.transactions.mint(mint, { timeoutMillis: 500 }));
    expect(failure.reason).to.equal("STORAGE_UNAVAILABLE");
    expect(calls.length).to.be.at.least(1);
    close();
  });

  it("says that no server is there", async () => {
    const kesc = new KescClient({ address: "127.0.0.1:1", apiKey: "key", timeoutMillis: 300 });
    const failure = await failureOf(kesc.transactions.mint(mint));
    expect([failure.code, failure.reason]).to.deep.equal(["UNAVAILABLE", undefined]);
    kesc.close();
  });
});
