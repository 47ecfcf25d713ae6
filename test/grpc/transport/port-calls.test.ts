import type { ServerHttp2Stream } from "node:http2";
import { MessageChannel } from "node:worker_threads";

import { Metadata, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { ChannelCall } from "../../../gateway/upstream/channel.js";
import { PortChannel } from "../../../gateway/upstream/port-channel.js";
import { HealthService } from "../../../src/gen/health/v1/health.js";
import { MintRequest, TransactionServiceService as rpcs } from "../../../src/gen/kesc/v1/transaction_service.js";
import { takeCallsFrom } from "../../../src/grpc/transport/port-calls.js";
import { detailsOf } from "../../support/callers/refusal.js";
import { eventually } from "../../support/eventually.js";
import {
  apiKey,
  doneWith,
  gatedLedger,
  MINT,
  SECRET,
  serve,
  type ServerUnderTest,
  type ServerUnderTestOptions,
} from "../../support/service/grpc-server.js";
import { callLines } from "../../support/service/log-lines.js";

const REQUEST = Buffer.from(MintRequest.encode({ ...MintRequest.decode(new Uint8Array()), ...MINT }).finish());

interface Reply {
  readonly code: Status;
  readonly reason: string | undefined;
  readonly messages: readonly Uint8Array[];
  readonly head: Metadata | undefined;
}

interface Left {
  readonly channel: PortChannel;
  made?: ChannelCall;
}

describe("calls of another thread of the process", () => {
  const opened: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });

  async function start(
    options: ServerUnderTestOptions = {},
  ): Promise<{ readonly under: ServerUnderTest; readonly channel: PortChannel }> {
    const under = await serve(options);
    opened.push(() => under.close());
    return { under, channel: connect(under) };
  }

  function connect({ server }: ServerUnderTest, peer = "gateway"): PortChannel {
    const { port1, port2 } = new MessageChannel();
    server.takeCalls(port1, peer);
    const channel = new PortChannel(port2);
    opened.push(() => {
      channel.close();
    });
    return channel;
  }

  function call(
    channel: PortChannel,
    {
      path = rpcs.mint.path,
      request = REQUEST,
      metadata = { "x-api-key": SECRET },
      deadline = Infinity,
      onCall = () => undefined,
    }: {
      path?: string;
      request?: Buffer;
      metadata?: Readonly<Record<string, string>>;
      deadline?: number;
      onCall?: (call: ChannelCall) => void;
    } = {},
  ): Promise<Reply> {
    const sent = new Metadata();
    for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
    return new Promise((resolve) => {
      const messages: Uint8Array[] = [];
      let head: Metadata | undefined;
      const made = channel.createCall(path, deadline);
      made.start(sent, {
        onReceiveMetadata: (received) => {
          head = received;
        },
        onReceiveMessage: (message: Uint8Array) => {
          messages.push(message);
        },
        onReceiveStatus: ({ code, metadata: trailers }) => {
          resolve({ code, reason: detailsOf(trailers).reason, messages, head });
        },
      });
      made.sendMessageWithContext({}, request);
      made.halfClose();
      made.startRead();
      onCall(made);
    });
  }

  it("get the response and the metadata of any call, and its line in the log", async () => {
    const { under, channel } = await start({ submit: () => Promise.resolve(doneWith(true)) });
    const { code, messages, head } = await call(channel, {
      metadata: { "x-api-key": SECRET, "x-request-id": "monday" },
    });
    expect([code, messages.length]).to.deep.equal([Status.OK, 1]);
    expect(head?.get("idempotent-replayed")).to.deep.equal(["true"]);
    expect(head?.get("x-request-id")).to.deep.equal(["monday"]);
    expect(callLines(under.lines)).to.have.length(1);
  });

  for (const [what, options, reason] of [
    ["no key", { metadata: {} }, "MISSING_API_KEY"],
    ["the name of a certificate", { metadata: { "kesc-peer-certificate": "gateway.example.com" } }, "MISSING_API_KEY"],
    ["a path that no rpc has", { path: "/kesc.v1.TransactionService/None" }, "NO_SUCH_RPC"],
    ["a request that is too large", { request: Buffer.alloc(10_001) }, "REQUEST_TOO_LARGE"],
    ["metadata that nothing reads", { metadata: { "x-api-key": SECRET, "if-match": "x" } }, "MALFORMED_REQUEST"],
    ["no time left", { deadline: 0 }, "DEADLINE_EXCEEDED"],
  ] as const) {
    it(`are refused with ${what}: ${reason}`, async () => {
      // Any certificate would do.
      const keys = { apiKeyWithSecret: () => Promise.resolve(apiKey()) };
      const { under, channel } = await start({
        keys,
        limits: { requestBytesMax: 10_000, bulkBytesMax: 10_000 },
      });
      expect(await call(channel, options)).to.include({ reason });
      expect(under.submitted).to.deep.equal([]);
    });
  }

  it("end at their deadline, with an outcome that nobody knows once the handler runs", async () => {
    const ledger = gatedLedger();
    const { channel } = await start({ submit: ledger.submit });
    expect(await call(channel, { deadline: Date.now() + 1_000 })).to.include({ reason: "OUTCOME_UNKNOWN" });
    ledger.open();
  });

  for (const [what, leave] of [
    [
      "they are cancelled",
      ({ made }: Left) => {
        made?.cancelWithStatus(Status.CANCELLED, "");
      },
    ],
    [
      "their thread ends",
      ({ channel }: Left) => {
        channel.close();
      },
    ],
  ] as const) {
    it(`give their slot back when ${what}`, async () => {
      const ledger = gatedLedger();
      let submitted = 0;
      const submit: NonNullable<ServerUnderTestOptions["submit"]> = (...command) =>
        (submitted += 1) === 2 ? ledger.submit(...command) : Promise.resolve(doneWith());
      // Half of the slots is for one organization, whose key is known after the first call.
      const { under, channel } = await start({ submit, limits: { callsMax: 2 } });
      await call(channel);
      const left: Left = { channel: connect(under, "gateway 1") };
      void call(left.channel, { onCall: (made) => (left.made = made) });
      await eventually(() => submitted === 2);
      expect(await call(channel)).to.include({ reason: "QUEUE_FULL" });
      leave(left);
      await eventually(async () => (await call(channel)).code === Status.OK);
      ledger.open();
    });
  }

  it("get their own responses, also where an earlier call was cancelled and ends later", async () => {
    const ends: ((outcome: ReturnType<typeof doneWith>) => void)[] = [];
    const { channel } = await start({ submit: () => new Promise((resolve) => ends.push(resolve)) });
    let cancelled: ChannelCall | undefined;
    void call(channel, { onCall: (made) => (cancelled = made) });
    await eventually(() => ends.length === 1);
    cancelled?.cancelWithStatus(Status.CANCELLED, "");
    await call(channel, { metadata: {} });
    const later = [call(channel), call(channel)];
    await eventually(() => ends.length === 3);
    for (const [index, end] of ends.entries()) end(doneWith(index === 0));
    const replayed = (await Promise.all(later)).map(({ head }) => head?.get("idempotent-replayed"));
    expect(replayed).to.deep.equal([[], []]);
  });

  it("are finished by a server that stops, which refuses later ones", async () => {
    const ledger = gatedLedger();
    const { under, channel } = await start({ submit: ledger.submit });
    const taken = Array.from({ length: 100 }, () => call(channel));
    await eventually(() => under.submitted.length === 100);
    const stopping = under.server.stop(600_000);
    const late: (string | undefined)[] = [];
    await eventually(() => {
      void call(channel).then(({ reason }) => late.push(reason));
      return late.includes("SHUTTING_DOWN");
    });
    ledger.open();
    expect((await Promise.all(taken)).map(({ code }) => code)).to.deep.equal(taken.map(() => Status.OK));
    await stopping;
  });

  it("ask for the health, too", async () => {
    const { channel } = await start();
    const { code, messages } = await call(channel, { path: HealthService.check.path, request: Buffer.alloc(0) });
    expect([code, [...(messages[0] ?? [])]]).to.deep.equal([Status.OK, [8, 1]]);
  });

  it("of a stream get a message when they have taken the one before it", async () => {
    const { port1, port2 } = new MessageChannel();
    const taken: number[] = [];
    const write = (stream: ServerHttp2Stream, number: number): void => {
      if (number === 3) stream.end();
      else
        stream.write(Buffer.of(0, 0, 0, 0, 1, number), () => {
          taken.push(number);
          write(stream, number + 1);
        });
    };
    takeCallsFrom(port1, "gateway", (stream) => {
      stream.once("wantTrailers", () => {
        stream.sendTrailers({ "grpc-status": Status.OK, "grpc-message": "OK" });
      });
      stream.respond({});
      write(stream, 1);
    });
    const channel = new PortChannel(port2);
    const { call: made } = channel.createStream("/a/b", Infinity);
    const messages: Uint8Array[] = [];
    const ended = new Promise<Status>((resolve) => {
      made.start(new Metadata(), {
        onReceiveMetadata: () => undefined,
        onReceiveMessage: (message: Uint8Array) => messages.push(message),
        onReceiveStatus: ({ code }) => {
          resolve(code);
        },
      });
    });
    made.sendMessageWithContext({}, Buffer.alloc(0));
    made.halfClose();
    for (const count of [1, 2]) {
      expect(taken).to.have.length(count - 1);
      made.startRead();
      await eventually(() => taken.length === count);
    }
    expect(await ended).to.equal(Status.OK);
    expect(messages.map(([number]) => number)).to.deep.equal([1, 2]);
    channel.close();
  });
});
