import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

import { expect } from "chai";

import { encodeFields } from "../../../bench/load/hpack.js";
import { clientPreface, Flag, frame, FrameType } from "../../../bench/load/http2-frames.js";
import { clientCredentials } from "../../../runtime/transport/client-credentials.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { kesc, Place, RunningKesc } from "../../support/service/kesc.js";
import { TLS_CA_FILE, TLS_CERT_FILE, TLS_CLIENT_FILES, TLS_KEY_FILE } from "../../support/tls/files.js";

// A test that must wait for the grace period takes longer than a test may run.
const GRACE_WITHOUT_END_SECONDS = "3600";
const IDLE = 200;
const HALF = 20;
const PROCESSES_MAX = 2;
const WINDOW_BYTES = 1_000_000;

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

const TLS = { KESC_TLS_CERT_FILE: TLS_CERT_FILE, KESC_TLS_KEY_FILE: TLS_KEY_FILE, KESC_GATEWAY_CA_FILE: TLS_CA_FILE };
const WITHOUT_TLS: Partial<typeof TLS> = {};

type Clients = readonly (readonly [count: number, sent: Buffer])[];

const PROBE = "GET /livez HTTP/1.1\r\nHost: kesc\r\n\r\n";

/** What idle clients and those that stop in the middle of a request have sent. */
const GRPC_CLIENTS: Clients = [
  [IDLE / 2, Buffer.alloc(0)],
  [IDLE / 2, clientPreface(WINDOW_BYTES)],
  [HALF / 2, HALF_CALL],
  [HALF / 2, HALF_CALL.subarray(0, 60)],
];
const REST_CLIENTS: Clients = [
  [IDLE / 2, Buffer.alloc(0)],
  [IDLE / 2, Buffer.from(PROBE)],
  [HALF / 2, Buffer.from(HEAD)],
  [HALF / 4, Buffer.from(`${HEAD}Content-Length: 100\r\n\r\n{"acc`)],
  [HALF / 4, Buffer.from(`${PROBE}${HEAD}`)],
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

  /** Opens a connection. With TLS, a client that sends nothing does not begin its handshake. */
  async function open(address: string, sent: Buffer, protocol: "h2" | "http/1.1" | undefined): Promise<Socket> {
    const [host, port] = address.split(":");
    // A client that never closes its side.
    const options = { host, port: Number(port), allowHalfOpen: true };
    const speaksTls = protocol !== undefined && sent.length > 0;
    const socket = speaksTls
      ? connectTls({ ...options, ca: readFileSync(TLS_CA_FILE), ALPNProtocols: [protocol] })
      : connect(options);
    sockets.push(socket);
    await once(socket, speaksTls ? "secureConnect" : "connect");
    socket.on("error", () => undefined);
    if (sent.length > 0) await new Promise((resolve) => socket.write(sent, resolve));
    return socket;
  }

  async function openGrpc(address: string, hasTls: boolean): Promise<void> {
    for (const [count, sent] of GRPC_CLIENTS) {
      for (let index = 0; index < count; index += 1) {
        (await open(address, sent, hasTls ? "h2" : undefined)).resume();
      }
    }
    // The server has read the half calls when it has responded to a later one.
    const last = new GrpcCaller(address, {
      credentials: clientCredentials(address, hasTls ? TLS_CLIENT_FILES : undefined),
    });
    expect((await last.call("ListAccounts", {})).reason).to.equal("MISSING_API_KEY");
    last.close();
  }

  async function openRest(address: string, hasTls: boolean): Promise<void> {
    const protocol = hasTls ? "http/1.1" : undefined;
    for (const [count, sent] of REST_CLIENTS) {
      for (let index = 0; index < count; index += 1) (await open(address, sent, protocol)).resume();
    }
    // Connections go to the processes of the gateway in turn, so each gets one of these.
    for (let process = 0; process < PROCESSES_MAX; process += 1) {
      await once(await open(address, Buffer.from(PROBE), protocol), "data");
    }
  }

  for (const [command, processes, tls] of [
    ["server", "1", WITHOUT_TLS],
    ["server", "1", TLS],
    ["gateway", "1", WITHOUT_TLS],
    ["gateway", "1", TLS],
    ["gateway", "2", WITHOUT_TLS],
    ["serve", "1", WITHOUT_TLS],
    ["serve", "2", TLS],
  ] as const) {
    const hasTls = tls === TLS;
    const name = `kesc ${command}, gateway processes ${processes}, ${hasTls ? "with" : "without"} TLS`;
    it(`exits with 0 on SIGTERM, and does not wait: ${name}`, async () => {
      const running = new RunningKesc([command], {
        ...place.variables,
        ...tls,
        KESC_SHUTDOWN_GRACE_SECONDS: GRACE_WITHOUT_END_SECONDS,
        KESC_GATEWAY_PROCESSES: processes,
      });
      const { address, grpcAddress } = await running.ready;
      await (command === "server" ? openGrpc : openRest)(address, hasTls);
      if (grpcAddress !== undefined) await openGrpc(grpcAddress, hasTls);
      expect(await running.end("SIGTERM")).to.equal(0);
      expect(running.stderr).to.equal("");
      // Half requests were there, and were refused.
      if (command !== "gateway") expect(running.stdout).to.include('"reason":"SHUTTING_DOWN"');
      if (command !== "server") expect(running.stdout).to.include('"code":"SHUTTING_DOWN"');
    });
  }
});
