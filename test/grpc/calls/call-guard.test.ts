import { status as Status } from "@grpc/grpc-js";
import { expect } from "chai";
import { service as health } from "grpc-health-check";

import { ServerReflectionService } from "../../../src/gen/grpc/reflection/v1/reflection.js";
import { RailServiceService } from "../../../src/gen/kesc/v1/rail_service.js";
import { TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { callbackToken, uuidOf } from "../../../src/rails/callback-token.js";
import { GrpcCaller, type GrpcStream, type Method } from "../../support/callers/grpc-caller.js";
import { eventually } from "../../support/eventually.js";
import { apiKey, gatedLedger, MINT, SECRET, serve, TRANSACTION_ID } from "../../support/service/grpc-server.js";
import { MemoryRails } from "../../support/service/memory-rails.js";

const check = health["Check"] as typeof rpcs.mint;

describe("grpc: more calls than the server holds", () => {
  it("are QUEUE_FULL for the caller that has used its share, and for no other", async () => {
    const gate = gatedLedger();
    const under = await serve({
      limits: { callsMax: 4 },
      submit: gate.submit,
    });
    // The first call makes the key known.
    await under.grpc.call(rpcs.getTransaction, { transaction_id: TRANSACTION_ID });
    const taken = [1, 2].map(() => under.grpc.call(rpcs.mint, MINT));
    await eventually(() => under.submitted.length === 2);
    for (const metadata of [{ "x-api-key": SECRET }, { authorization: `bearer   ${SECRET}` }]) {
      const refused = await under.grpc.call(rpcs.mint, MINT, { key: "", metadata });
      expect(refused).to.include({ code: Status.RESOURCE_EXHAUSTED, reason: "QUEUE_FULL", retrySeconds: 1 });
    }
    expect(under.lines).to.deep.include({
      ...under.lines.at(-1),
      method: "TransactionService/Mint",
      code: "RESOURCE_EXHAUSTED",
      reason: "QUEUE_FULL",
    });
    const other = await under.grpc.call(rpcs.mint, MINT, { key: "another" });
    expect(other.reason).to.equal("INVALID_API_KEY");
    expect((await under.grpc.call(check, {}, { key: "" })).code).to.equal(Status.OK);

    gate.open();
    expect((await Promise.all(taken)).map(({ code }) => code)).to.deep.equal([Status.OK, Status.OK]);
    await under.close();
  });

  it("find room again, however the calls before them ended", async () => {
    const under = await serve({ limits: { callsMax: 2, requestMillisMax: 100 } });
    const endings = [
      () => under.grpc.call(rpcs.mint, MINT),
      () => under.grpc.call(rpcs.mint, { ...MINT, amount: "" }),
      () => under.grpc.call(rpcs.mint, MINT, { deadlineMillis: -1 }),
      () => under.grpc.call(rpcs.mint, MINT, { key: "another" }),
      () => under.grpc.call({ ...rpcs.mint, requestSerialize: () => Buffer.alloc(300_000) }, MINT),
    ];
    for (const end of [...endings, ...endings]) {
      expect((await end()).reason, String(end)).not.to.equal("QUEUE_FULL");
    }
    await under.close();
  });

  it("have slots of their own for rpcs that need no key, of which one connection has half", async () => {
    const gate = gatedLedger();
    const rails = new MemoryRails();
    rails.refuseMessage = async () => {
      await gate.opened;
      return "full";
    };
    const secret = Buffer.alloc(32);
    const under = await serve({ limits: { publicCallsMax: 4, callsMax: 4 }, rails, callbackSecrets: () => [secret] });
    const token = callbackToken(secret, { cell: 0, purpose: "collect", uuid: uuidOf(TRANSACTION_ID) });
    const post = () => under.grpc.call(RailServiceService.receiveCallback, { token, body: undefined });
    const taken = [post(), post()];
    expect((await post()).reason).to.equal("QUEUE_FULL");
    // The first of these looks the key up, and has a slot of new callers.
    for (let call = 0; call < 2; call += 1) {
      expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    }
    gate.open();
    expect((await Promise.all(taken)).map(({ code }) => code)).to.deep.equal([Status.OK, Status.OK]);
    expect((await post()).code).to.equal(Status.OK);
    await under.close();
  });

  it("are QUEUE_FULL for all keys of an organization together", async () => {
    const gate = gatedLedger();
    const keys = Array.from({ length: 3 }, (_, index) => `${SECRET}${String(index)}`);
    const under = await serve({
      limits: { callsMax: 4 },
      keys: { apiKeyWithSecret: async () => Promise.resolve(apiKey()) },
      submit: gate.submit,
    });
    const mint = (key: string) => under.grpc.call(rpcs.mint, MINT, { key });
    for (const key of keys) await under.grpc.call(rpcs.getTransaction, { transaction_id: TRANSACTION_ID }, { key });
    const taken = keys.slice(0, 2).map((key) => mint(key));
    await eventually(() => under.submitted.length === 2);
    expect((await mint(keys[2] ?? "")).reason).to.equal("QUEUE_FULL");
    gate.open();
    await Promise.all(taken);
    await under.close();
  });

  it("leave slots for known keys when they have keys that nobody knows", async () => {
    const gate = gatedLedger();
    const under = await serve({
      limits: { callsMax: 8 },
      keys: {
        apiKeyWithSecret: async (secret) => (secret === SECRET ? Promise.resolve(apiKey()) : gate.opened),
      },
    });
    await under.grpc.call(rpcs.mint, MINT);
    const strangers = Array.from({ length: 20 }, (_, index) =>
      under.grpc.call(rpcs.mint, MINT, { key: `${SECRET}${String(index)}` }),
    );
    await eventually(() => under.lines.filter(({ reason }) => reason === "QUEUE_FULL").length === 18);
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    gate.open();
    const reasons = (await Promise.all(strangers)).map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === "INVALID_API_KEY")).to.have.length(2);
    await under.close();
  });
});

describe("grpc: calls that need no key", () => {
  const watch = { ...health["Watch"] } as unknown as Method<{ readonly service: string }, unknown>;

  it("are QUEUE_FULL for a connection that has used its share, and for no other", async () => {
    const under = await serve({ limits: { openCallsMax: 4 } });
    const other = new GrpcCaller(under.server.address, { key: "" });
    const open = (caller: GrpcCaller): GrpcStream<unknown, unknown> => {
      const stream = caller.open(watch, { key: "" });
      stream.send({ service: "" });
      stream.end();
      return stream;
    };
    const held = [open(under.grpc), open(under.grpc)];
    await eventually(() => held.every(({ responses }) => responses.length === 1));
    expect((await open(under.grpc).ended).code).to.equal(Status.RESOURCE_EXHAUSTED);
    const reflection = under.grpc.open(ServerReflectionService.serverReflectionInfo, { key: "" });
    expect((await reflection.ended).code).to.equal(Status.RESOURCE_EXHAUSTED);
    expect((await under.grpc.call(rpcs.mint, MINT)).code).to.equal(Status.OK);
    expect((await under.grpc.call(check, {}, { key: "" })).code).to.equal(Status.OK);
    const watched = open(other);
    await eventually(() => watched.responses.length === 1);
    watched.cancel();

    held[0]?.cancel();
    await eventually(async () => {
      const next = open(under.grpc);
      const refused = await Promise.race([next.ended, eventually(() => next.responses.length === 1)]);
      next.cancel();
      return refused === undefined;
    });
    other.close();
    await under.close();
  });

  it("have 16 streams of reflection, and one more when one has ended", async () => {
    const under = await serve();
    const open = (): GrpcStream<unknown, unknown> => {
      const stream = under.grpc.open(ServerReflectionService.serverReflectionInfo, { key: "" });
      stream.send({ host: "", message_request: { $case: "list_services", value: "" } });
      return stream;
    };
    const held = Array.from({ length: 16 }, open);
    await eventually(() => held.every(({ responses }) => responses.length === 1));
    expect(await open().ended).to.include({ code: Status.RESOURCE_EXHAUSTED, reason: "QUEUE_FULL" });
    held[0]?.end();
    await held[0]?.ended;
    const next = open();
    await eventually(() => next.responses.length === 1);
    for (const stream of [...held, next]) stream.end();
    await under.close();
  });
});
