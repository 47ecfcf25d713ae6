import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import fc from "fast-check";

import { Metrics } from "../../../runtime/metrics/metrics.js";
import type { ApiKeyId } from "../../../src/domain/values/ids.js";
import { AccountServiceService as accounts } from "../../../src/gen/kesc/v1/account_service.js";
import { TransactionServiceService as transactions } from "../../../src/gen/kesc/v1/transaction_service.js";
import { CallRates } from "../../../src/grpc/calls/call-rates.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import { CallCounts } from "../../../src/metrics/call-counts.js";
import { GrpcCaller, type GrpcReply } from "../../support/callers/grpc-caller.js";
import { detailsIn } from "../../support/callers/refusal.js";
import { ACCOUNT_ID, MINT, SECRET, serve, type ServerUnderTest } from "../../support/service/grpc-server.js";

const KEY = "key_01jd2r6p5vf8ksw3xhb1z7q4ye" as ApiKeyId;
const CALL = { readsMany: false };
const LIST = { readsMany: true };

describe("call rates", () => {
  let now = 0;
  const clock = (): number => now;
  beforeEach(() => {
    now = 0;
  });

  function ratesOf(callsPerSecond: number, rateBurstSeconds = 10, listsPerSecond = 1): CallRates {
    return new CallRates({ callsPerSecond, listsPerSecond, rateBurstSeconds }, clock);
  }

  function headersOf(rates: CallRates, rpc = CALL): readonly unknown[] {
    const metadata = new Metadata();
    rates.bucketOf(KEY, rpc)?.writeTo(metadata);
    return [...metadata.get("ratelimit-policy"), ...metadata.get("ratelimit")];
  }

  it("let a key that has rested make all its calls at once, and then as many as its rate", () => {
    const rates = ratesOf(2);
    const take = (calls: number): number | undefined => rates.bucketOf(KEY, CALL)?.take(calls);
    expect(take(15)).to.equal(15);
    expect(take(15)).to.equal(5);
    expect(take(1)).to.equal(0);
    now = 499;
    expect(take(1)).to.equal(0);
    now = 500;
    expect(take(1)).to.equal(1);
    now = 1_000_000;
    expect(take(1_000)).to.equal(20);
  });

  it("tell how long a refused call has to wait, and each further one of a batch", () => {
    const rates = ratesOf(2);
    const bucket = rates.bucketOf(KEY, CALL) ?? expect.fail();
    bucket.take(20);
    now = 100;
    const refused = { reason: "RATE_LIMITED", rate: "calls", callsPerSecond: 2 };
    expect(bucket.refusal()).to.deep.equal({ ...refused, retryMillis: 400 });
    expect(bucket.refusal(3)).to.deep.equal({ ...refused, retryMillis: 1_400 });
    now += 400;
    expect(bucket.take(1)).to.equal(1);
  });

  it("show in headers what is left, and when it is more", () => {
    const rates = ratesOf(2);
    expect(headersOf(rates)).to.deep.equal(['"calls";q=20;w=10', '"calls";r=20;t=1']);
    rates.bucketOf(KEY, CALL)?.take(11);
    expect(headersOf(rates)).to.deep.equal(['"calls";q=20;w=10', '"calls";r=9;t=6']);
    rates.bucketOf(KEY, CALL)?.take(9);
    expect(headersOf(rates)).to.deep.equal(['"calls";q=20;w=10', '"calls";r=0;t=1']);
    expect(headersOf(rates, LIST)).to.deep.equal(['"lists";q=10;w=10', '"lists";r=10;t=1']);
  });

  it("have no bucket where there is no limit", () => {
    const rates = ratesOf(0);
    expect(rates.bucketOf(KEY, CALL)).to.equal(undefined);
    expect(rates.bucketOf(KEY, LIST)).not.to.equal(undefined);
  });

  it("never allow more than the burst and the rate, however the calls come", () => {
    const calls = fc.array(fc.record({ wait: fc.nat(20_000), calls: fc.integer({ min: 1, max: 200 }) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 20 }), (steps, rate, seconds) => {
        now = 0;
        const rates = ratesOf(rate, seconds);
        let taken = 0;
        for (const step of steps) {
          now += step.wait;
          const bucket = rates.bucketOf(KEY, CALL) ?? expect.fail();
          const got = bucket.take(step.calls);
          taken += got;
          // A thousandth of a call is the error of the sums.
          expect(taken).to.be.at.most(rate * seconds + (rate * now) / 1_000 + 0.001);
          if (got < step.calls) {
            now += bucket.refusal().retryMillis + 0.001;
            expect(bucket.take(1)).to.equal(1);
            taken += 1;
          }
        }
      }),
    );
  });

  it("forget the buckets of keys that rest, and of no other", () => {
    const rates = ratesOf(10, 10);
    const busy = "key_busy" as ApiKeyId;
    rates.bucketOf(busy, CALL)?.take(100);
    for (let count = 0; count < 5_000; count += 1) {
      now += 100;
      expect(rates.bucketOf(`key_${String(count)}` as ApiKeyId, CALL)?.take(1)).to.equal(1);
      // A call each 100 ms is its whole rate: a bucket that was forgotten would have more.
      expect(rates.bucketOf(busy, CALL)?.take(100)).to.equal(1);
    }
    // A bucket is full after 10 seconds, in which 100 new keys call.
    expect(rates.size).to.be.at.most(2 * 100 + 2);
  });

  it("count all rpcs that list, export or state at the rate of lists, and no other", () => {
    const rpcs = readContract().services.flatMap((service) => service.rpcs);
    const marked = rpcs.filter(({ readsMany }) => readsMany).map(({ name }) => name);
    const meant = rpcs.filter(({ name }) => /\/(List|Export|GetStatement)/.test(name)).map(({ name }) => name);
    expect(marked).to.deep.equal(meant).and.have.length.above(5);
    for (const { readsMany, requiredScope } of rpcs) if (readsMany) expect(requiredScope).not.to.equal(undefined);
  });
});

describe("grpc: the rates of a key", () => {
  let under: ServerUnderTest;
  const limits = { callsPerSecond: 2, listsPerSecond: 1, rateBurstSeconds: 5 };
  const start = async (given: Parameters<typeof serve>[0] = {}): Promise<void> => {
    under = await serve({ limits, rateClock: () => 0, ...given });
  };
  afterEach(() => under.close());

  const get = (): Promise<GrpcReply<unknown>> =>
    under.grpc.call(accounts.getAccount, { account_id: ACCOUNT_ID, as_of_time: undefined, as_of_sequence: undefined });
  const headersOf = ({ headers }: GrpcReply<unknown>): readonly unknown[] => [
    ...headers.get("ratelimit-policy"),
    ...headers.get("ratelimit"),
  ];

  it("refuse the calls beyond it, with the time to wait, and show what is left", async () => {
    await start();
    const replies = [];
    for (let count = 0; count < 11; count += 1) replies.push(await get());
    expect(replies.map(({ code }) => code)).to.deep.equal([...Array<number>(10).fill(0), Status.RESOURCE_EXHAUSTED]);
    expect(replies.map(headersOf).slice(0, 2)).to.deep.equal([
      ['"calls";q=10;w=5', '"calls";r=9;t=1'],
      ['"calls";q=10;w=5', '"calls";r=8;t=1'],
    ]);
    const refused = replies[10] ?? expect.fail();
    expect(headersOf(refused)).to.deep.equal(['"calls";q=10;w=5', '"calls";r=0;t=1']);
    expect(refused).to.deep.include({
      reason: "RATE_LIMITED",
      facts: { rate: "calls", calls_per_second: "2" },
      retrySeconds: 0.5,
    });
    expect(under.lines.at(-1)).to.include({ reason: "RATE_LIMITED", code: "RESOURCE_EXHAUSTED" });
    // Before the look at its fields.
    expect(await under.grpc.call("GetAccount", {})).to.include({ reason: "RATE_LIMITED" });
  });

  it("count lists apart from other calls", async () => {
    await start();
    const list = (): Promise<GrpcReply> => under.grpc.call("ListTransactions", {});
    const replies = [];
    for (let count = 0; count < 6; count += 1) replies.push(await list());
    expect(replies.map(({ code }) => code)).to.deep.equal([0, 0, 0, 0, 0, Status.RESOURCE_EXHAUSTED]);
    expect(headersOf(replies[0] ?? expect.fail())).to.deep.equal(['"lists";q=5;w=5', '"lists";r=4;t=1']);
    expect(headersOf(await get())).to.deep.equal(['"calls";q=10;w=5', '"calls";r=9;t=1']);
  });

  it("count each item of a batch, and refuse those beyond it alone", async () => {
    await start();
    await get();
    const requests = Array.from({ length: 12 }, (_, index) => ({
      movement: { $case: "mint" as const, value: { ...MINT, reference: `ref-${String(index)}` } },
      idempotency_key: "",
    }));
    const reply = await under.grpc.call(transactions.batchCreateTransactions, { requests });
    expect(headersOf(reply)[1]).to.equal('"calls";r=0;t=1');
    expect(under.submitted).to.have.length(9);
    const errors = (reply.response?.results ?? []).map(({ outcome }) =>
      outcome?.$case === "error" ? detailsIn(outcome.value) : undefined,
    );
    expect(errors.map((error) => error?.reason)).to.deep.equal([
      ...Array<undefined>(9).fill(undefined),
      "RATE_LIMITED",
      "RATE_LIMITED",
      "RATE_LIMITED",
    ]);
    expect(errors.slice(9).map((error) => error?.retrySeconds)).to.deep.equal([0.5, 1, 1.5]);
    expect(await under.grpc.call(transactions.batchCreateTransactions, { requests })).to.include({
      reason: "RATE_LIMITED",
    });
    expect(under.submitted).to.have.length(9);
  });

  it("count a stream once, at its start", async () => {
    await start();
    const message = { requests: [{ mint: { account_id: ACCOUNT_ID, amount: "1.00", reference: "r" } }] };
    const sent = await under.grpc.exchange("ImportTransactions", Array(20).fill(message) as object[]);
    expect(sent).to.include({ code: 0 });
    expect(under.submitted).to.have.length(20);
    expect(headersOf(await get())[1]).to.equal('"calls";r=8;t=1');

    const watch = under.grpc.watch("WatchEvents", { after_sequence: "0" });
    expect((await watch.headers).get("ratelimit")).to.deep.equal(['"calls";r=7;t=2']);
    watch.cancel();
    await watch.ended;
    for (let left = 7; left > 0; left -= 1) await get();
    const refused = under.grpc.watch("WatchEvents", {});
    expect((await refused.headers).get("ratelimit")).to.deep.equal(['"calls";r=0;t=1']);
    expect(await refused.ended).to.include({ reason: "RATE_LIMITED" });
  });

  it("count a call that is refused for its scope or its fields, and no call without a valid key", async () => {
    await start({ scopes: ["accounts:read"] });
    const mint = (key: string): Promise<GrpcReply> => under.grpc.call("Mint", {}, { key });
    for (const key of ["", `${SECRET}x`]) expect(headersOf(await mint(key))).to.deep.equal([]);
    const refused = await mint(SECRET);
    expect(refused).to.include({ reason: "SCOPE_REQUIRED" });
    expect(headersOf(refused)[1]).to.equal('"calls";r=9;t=1');
    const malformed = await under.grpc.call("GetAccount", {});
    expect(malformed).to.include({ reason: "INVALID_FIELD" });
    expect(headersOf(malformed)[1]).to.equal('"calls";r=8;t=1');
  });

  it("leave health checks and reflection alone", async () => {
    await start();
    for (let count = 0; count < 10; count += 1) await get();
    const health = { path: "/grpc.health.v1.Health/Check", requestSerialize: () => Buffer.alloc(0) };
    const other = new GrpcCaller(under.server.address, { key: SECRET });
    const reply = await other.call({ ...health, responseDeserialize: (bytes: Buffer) => bytes }, {});
    other.close();
    expect(reply).to.include({ code: 0 });
    expect(headersOf(reply)).to.deep.equal([]);
  });

  it("are refused before any work, and counted among the refusals", async () => {
    const metrics = new Metrics();
    await start({ meter: new CallCounts(metrics) });
    for (let count = 0; count < 12; count += 1) await under.grpc.call(transactions.mint, MINT);
    expect(under.submitted).to.have.length(10);
    expect(await metrics.text()).to.include('kesc_refusals_total{reason="RATE_LIMITED"} 2');
  });

  it("are off at 0", async () => {
    await start({ limits: { ...limits, callsPerSecond: 0 } });
    const replies = await Promise.all(Array.from({ length: 50 }, get));
    expect(new Set(replies.map(({ code }) => code))).to.deep.equal(new Set([0]));
    expect(headersOf(replies[0] ?? expect.fail())).to.deep.equal([]);
  });
});
