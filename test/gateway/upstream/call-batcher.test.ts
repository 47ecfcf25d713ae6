import { readFileSync } from "node:fs";

import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { Metadata, status } from "@grpc/grpc-js";
import { expect } from "chai";

import { CONTRACT_URL, messageOf, readContract } from "../../../contract/contract.js";
import type { Rpc, RpcCallOptions, UpstreamResult } from "../../../contract/rpc.js";
import { CallBatcher, type EncodedCall } from "../../../gateway/upstream/call-batcher.js";
import { ALL_BYTES, promotedBytes } from "../../support/promoted-bytes.js";

const contract = readContract(readFileSync(CONTRACT_URL));
const rpcNamed = (name: string): Rpc =>
  contract.routes.find(({ rpc }) => rpc.path.endsWith(`/${name}`))?.rpc ?? expect.fail(`there is no ${name}`);
const mint = rpcNamed("Mint");
const redeem = rpcNamed("Redeem");
const batch = rpcNamed("BatchCreateTransactions");

interface Part {
  readonly movement: { readonly case: "mint" | "redeem"; readonly value: { readonly reference: string } };
  readonly idempotencyKey: string;
}
interface Made {
  readonly rpc: Rpc;
  readonly references: readonly string[];
  readonly options: RpcCallOptions;
}

/** The result of one item in the response of the test. */
type Result = { readonly reference: string } | { readonly refusal: string } | "nothing";

function requestOf(rpc: Rpc, reference: string): Uint8Array {
  return toBinary(rpc.input, create(rpc.input, { reference }));
}

function optionsOf(
  batchKey: string | undefined,
  { requestId = "first", deadline = 1_000, idempotencyKey = "" } = {},
): RpcCallOptions {
  const metadata = new Metadata();
  metadata.set("x-request-id", requestId);
  if (idempotencyKey !== "") metadata.set("idempotency-key", idempotencyKey);
  return { metadata, deadline, onCancel: () => undefined, batchKey };
}

function referencesIn(rpc: Rpc, bytes: Uint8Array): string[] {
  const message = fromBinary(rpc.input, bytes) as Message & { requests?: Part[]; reference?: string };
  return (
    message.requests?.map(({ movement, idempotencyKey }) =>
      [movement.case, movement.value.reference, idempotencyKey].join(" ").trim(),
    ) ?? [message.reference ?? ""]
  );
}

function answerOf(results: readonly Result[]): UpstreamResult {
  const message = create(batch.output, {
    results: results.map((result) => {
      if (result === "nothing") return {};
      if ("refusal" in result) {
        const value = create(messageOf(contract.registry, "google.rpc.Status"), {
          code: status.NOT_FOUND,
          message: result.refusal,
        });
        return { outcome: { case: "error", value } };
      }
      return { outcome: { case: "transaction", value: { reference: result.reference } }, replayed: true };
    }),
  });
  return { ok: true, message, replayed: false };
}

describe("calls of one turn of the event loop", () => {
  const made: Made[] = [];
  let answer: (references: readonly string[]) => UpstreamResult;
  const makeCall: EncodedCall = (rpc, request, options) => {
    const references = referencesIn(rpc, request);
    made.push({ rpc, references, options });
    return Promise.resolve(answer(references));
  };
  beforeEach(() => {
    made.splice(0);
    answer = (references) => answerOf(references.map((reference) => ({ reference })));
  });
  const sent = (): string[] =>
    made.map(({ rpc, references }) => `${rpc.path.split("/")[2] ?? ""} ${references.join()}`);

  it("are sent as one batch, with the first request id and the earliest deadline", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    const outcomes = await Promise.all([
      batcher.call(mint, requestOf(mint, "a"), optionsOf("key", { requestId: "id-a", deadline: 2_000 })),
      batcher.call(redeem, requestOf(redeem, "b"), optionsOf("key", { requestId: "id-b", deadline: 1_000 })),
      batcher.call(mint, requestOf(mint, "c"), optionsOf("key", { requestId: "id-c", deadline: 3_000 })),
    ]);
    expect(sent()).to.deep.equal(["BatchCreateTransactions mint a,redeem b,mint c"]);
    expect(made[0]?.options.deadline).to.equal(1_000);
    expect(made[0]?.options.metadata.getMap()).to.deep.equal({ "x-request-id": "id-a" });
    expect(outcomes.map(({ batchId }) => batchId)).to.deep.equal(["id-a", "id-a", "id-a"]);
    const types = outcomes.map((outcome) => outcome.ok && [outcome.message.$typeName, outcome.replayed]);
    expect(types).to.deep.equal([
      ["kesc.v1.MintResponse", true],
      ["kesc.v1.RedeemResponse", true],
      ["kesc.v1.MintResponse", true],
    ]);
  });

  it("are in the trace of the first one that is recorded", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    const call = (requestId: string, isTraced: boolean) => ({ ...optionsOf("key", { requestId }), isTraced });
    await Promise.all([
      batcher.call(mint, requestOf(mint, "a"), call("id-a", false)),
      batcher.call(mint, requestOf(mint, "b"), call("id-b", true)),
      batcher.call(mint, requestOf(mint, "c"), call("id-c", true)),
    ]);
    expect(made[0]?.options.metadata.getMap()).to.deep.equal({ "x-request-id": "id-b" });
  });

  it("carry their own metadata in their items, and the batch carries none of it", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    const options = (idempotencyKey: string): RpcCallOptions => optionsOf("key", { idempotencyKey });
    await Promise.all([
      batcher.call(mint, requestOf(mint, "a"), options("key-a")),
      batcher.call(mint, requestOf(mint, "b"), options("")),
      batcher.call(mint, requestOf(mint, "c"), options("key-c")),
    ]);
    expect(sent()).to.deep.equal(["BatchCreateTransactions mint a key-a,mint b,mint c key-c"]);
    expect(made[0]?.options.metadata.getMap()).to.deep.equal({ "x-request-id": "first" });
    made.splice(0);

    await batcher.call(mint, requestOf(mint, "d"), options("key-d"));
    expect(sent()).to.deep.equal(["Mint d"]);
    expect(made[0]?.options.metadata.getMap()).to.include({ "idempotency-key": "key-d" });
  });

  it("are sent unchanged without another call of the same turn and key, without a key, or without a batch rpc", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    answer = () => ({ ok: true, message: create(mint.output), replayed: false });
    const outcomes = await Promise.all([
      batcher.call(mint, requestOf(mint, "a"), optionsOf("key")),
      batcher.call(mint, requestOf(mint, "b"), optionsOf("other key")),
      batcher.call(mint, requestOf(mint, "c"), optionsOf(undefined)),
      batcher.call(rpcNamed("GetTransaction"), new Uint8Array(), optionsOf("key")),
    ]);
    outcomes.push(await batcher.call(mint, requestOf(mint, "d"), optionsOf("key")));
    expect(sent()).to.have.members(["Mint a", "Mint b", "Mint c", "GetTransaction ", "Mint d"]);
    expect(outcomes.every(({ batchId }) => batchId === undefined)).to.equal(true);
  });

  it("are at most 64 in one batch, which has at most as many bytes as are allowed", async () => {
    const many = new CallBatcher(makeCall, 100_000);
    await Promise.all(
      Array.from({ length: 130 }, (_, index) => many.call(mint, requestOf(mint, String(index)), optionsOf("key"))),
    );
    expect(made.map(({ references }) => references.length)).to.deep.equal([64, 64, 2]);
    expect(made.flatMap(({ references }) => references)).to.deep.equal(
      Array.from({ length: 130 }, (_, index) => `mint ${String(index)}`),
    );
    made.splice(0);

    const large = requestOf(mint, "x".repeat(100));
    const room = 3 * (mint.batching?.encodeItem(large, new Metadata()).length ?? NaN);
    const few = new CallBatcher(makeCall, room);
    await Promise.all(Array.from({ length: 7 }, () => few.call(mint, large, optionsOf("key"))));
    expect(made.map(({ references }) => references.length)).to.deep.equal([3, 3, 1]);
    made.splice(0);

    const none = new CallBatcher(makeCall, room / 3 - 1);
    await Promise.all([1, 2].map(() => none.call(mint, large, optionsOf("key"))));
    expect(sent()).to.deep.equal(Array(2).fill(`Mint ${"x".repeat(100)}`));
  });

  it("are refused one by one, with the header that each field of an item carries", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    answer = () => answerOf([{ reference: "a" }, { refusal: "No." }]);
    const [, refused] = await Promise.all(
      [mint, redeem].map((rpc) => batcher.call(rpc, requestOf(rpc, "a"), optionsOf("key"))),
    );
    expect(refused).to.have.property("status").that.includes({ code: status.NOT_FOUND, message: "No." });
    expect(refused).to.deep.include({
      ok: false,
      headerByField: new Map([["idempotency_key", "idempotency-key"]]),
    });
  });

  it("are all refused when the batch is refused", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    const rateLimit = { policy: '"calls";q=10;w=1', limit: '"calls";r=0;t=1' };
    const error = { code: status.UNAVAILABLE, message: "Gone.", details: [] };
    const refusal = { ok: false, status: error, rateLimit } as const;
    answer = () => refusal;
    const outcomes = await Promise.all([1, 2].map(() => batcher.call(mint, requestOf(mint, "a"), optionsOf("key"))));
    expect(outcomes).to.deep.equal(Array(2).fill({ ...refusal, batchId: "first" }));
  });

  it("are not kept alive by earlier batches", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    const bytes = await promotedBytes((item) => {
      made.splice(0);
      const options = { ...optionsOf("key"), item };
      return Promise.all([1, 2].map(() => batcher.call(mint, requestOf(mint, "a"), options)));
    });
    expect(bytes).to.be.lessThan(ALL_BYTES / 2);
  });

  it("reject when the response has no result for them, and only then", async () => {
    const batcher = new CallBatcher(makeCall, 1_000);
    answer = () => answerOf([{ reference: "a" }, "nothing"]);
    const settled = await Promise.allSettled(
      ["a", "b", "c"].map((reference) => batcher.call(mint, requestOf(mint, reference), optionsOf("key"))),
    );
    expect(settled.map((one) => (one.status === "rejected" ? String(one.reason) : "answered"))).to.deep.equal([
      "answered",
      "Error: BatchCreateTransactions has no result for item 1",
      "Error: BatchCreateTransactions has no result for item 2",
    ]);
  });
});
