import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect } from "chai";

import { encodeFields } from "../../../bench/load/hpack.js";
import { clientPreface, Flag, frame, FrameType } from "../../../bench/load/http2-frames.js";
import { kesc, Place, RunningKesc } from "../../support/service/kesc.js";

// A test that must wait for the grace period takes longer than a test may run.
const GRACE_WITHOUT_END_SECONDS = "3600";
const IDLE = 200;
const HALF = 20;
const WINDOW_BYTES = 65_535;

const HALF_CALL = Buffer.concat([
  clientPreface(WINDOW_BYTES),
  frame(
    FrameType.HEADERS,
    Flag.END_HEADERS,
    1,
    encodeFields([
      [":method", "POST"],
      [":scheme", "http"],
      [":path", "/kesc.v1.TransactionService/Mint"],
      [":authority", "kesc"],
      ["content-type", "application/grpc"],
    ]),
  ),
  frame(FrameType.DATA, 0, 1, Buffer.of(0, 0, 0, 0, 100, 1)),
]);
const HEAD = "POST /transactions/mint HTTP/1.1\r\nHost: kesc\r\nContent-Type: application/json\r\n";

/** What idle clients and those that stop in the middle of a request have sent. */
const GRPC_CLIENTS: readonly (readonly [count: number, sent: Buffer])[] = [
  [IDLE / 2, Buffer.alloc(0)],
  [IDLE / 2, clientPreface(WINDOW_BYTES)],
  [HALF / 2, HALF_CALL],
  [HALF / 2, HALF_CALL.subarray(0, 60)],
];
const REST_CLIENTS: readonly (readonly [count: number, sent: Buffer])[] = [
  [IDLE / 2, Buffer.alloc(0)],
  [IDLE / 2, Buffer.from("GET /livez HTTP/1.1\r\nHost: kesc\r\n\r\n")],
  [HALF / 2, Buffer.from(HEAD)],
  [HALF / 4, Buffer.from(`${HEAD}Content-Length: 100\r\n\r\n{"acc`)],
  [HALF / 4, Buffer.from(`GET /livez HTTP/1.1\r\nHost: kesc\r\n\r\n${HEAD}`)],
];

describe(`a program with ${String(IDLE)} idle connections and ${String(HALF)} half requests`, () => {
  let place: Place;
  let sockets: Socket[] = [];
  before(async () => {
    place = new Place();
    expect((await kesc(["migrate"], place.variables)).code).to.equal(0);
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
  });
  after(() => {
    place.remove();
  });

  async function open(address: string, clients: typeof GRPC_CLIENTS): Promise<void> {
    const [host, port] = address.split(":");
    for (const [count, sent] of clients) {
      for (let index = 0; index < count; index += 1) {
        // A client that never closes its side.
        const socket = connect({ host, port: Number(port), allowHalfOpen: true }).on("error", () => undefined);
        sockets.push(socket.resume());
        await once(socket, "connect");
        if (sent.length > 0) await new Promise((resolve) => socket.write(sent, resolve));
      }
    }
  }

  for (const [args, clientsOf] of [
    [["server"], { address: GRPC_CLIENTS }],
    [["gateway"], { address: REST_CLIENTS }],
    [["serve"], { address: REST_CLIENTS, grpcAddress: GRPC_CLIENTS }],
  ] as const) {
    for (const processes of args[0] === "server" ? ["1"] : ["1", "2"]) {
      it(`exits with 0 on SIGTERM, and does not wait: kesc ${args.join(" ")}, gateway processes ${processes}`, async () => {
        const running = new RunningKesc(args, {
          ...place.variables,
          KESC_SHUTDOWN_GRACE_SECONDS: GRACE_WITHOUT_END_SECONDS,
          KESC_GATEWAY_PROCESSES: processes,
        });
        const ready = await running.ready;
        for (const [name, clients] of Object.entries(clientsOf)) {
          await open(ready[name as keyof typeof ready] ?? "", clients);
        }
        expect(await running.end("SIGTERM")).to.equal(0);
        expect(running.stderr).to.equal("");
      });
    }
  }
});
