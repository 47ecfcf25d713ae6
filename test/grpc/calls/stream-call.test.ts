import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import {
  type ImportTransactionsRequest,
  type ImportTransactionsResponse,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import type { GrpcOptions, GrpcStream } from "../../support/callers/grpc-caller.js";
import { eventually } from "../../support/eventually.js";
import {
  apiKey,
  doneWith,
  gatedLedger,
  MINT,
  SECRET,
  serve,
  type ServerUnderTest,
} from "../../support/service/grpc-server.js";
import { callLines } from "../../support/service/log-lines.js";

const ITEMS_UNDER_WAY_MAX = 1_000;

let references = 0;

/** A message with `items` mints. */
function message(items: number, reference = ""): ImportTransactionsRequest {
  const requests = Array.from({ length: items }, () => {
    references += 1;
    const value = { ...MINT, reference: reference === "" ? `r${String(references)}` : reference };
    return { movement: { $case: "mint" as const, value }, idempotency_key: "" };
  });
  return { requests };
}

describe("grpc: a stream with a response to each message", () => {
  let under: ServerUnderTest;
  afterEach(() => under.close());

  const open = (options?: GrpcOptions): GrpcStream<ImportTransactionsRequest, ImportTransactionsResponse> =>
    under.grpc.open(rpcs.importTransactions, options);
  const sizesOf = (responses: ImportTransactionsResponse[]): number[] => responses.map(({ results }) => results.length);

  it("responds to a message before the next one is sent", async () => {
    under = await serve();
    const stream = open({ metadata: { "x-request-id": "mine" } });
    for (const count of [1, 2, 3]) {
      stream.send(message(count));
      await eventually(() => stream.responses.length === count);
    }
    stream.end();
    expect((await stream.ended).code).to.equal(Status.OK);
    expect(sizesOf(stream.responses)).to.deep.equal([1, 2, 3]);
    expect((await stream.headers).get("x-request-id")).to.deep.equal(["mine"]);
    expect(callLines(under.lines)).to.have.length(1);
    expect(callLines(under.lines)[0]).to.deep.include({
      method: "TransactionService/ImportTransactions",
      code: "OK",
      items: 6,
      items_refused: 0,
    });
  });

  it("responds in order, though a later message may be done earlier", async () => {
    const slow = gatedLedger();
    under = await serve({
      submit: async (command, deadline) =>
        (command as MoveMoney).reference === "slow" ? slow.submit(command, deadline) : Promise.resolve(doneWith(true)),
    });
    const stream = open();
    stream.send(message(1, "slow"));
    stream.send(message(2));
    stream.end();
    await eventually(() => under.submitted.length === 3);
    expect(stream.responses).to.deep.equal([]);
    slow.open();
    await stream.ended;
    expect(sizesOf(stream.responses)).to.deep.equal([1, 2]);
  });

  it("submits as bulk, however little a message holds", async () => {
    under = await serve();
    const stream = open();
    stream.send(message(1));
    stream.send(message(2));
    stream.end();
    await stream.ended;
    expect(under.submitted.map(({ bulk }) => bulk)).to.deep.equal([true, true, true]);
  });

  it("takes no more while 1,000 items are under way, so that neither side buffers the others", async () => {
    const ledger = gatedLedger();
    under = await serve({ submit: ledger.submit });
    const stream = open();
    const messages = 200;
    const size = 300;
    for (let count = 0; count < messages; count += 1) stream.send(message(size));
    stream.end();
    // 900 are too few, 1,200 enough.
    await eventually(() => under.submitted.length >= ITEMS_UNDER_WAY_MAX);
    let unsent = -1;
    await eventually(() => {
      const settled = stream.unsent() === unsent;
      unsent = stream.unsent();
      return settled;
    });
    expect(under.submitted).to.have.length(1_200);
    // Besides, 16 messages are in the server's Node stream, a few in HTTP/2's window, and 1 MiB in
    // the buffer from which the client's grpc-js retries. All other messages have not left the
    // caller.
    expect(stream.unsent()).to.be.greaterThan(messages / 2);
    ledger.open();
    expect((await stream.ended).code).to.equal(Status.OK);
    expect(sizesOf(stream.responses)).to.deep.equal(Array(messages).fill(size));
    expect(under.submitted).to.have.length(messages * size);
  });

  it("takes no more while the client reads no responses", async () => {
    under = await serve();
    const stream = open();
    await stream.headers;
    stream.pause();
    for (let count = 0; count < 100; count += 1) stream.send(message(500));
    stream.end();
    let submitted = -1;
    await eventually(() => {
      const settled = under.submitted.length > 0 && under.submitted.length === submitted;
      submitted = under.submitted.length;
      return settled;
    });
    expect(under.submitted.length).to.be.lessThan(100 * 500);
    stream.resume();
    await stream.ended;
    expect(under.submitted).to.have.length(100 * 500);
    expect(sizesOf(stream.responses)).to.deep.equal(Array(100).fill(500));
  });

  for (const [name, bad, field] of [
    ["no requests", message(0), "requests"],
    ["1,001 requests", message(1_001), "requests"],
  ] as const) {
    it(`ends at a message with ${name}, after the responses to all before it; later messages are not done`, async () => {
      const ledger = gatedLedger();
      under = await serve({ submit: ledger.submit });
      const stream = open();
      stream.send(message(5));
      stream.send(bad);
      stream.send(message(7));
      await eventually(() => under.submitted.length === 5);
      ledger.open();
      const { code, fields } = await stream.ended;
      expect(code).to.equal(Status.INVALID_ARGUMENT);
      expect(fields?.map((problem) => problem.field)).to.deep.equal([field]);
      expect(sizesOf(stream.responses)).to.deep.equal([5]);
      expect(under.submitted).to.have.length(5);
      expect(callLines(under.lines)[0]).to.deep.include({ reason: "INVALID_FIELD", items: 5 });
    });
  }

  it("checks the key and the scope before it reads a message", async () => {
    under = await serve({ scopes: ["transactions:read"] });
    for (const [key, reason] of [
      ["", "MISSING_API_KEY"],
      ["kesc_nobodyHasThisSecret00", "INVALID_API_KEY"],
      [SECRET, "SCOPE_REQUIRED"],
    ] as const) {
      const stream = open({ key });
      stream.send(message(1));
      expect((await stream.ended).reason).to.equal(reason);
    }
    expect(under.submitted).to.deep.equal([]);
  });

  it("refuses an idempotency key, and does nothing when the caller only validates", async () => {
    under = await serve();
    const keyed = open({ metadata: { "idempotency-key": "k" } });
    keyed.send(message(1));
    expect((await keyed.ended).fields?.map(({ field }) => field)).to.deep.equal(["idempotency-key"]);
    const trial = open({ metadata: { "kesc-validate-only": "true" } });
    trial.send(message(1));
    expect((await trial.ended).code).to.equal(Status.OK);
    expect(under.submitted).to.deep.equal([]);
  });

  it("ends when its key is revoked", async () => {
    let revoked = false;
    under = await serve({
      keys: {
        apiKeyWithSecret: async (secret) => Promise.resolve(secret === SECRET && !revoked ? apiKey() : undefined),
      },
    });
    const stream = open();
    stream.send(message(1));
    await eventually(() => stream.responses.length === 1);
    revoked = true;
    // The server remembers the key for a second.
    const sending = setInterval(() => {
      stream.send(message(1));
    }, 50);
    const { reason } = await stream.ended;
    clearInterval(sending);
    expect(reason).to.equal("INVALID_API_KEY");
    expect(under.submitted).to.have.length(stream.responses.length);
  });

  it("ends when no message comes, but not while its items wait", async () => {
    const ledger = gatedLedger();
    under = await serve({ submit: ledger.submit, limits: { callMillisMax: 100 } });
    const busy = open();
    busy.send(message(1));
    const idle = open();
    expect((await idle.ended).reason).to.equal("DEADLINE_EXCEEDED");
    await new Promise((resolve) => setTimeout(resolve, 300));
    ledger.open();
    await eventually(() => busy.responses.length === 1);
    expect((await busy.ended).reason).to.equal("DEADLINE_EXCEEDED");
  });

  it("is one of at most two of an organization; one that ends makes room", async () => {
    under = await serve();
    const streams = [open(), open()];
    for (const stream of streams) stream.send(message(1));
    await eventually(() => streams.every(({ responses }) => responses.length === 1));
    const third = await open().ended;
    expect(third).to.deep.include({ reason: "TOO_MANY_STREAMS", facts: { streams_max: "2" }, retrySeconds: 1 });
    expect(third.message).to.include("has 2 open streams");

    streams[0]?.cancel();
    await eventually(() => callLines(under.lines).some(({ cancelled }) => cancelled === true));
    const another = open();
    another.send(message(1));
    await eventually(() => another.responses.length === 1);
    for (const stream of [...streams, another]) stream.end();
    await Promise.all([...streams, another].map(({ ended }) => ended));
  });

  it("gets the responses to what the server has taken when it stops, then SHUTTING_DOWN", async () => {
    const ledger = gatedLedger();
    under = await serve({ submit: ledger.submit });
    const [busy, idle] = [open(), open()];
    busy.send(message(5));
    await eventually(() => under.submitted.length === 5);
    await idle.headers;
    const stopping = under.server.stop(5_000);
    expect(await idle.ended).to.deep.include({ reason: "SHUTTING_DOWN", retrySeconds: 1 });
    busy.send(message(7));
    ledger.open();
    expect((await busy.ended).reason).to.equal("SHUTTING_DOWN");
    expect(sizesOf(busy.responses)).to.deep.equal([5]);
    await stopping;
  });

  it("ends so, too, when its connection has reached its age, long before the connection is closed", async () => {
    const ledger = gatedLedger();
    const ages = { connectionAgeMillisMax: 1_000, connectionAgeGraceMillis: 600_000, requestMillisMax: 500 };
    under = await serve({ submit: ledger.submit, limits: ages });
    const [busy, idle] = [open(), open()];
    busy.send(message(5));
    expect(await idle.ended).to.deep.include({ reason: "SHUTTING_DOWN", retrySeconds: 1 });
    ledger.open();
    expect((await busy.ended).reason).to.equal("SHUTTING_DOWN");
    expect(sizesOf(busy.responses)).to.deep.equal([5]);
    const next = open();
    next.send(message(3));
    await eventually(() => next.responses.length === 1);
    next.end();
    await next.ended;
  });

  it("harms no other call when it is cancelled in the middle", async () => {
    const ledger = gatedLedger();
    under = await serve({ submit: ledger.submit });
    const stream = open();
    stream.send(message(5));
    await eventually(() => under.submitted.length === 5);
    stream.cancel();
    expect((await stream.ended).code).to.equal(Status.CANCELLED);
    ledger.open();
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    expect(
      callLines(under.lines).filter(({ method }) => method === "TransactionService/ImportTransactions"),
    ).to.have.length(1);
  });
});
