import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerOptions,
  type ServerUnaryCall,
  status as Status,
} from "@grpc/grpc-js";
import { expect } from "chai";

import { EMPTY_ANSWER, EMPTY_PATH } from "../../../bench/echo/empty-rpc.js";
import { driveGrpc } from "../../../bench/load/grpc-load.js";
import type { Job, LoadResult } from "../../../bench/load/job.js";
import { Tally } from "../../../bench/load/tally.js";
import { MintRequest } from "../../../src/gen/kesc/v1/transaction_service.js";

const CALLS = 500;

type Answer = { bytes: Buffer } | { code: Status };

describe("the gRPC load", () => {
  let server: Server;
  afterEach(() => {
    server.forceShutdown();
  });

  /** Sends CALLS empty calls to a grpc-js server that answers each as `answer` says. */
  async function load(
    answer: (request: Buffer, index: number) => Answer,
    { job = {}, options = {} }: { job?: Partial<Job>; options?: ServerOptions } = {},
  ): Promise<LoadResult> {
    const pass = (bytes: Buffer): Buffer => bytes;
    const codec = {
      requestSerialize: pass,
      requestDeserialize: pass,
      responseSerialize: pass,
      responseDeserialize: pass,
    };
    let index = 0;
    server = new Server(options);
    server.addService(
      { call: { path: EMPTY_PATH, requestStream: false, responseStream: false, ...codec } },
      {
        call: (call: ServerUnaryCall<Buffer, Buffer>, callback: (error: object | null, bytes?: Buffer) => void) => {
          const given = answer(call.request, index++);
          // Headers that differ from call to call, as request ids do.
          call.sendMetadata(Metadata.fromHttp2Headers({ "x-request-id": String(index) }));
          if ("bytes" in given) callback(null, given.bytes);
          else callback({ code: given.code, details: "the reason, which is a text of some length" });
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) => {
        if (error === null) resolve(bound);
        else reject(error);
      });
    });
    const whole: Job = {
      transport: "grpc",
      call: "empty",
      addresses: [`127.0.0.1:${String(port)}`],
      connections: 2,
      inFlight: 20,
      callsMax: CALLS,
      apiKey: "key",
      accountIds: ["acc_a", "acc_b"],
      amount: "1250.00",
      firstSerial: 7,
      rampSeconds: 0,
      seconds: 60,
      ...job,
    };
    const tally = new Tally(whole);
    tally.openWindow();
    await driveGrpc(whole, tally);
    tally.closeWindow();
    return tally.result();
  }

  it("counts every right answer, and sends a reference once", async () => {
    const references = new Set<string>();
    const result = await load((request) => {
      references.add(MintRequest.decode(request).reference);
      return { bytes: EMPTY_ANSWER };
    });
    expect(result).to.deep.include({ started: CALLS, callsInWindow: CALLS, acknowledged: [250, 250], problems: {} });
    expect([...references].toSorted().at(0)).to.equal("bench-000000000007");
    expect(references).to.have.lengthOf(CALLS);
  });

  for (const [what, wrong, problem] of [
    ["an answer with other bytes", { bytes: Buffer.from("x") }, "an answer of the empty handler with other bytes"],
    ["RESOURCE_EXHAUSTED", { code: Status.RESOURCE_EXHAUSTED }, "grpc-status 8"],
    ["UNAUTHENTICATED", { code: Status.UNAUTHENTICATED }, "grpc-status 16"],
  ] as const) {
    it(`does not count ${what}`, async () => {
      const result = await load((_, index) => (index % 5 === 0 ? wrong : { bytes: EMPTY_ANSWER }));
      expect(result.callsInWindow).to.equal(CALLS * 0.8);
      expect(result.problems).to.deep.equal({ [problem]: CALLS / 5 });
    });
  }

  it("does not exceed the server's limit of calls, and says that it could not keep its number", async () => {
    const options = { "grpc.max_concurrent_streams": 5 };
    const result = await load(() => ({ bytes: EMPTY_ANSWER }), { options, job: { inFlight: 20 } });
    expect(Object.keys(result.problems)).to.deep.equal(["the server takes only 5 calls at a time"]);
  });

  it("sends more than one window's bytes", async () => {
    const calls = 5_000;
    const result = await load(() => ({ bytes: EMPTY_ANSWER }), { job: { inFlight: 900, callsMax: calls } });
    expect(result).to.deep.include({ callsInWindow: calls, problems: {} });
  });

  it("blames the calls in flight when the connection is lost", async () => {
    const result = await load((_, index) => {
      // Later, because Node 22 aborts when a connection is destroyed amid the frames that it reads.
      if (index === 100) {
        setImmediate(() => {
          server.forceShutdown();
        });
      }
      return { bytes: EMPTY_ANSWER };
    });
    expect(Object.keys(result.problems)).to.not.deep.equal([]);
    expect(result.callsInWindow).to.be.lessThan(CALLS);
  });
});
