import { EventEmitter } from "node:events";

import { Metadata, type ServerWritableStream, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import type { OperatorName } from "../../../src/domain/operator.js";
import type { Operator } from "../../../src/domain/operator.js";
import type { OperatorId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { WatchEventsRequest } from "../../../src/gen/kesc/v1/event_service.js";
import type { Authentication } from "../../../src/grpc/calls/authenticator.js";
import { type Admission, type CallDependencies, callSteps, type Gate } from "../../../src/grpc/calls/call-context.js";
import { keyGate } from "../../../src/grpc/calls/key-gate.js";
import type { EncodedMessages } from "../../../src/grpc/calls/route.js";
import { serverStream, type ServerStreamRpc } from "../../../src/grpc/calls/server-stream-call.js";
import { readContract } from "../../../src/grpc/messages/contract.js";
import { StoreError } from "../../../src/ledger/ports/store.js";
import { eventually } from "../../support/eventually.js";
import { apiKey } from "../../support/service/grpc-server.js";
import { callLines, logInto, type LogLine } from "../../support/service/log-lines.js";

const STREAMS_MAX = 2;
const KEY_CHECK_MILLIS = 5;
const contract = readContract()
  .services.flatMap(({ rpcs }) => rpcs)
  .find(({ name }) => name === "EventService/WatchEvents");

/** One call, whose client reads a message when the test says so. */
class FakeCall extends EventEmitter {
  readonly metadata = new Metadata();
  readonly request = Buffer.alloc(0);
  readonly written: string[] = [];
  cancelled = false;
  /** The status of the end. 0 is OK. */
  code: number | undefined;
  ends = 0;
  #read: (() => void) | undefined;

  constructor(readonly readsAll: boolean) {
    super();
    this.on("error", (error: { code: number }) => {
      this.#end(error.code);
    });
  }

  getPeer(): string {
    return "127.0.0.1:1";
  }

  getDeadline(): number {
    return Infinity;
  }

  sendMetadata(): void {
    // The client reads none.
  }

  write(bytes: Buffer, written: () => void): boolean {
    this.written.push(bytes.toString());
    this.#read = written;
    if (this.readsAll) written();
    return true;
  }

  read(): void {
    this.#read?.();
  }

  end(): void {
    this.#end(Status.OK);
  }

  cancel(): void {
    this.cancelled = true;
    this.emit("cancelled");
  }

  #end(code: number): void {
    this.code = code;
    this.ends += 1;
  }
}

describe("grpc: a stream that the server sends", () => {
  let lines: LogLine[];
  let inFlight: number;
  let isStopping: boolean;
  let authentication: Authentication;
  let stops: Set<() => void>;
  let begin: (given?: { readsAll?: boolean; metadata?: Record<string, string> }) => FakeCall;
  let made: number;

  function serving(
    run: (signal: AbortSignal) => EncodedMessages,
    gate: Gate = keyGate({ authenticate: () => authentication, rates: { bucketOf: () => undefined } }),
  ): void {
    if (contract === undefined) throw new Error("the contract has no such rpc");
    const dependencies: CallDependencies = {
      gate,
      now: () => toUnixMillis(0),
      isStopping: () => isStopping,
      callMillisMax: 1_000,
      logger: logInto(lines, "debug"),
      onStopping: (stop) => {
        stops.add(stop);
        return () => stops.delete(stop);
      },
      onInFlight: (change) => {
        inFlight += change;
      },
      steps: callSteps(),
    };
    const rpc: Omit<ServerStreamRpc<WatchEventsRequest, undefined>, "parse" | "run"> = {
      request: WatchEventsRequest,
      streamsMax: STREAMS_MAX,
    };
    const parse = () => ({ ok: true, value: undefined }) as const;
    const runs = (_input: undefined, _caller: unknown, signal: AbortSignal) => run(signal);
    const route = serverStream({ ...rpc, parse, run: runs }, KEY_CHECK_MILLIS);
    const handler = route(contract, dependencies);
    begin = ({ readsAll = true, metadata = {} } = {}) => {
      const call = new FakeCall(readsAll);
      for (const [name, value] of Object.entries(metadata)) call.metadata.set(name, value);
      handler(call as unknown as ServerWritableStream<Buffer, Buffer>);
      return call;
    };
  }

  /** Makes one message, and then waits for the end. */
  async function* endless(signal: AbortSignal): EncodedMessages {
    made += 1;
    yield Buffer.from("first");
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => {
        resolve();
      });
    });
    return undefined;
  }

  beforeEach(() => {
    [lines, inFlight, isStopping, stops, made] = [[], 0, false, new Set(), 0];
    authentication = apiKey();
  });
  afterEach(() => {
    expect([inFlight, stops.size]).to.deep.equal([0, 0]);
  });

  it("sends all messages of the generator, ends with OK, and is logged once", async () => {
    serving(async function* (): EncodedMessages {
      yield Buffer.from("one");
      yield Buffer.from("two");
      await Promise.resolve();
      return undefined;
    });
    const call = begin();
    await eventually(() => call.code !== undefined);
    expect([call.written, call.code, call.ends]).to.deep.equal([["one", "two"], Status.OK, 1]);
    expect(callLines(lines).map(({ method, code }) => [method, code])).to.deep.equal([
      ["EventService/WatchEvents", "OK"],
    ]);
  });

  it("asks for the next message only when the client has room", async () => {
    serving(async function* (): EncodedMessages {
      for (made = 1; ; made += 1) yield await Promise.resolve(Buffer.from(String(made)));
    });
    const call = begin({ readsAll: false });
    for (const count of [1, 2, 3]) {
      await eventually(() => call.written.length === count);
      expect(made).to.equal(count);
      if (count < 3) call.read();
    }
    call.cancel();
    await eventually(() => callLines(lines).length === 1);
    expect(callLines(lines)[0]).to.include({ cancelled: true });
  });

  it("ends with the refusal that the generator returns", async () => {
    serving(async function* (): EncodedMessages {
      yield Buffer.from("one");
      return await Promise.resolve({ reason: "QUEUE_FULL" } as const);
    });
    const call = begin();
    await eventually(() => call.code !== undefined);
    expect([call.written, call.code]).to.deep.equal([["one"], Status.RESOURCE_EXHAUSTED]);
  });

  for (const [what, error, reason] of [
    ["a failure of the database", new StoreError("unavailable", new Error("down")), "STORAGE_UNAVAILABLE"],
    ["a bug", new Error("bug"), "INTERNAL"],
  ] as const) {
    it(`ends with ${reason} after ${what}`, async () => {
      serving(async function* () {
        throw await Promise.resolve(error);
      });
      const call = begin();
      await eventually(() => call.code !== undefined);
      expect(callLines(lines)[0]).to.include({ reason });
      expect(callLines(lines)[0]).to.have.property("trace");
    });
  }

  it("ends when its key is revoked, and when the server stops", async () => {
    serving(endless);
    const revoked = begin();
    await eventually(() => revoked.written.length === 1);
    authentication = { reason: "INVALID_API_KEY" };
    await eventually(() => revoked.code !== undefined);
    expect(revoked.code).to.equal(Status.UNAUTHENTICATED);
    authentication = apiKey();
    const stopped = begin();
    await eventually(() => stops.size === 1);
    for (const stop of [...stops]) stop();
    expect(stopped.code).to.equal(Status.UNAVAILABLE);
    isStopping = true;
    const late = begin();
    await eventually(() => late.code !== undefined);
    expect([late.code, late.written]).to.deep.equal([Status.UNAVAILABLE, []]);
  });

  it("ends when the organization has moved to another cell, or to another place", async () => {
    for (const moved of [apiKey({ cell: 1 }), { reason: "BOOK_MOVING" } as const]) {
      authentication = apiKey();
      serving(endless);
      const watching = begin();
      await eventually(() => watching.written.length === 1);
      authentication = moved;
      await eventually(() => watching.code !== undefined);
      expect(watching.code).to.equal(Status.UNAVAILABLE);
    }
  });

  it("makes nothing for a caller without the scope, with bad metadata, or that only asks whether it is valid", async () => {
    serving(endless);
    const calls = [
      begin({ metadata: { "kesc-validate-only": "true" } }),
      begin({ metadata: { "kesc-validate-only": "yes" } }),
    ];
    authentication = apiKey({ scopes: ["accounts:read"] });
    calls.push(begin());
    await eventually(() => calls.every(({ code }) => code !== undefined));
    expect(calls.map(({ code }) => code)).to.deep.equal([Status.OK, Status.INVALID_ARGUMENT, Status.PERMISSION_DENIED]);
    expect(made).to.equal(0);
  });

  it("ends when the operator who reads it loses the role, and counts each operator apart", async () => {
    const operator = (id: string): Operator => ({
      id: id as OperatorId,
      name: id as OperatorName,
      roles: ["support"],
      createdAt: toUnixMillis(0),
      revokedAt: undefined,
      history: [],
      keySha256: undefined,
      passkeys: [],
    });
    const admitted = (id: string): Admission => {
      return { who: { kind: "operator", operator: operator(id) }, organization: undefined };
    };
    let admission = admitted("opr_1");
    serving(endless, { admit: () => admission });
    const own = [begin(), begin()];
    await eventually(() => made === STREAMS_MAX);
    const third = begin();
    await eventually(() => third.code !== undefined);
    expect(third.code).to.equal(Status.RESOURCE_EXHAUSTED);
    admission = admitted("opr_2");
    const another = begin();
    await eventually(() => another.written.length === 1);
    admission = { reason: "ROLE_REQUIRED", roles: ["support"] };
    await eventually(() => [...own, another].every(({ code }) => code === Status.PERMISSION_DENIED));
  });

  it("refuses one stream more than an organization may have, until one has ended", async () => {
    serving(endless);
    const open = Array.from({ length: STREAMS_MAX }, () => begin());
    await eventually(() => made === STREAMS_MAX);
    const refused = begin();
    await eventually(() => refused.code !== undefined);
    expect(refused.code).to.equal(Status.RESOURCE_EXHAUSTED);
    open[0]?.cancel();
    const taken = begin();
    await eventually(() => made === STREAMS_MAX + 1);
    for (const call of [...open.slice(1), taken]) call.cancel();
    expect(open.map(({ ends }) => ends)).to.deep.equal([1, 1]);
  });
});
