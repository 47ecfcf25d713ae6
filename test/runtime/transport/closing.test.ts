import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";

import { expect } from "chai";

import { startAdminServer } from "../../../runtime/metrics/admin-server.js";
import { LINGERING_MAX, refuseMalformed } from "../../../runtime/transport/closing.js";
import { addressOf, createHttpServer } from "../../../runtime/transport/http-server.js";
import { eventually } from "../../support/eventually.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";
import { TLS_CERT_FILE, TLS_KEY_FILE } from "../../support/tls/files.js";

const TRIES = 20;
const PIECES = 24;
const PIECE = "x".repeat(4_096);
const fileOf = (path: string) => ({ variable: "the test", path });
const TLS = { certificate: fileOf(TLS_CERT_FILE), key: fileOf(TLS_KEY_FILE) };
const HEAD = "POST / HTTP/1.1\r\nHost: kesc\r\n";

function open(address: string): Socket {
  const [host, port] = address.split(":");
  return connect(Number(port), host);
}

/** Reads nothing until all is written, so that a reset destroys what has arrived. */
async function answerTo(address: string, request: string, hasTls: boolean): Promise<string> {
  const [host = "", port] = address.split(":");
  const socket = hasTls ? connectTls({ host, port: Number(port), rejectUnauthorized: false }) : open(address);
  if (hasTls) await once(socket, "secureConnect");
  socket.pause().write(request);
  let lost: Error | undefined;
  socket.on("error", (error: Error) => (lost = error));
  for (let piece = 0; piece < PIECES && lost === undefined; piece += 1) {
    socket.write(PIECE);
    for (let turns = 0; turns < 10; turns += 1) await turn();
  }
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => (received += text));
  socket.resume().end();
  if (!socket.closed) await once(socket, "close");
  return lost === undefined ? received : `${received} ${lost.message}`;
}

describe("the last response of a connection reaches a client that still sends", () => {
  const [gateway, overTls] = [new GatewayFixture(), new GatewayFixture()];
  const server = createHttpServer({}, undefined, (_req, res) => {
    res.writeHead(413, { Connection: "close", "Content-Length": 5 }).end("large");
  });
  let admin: Awaited<ReturnType<typeof startAdminServer>>;
  before(async () => {
    refuseMalformed(server);
    await Promise.all([gateway.start(), overTls.start({ tls: TLS })]);
    await once(server.listen(0, "127.0.0.1"), "listening");
    const metrics = () => Promise.resolve("");
    admin = await startAdminServer({ listen: { host: "127.0.0.1", port: 0 }, metrics, onError: () => undefined });
  });
  after(async () => {
    await Promise.all([gateway.stop(), overTls.stop(), admin.close()]);
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  });

  const MALFORMED = `${HEAD}Content-Length: -1\r\n\r\n`;
  const UNREAD = `${HEAD}Content-Length: 1000000\r\n\r\n`;
  const CASES: readonly (readonly [string, () => string, string, RegExp])[] = [
    ["the gateway, a malformed request", () => gateway.gateway.address, MALFORMED, /^HTTP\/1.1 400 [^]*\}$/],
    ["the gateway, two hosts", () => gateway.gateway.address, `${HEAD}${UNREAD.slice(17)}`, /^HTTP\/1.1 400 [^]*\}$/],
    [
      "the gateway, CONNECT",
      () => gateway.gateway.address,
      "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
      /^HTTP\/1.1 405 [^]*\}$/,
    ],
    ["the gateway, over TLS", () => overTls.gateway.address, MALFORMED, /^HTTP\/1.1 400 [^]*\}$/],
    ["the console, a malformed request", () => addressOf(server), MALFORMED, /^HTTP\/1.1 400 [^]*\r\n\r\n$/],
    ["the console, a body that it does not read", () => addressOf(server), UNREAD, /^HTTP\/1.1 413 [^]*large$/],
    ["the metrics, a malformed request", () => admin.address, MALFORMED, /^HTTP\/1.1 400 [^]*\r\n\r\n$/],
    [
      "the metrics, too large headers",
      () => admin.address,
      `${HEAD}a: ${"a".repeat(9_000)}`,
      /^HTTP\/1.1 431 [^]*\r\n\r\n$/,
    ],
  ];
  for (const [what, address, request, whole] of CASES) {
    it(what, async () => {
      const hasTls = what.endsWith("over TLS");
      for (let tries = 0; tries < TRIES; tries += 1) {
        expect(await answerTo(address(), request, hasTls)).to.match(whole);
      }
    });
  }

  it("and is the end also for clients that never close: the oldest is cut for one beyond the bound, and all in time", async () => {
    const served: Socket[] = [];
    server.on("connection", (socket: Socket) => served.push(socket));
    const clients: Socket[] = [];
    for (let count = 0; count <= LINGERING_MAX; count += 1) {
      const client = open(addressOf(server)).on("error", () => undefined);
      client.allowHalfOpen = true;
      clients.push(client);
      client.write(UNREAD);
      await once(client, "data");
    }
    expect(served[0]?.destroyed).to.equal(true);
    await eventually(() => served.every(({ destroyed }) => destroyed));
    for (const client of clients) client.destroy();
  });
});
