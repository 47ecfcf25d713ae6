import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import type { Cents } from "../../../src/domain/values/cents.js";
import {
  type BatchCreateTransactionsResponse,
  type MintRequest,
  type TransactionRequest,
  type TransactionResult,
  TransactionServiceService as rpcs,
} from "../../../src/gen/kesc/v1/transaction_service.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import type { GrpcReply, GrpcStatus } from "../../support/callers/grpc-caller.js";
import { detailsIn } from "../../support/callers/refusal.js";
import {
  ACCOUNT_ID,
  doneWith,
  KEY_ID,
  MINT,
  ORGANIZATION,
  serve,
  type ServerUnderTest,
} from "../../support/service/grpc-server.js";
import { callLines } from "../../support/service/log-lines.js";

const mint = (value: Partial<MintRequest> = {}, idempotency_key = ""): TransactionRequest => ({
  movement: { $case: "mint", value: { ...MINT, ...value } },
  idempotency_key,
});
const redeem = (value: Partial<MintRequest> = {}, idempotency_key = ""): TransactionRequest => ({
  movement: { $case: "redeem", value: { ...MINT, destination_id: "", ...value } },
  idempotency_key,
});

/** "done", "replayed", or the reason of the refusal. */
function wordOn({ outcome, replayed }: TransactionResult): string | undefined {
  if (outcome?.$case === "transaction") return replayed ? "replayed" : "done";
  return errorOf({ outcome, replayed }).reason;
}

function errorOf({ outcome }: TransactionResult): Partial<GrpcStatus> {
  if (outcome?.$case !== "error") return {};
  return { ...detailsIn(outcome.value), code: outcome.value.code, message: outcome.value.message };
}

describe("grpc: TransactionService/BatchCreateTransactions", () => {
  let under: ServerUnderTest;
  afterEach(() => under.close());

  function batch(
    requests: TransactionRequest[],
    metadata: Record<string, string> = {},
  ): Promise<GrpcReply<BatchCreateTransactionsResponse | undefined>> {
    return under.grpc.call(rpcs.batchCreateTransactions, { requests }, { metadata });
  }

  it("submits all commands before it waits for the first, in the order of the requests", async () => {
    const waiting: (() => void)[] = [];
    under = await serve({
      submit: () =>
        new Promise((resolve) => {
          waiting.push(() => {
            resolve(doneWith());
          });
          if (waiting.length === 3) for (const answer of waiting.toReversed()) answer();
        }),
    });
    const { response } = await batch([
      mint({ reference: "a" }),
      redeem({ reference: "b" }),
      mint({ reference: "c" }, "key-c"),
    ]);
    expect(response?.results.map(wordOn)).to.deep.equal(["done", "done", "done"]);
    const commands = under.submitted.map(({ command }) => command as MoveMoney);
    expect(commands.map(({ name, reference }) => `${name} ${reference}`)).to.deep.equal([
      "mint a",
      "redeem b",
      "mint c",
    ]);
    expect(commands[1]).to.deep.include({
      organizationId: ORGANIZATION,
      actor: KEY_ID,
      accountId: ACCOUNT_ID,
      amountCents: 100_050,
      idempotencyKey: undefined,
    });
    expect(commands.map(({ idempotencyKey }) => idempotencyKey)).to.deep.equal([undefined, undefined, "key-c"]);
  });

  it("submits up to 64 commands like single calls, and more as bulk", async () => {
    under = await serve();
    for (const [count, bulk] of [
      [1, false],
      [64, false],
      [65, true],
    ] as const) {
      under.submitted.length = 0;
      await batch(Array.from({ length: count }, () => mint()));
      expect(under.submitted.map((one) => one.bulk)).to.deep.equal(Array(count).fill(bulk));
    }
  });

  it("returns the outcome of each in order: that of the single call, with the index in the names of bad fields", async () => {
    under = await serve({
      submit: async (command) => {
        const { reference } = command as MoveMoney;
        if (reference === "poor") {
          const funds = { availableCents: 1_000 as Cents, requestedCents: 100_050 as Cents };
          return Promise.resolve({ kind: "refused", refusal: { reason: "INSUFFICIENT_FUNDS", ...funds } });
        }
        if (reference === "full") return Promise.resolve({ kind: "refused", refusal: { reason: "QUEUE_FULL" } });
        return Promise.resolve(doneWith(reference === "again"));
      },
    });
    const { response } = await batch([
      mint({ reference: "new" }),
      redeem({ reference: "poor" }),
      mint({ account_id: "", amount: "1.005" }),
      mint({ reference: "again" }),
      { movement: undefined, idempotency_key: "" },
      mint({ reference: "full" }),
      mint({ amount: "1.005" }, "two words"),
      redeem({}, "k".repeat(256)),
    ]);
    const results = response?.results ?? [];
    expect(results.map(wordOn)).to.deep.equal([
      "done",
      "INSUFFICIENT_FUNDS",
      "INVALID_FIELD",
      "replayed",
      "INVALID_FIELD",
      "QUEUE_FULL",
      "INVALID_FIELD",
      "INVALID_FIELD",
    ]);
    const single = await under.grpc.call(rpcs.redeem, { ...MINT, reference: "poor" });
    const { code, message, reason, domain, facts } = single;
    expect(results.map(errorOf)[1]).to.deep.equal({ code, message, reason, domain, facts });
    expect(results.map(errorOf)[2]).to.deep.include({ code: Status.INVALID_ARGUMENT });
    expect(results.map(errorOf)[2]?.fields?.map(({ field }) => field)).to.deep.equal(["account_id", "amount"]);
    const badMint = await under.grpc.call(rpcs.mint, { ...MINT, account_id: "", amount: "1.005" });
    expect(results.map(errorOf)[2]).to.deep.include({
      reason: badMint.reason,
      fields: badMint.fields,
      message: badMint.message,
    });
    expect(results.map(errorOf)[4]?.fields).to.deep.equal([
      { field: "mint", message: "is required if redeem is absent", code: "REQUIRED" },
    ]);
    expect(results.map(errorOf)[5]).to.deep.include({ code: Status.RESOURCE_EXHAUSTED, retrySeconds: 1 });
    expect(results.map(errorOf)[6]?.fields?.map(({ field }) => field)).to.deep.equal(["amount", "idempotency_key"]);
    const metadata = { "idempotency-key": "k".repeat(256) };
    const badKey = await under.grpc.call(rpcs.redeem, MINT, { metadata });
    expect(results.map(errorOf)[7]?.fields).to.deep.equal([{ ...badKey.fields?.[0], field: "idempotency_key" }]);
    expect(callLines(under.lines)[0]).to.deep.include({ code: "OK", items: 8, items_refused: 6 });
  });

  it("refuses only the request that a bug or a lost database hit, and logs the bug", async () => {
    under = await serve({
      submit: async (command) => {
        const { reference } = command as MoveMoney;
        if (reference === "bug") throw new Error("a bug of the test");
        if (reference === "lost") throw new StoreError("unavailable", undefined);
        return Promise.resolve(doneWith());
      },
    });
    const requests = ["bug", "lost", "fine"].map((reference) => mint({ reference }));
    const { response } = await batch(requests, { "x-request-id": "seven" });
    expect(response?.results.map(wordOn)).to.deep.equal(["INTERNAL", "STORAGE_UNAVAILABLE", "done"]);
    expect(response?.results.map(errorOf)[0]).to.deep.include({
      code: Status.INTERNAL,
      facts: { request_id: "seven" },
    });
    const [line] = callLines(under.lines);
    expect(line).to.deep.include({ level: 50, request_id: "seven", code: "OK", items: 3, items_refused: 2 });
    expect(line?.["trace"]).to.match(/a bug of the test/);
  });

  for (const [name, count, metadata, field] of [
    ["no requests", 0, {}, "requests"],
    ["1,001 requests", 1_001, {}, "requests"],
    ["an idempotency key", 1, { "idempotency-key": "k" }, "idempotency-key"],
    ["a broken idempotency key", 1, { "idempotency-key": "two words" }, "idempotency-key"],
  ] as const) {
    it(`refuses the whole call with ${name}, and submits nothing`, async () => {
      under = await serve();
      const requests = Array.from({ length: count }, () => mint());
      const { code, fields } = await batch(requests, metadata);
      expect(code).to.equal(Status.INVALID_ARGUMENT);
      expect(fields?.map((problem) => problem.field)).to.deep.equal([field]);
      expect(under.submitted).to.deep.equal([]);
    });
  }

  it("takes 1,000 requests with a description and metadata, and no single request of that size", async () => {
    under = await serve();
    const metadata = new Map(Array.from({ length: 8 }, (_, index) => [`key-${String(index)}`, "v".repeat(75)]));
    const large = { description: "d".repeat(256), metadata };
    const { response } = await batch(Array.from({ length: 1_000 }, () => mint(large)));
    expect(response?.results.map(wordOn)).to.deep.equal(Array(1_000).fill("done"));

    const description = "d".repeat(262_144);
    const { reason } = await under.grpc.call(rpcs.mint, { ...MINT, description });
    expect(reason).to.equal("REQUEST_TOO_LARGE");
    expect(under.submitted).to.have.length(1_000);
    const tooLarge = await batch(Array.from({ length: 5 }, () => mint({ description })));
    expect(tooLarge.reason).to.equal("REQUEST_TOO_LARGE");
  });

  it("refuses the whole call when the key lacks the scope", async () => {
    under = await serve({ scopes: ["transactions:read"] });
    expect(await batch([mint()])).to.deep.include({
      code: Status.PERMISSION_DENIED,
      reason: "SCOPE_REQUIRED",
      facts: { scope: "transactions:write" },
    });
    expect(under.submitted).to.deep.equal([]);
  });
});
