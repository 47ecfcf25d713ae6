import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createSecureServer } from "node:http2";
import { type AddressInfo, connect as connectTcp, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { promisify } from "node:util";

import { Client, credentials, status as Status } from "@grpc/grpc-js";
import { expect } from "chai";

import { clientCredentials } from "../../../runtime/transport/client-credentials.js";
import { serverNameFor, verifyOptionsFor } from "../../../runtime/transport/server-name.js";
import { WatchedTls } from "../../../runtime/transport/watched-tls.js";
import { endTls, type TlsEndOptions } from "../../../src/grpc/transport/tls-end.js";
import { GrpcCaller } from "../../support/callers/grpc-caller.js";
import { MINT, SECRET, serve, type ServerUnderTest } from "../../support/service/grpc-server.js";
import { logInto } from "../../support/service/log-lines.js";
import { Authority, type Issued, LOCAL_NAMES, writeTls } from "../../support/tls/authority.js";

const DAY_MILLIS = 86_400_000;
const ROTATIONS = 5;

describe("TLS of the gRPC server", () => {
  let folder: string;
  let authority: Authority;
  let watched: WatchedTls;
  let server: ServerUnderTest;

  async function start(hasClientCa: boolean): Promise<void> {
    folder = mkdtempSync(join(tmpdir(), "kesc-tls-"));
    authority = await Authority.create("tests");
    const written = writeTls(folder, await authority.issue({ names: LOCAL_NAMES }), authority.pem);
    const named = (path: string) => ({ variable: "KESC_X", path });
    const files = { certificate: named(written.cert), key: named(written.key) };
    // Only the tests look: the timer could be reading the files while a test replaces them.
    const options = { log: logInto([]), lookMillis: DAY_MILLIS };
    watched = new WatchedTls(hasClientCa ? { ...files, ca: named(written.ca) } : files, options);
    server = await serve({ tls: watched });
  }
  async function stop(): Promise<void> {
    await server.close();
    watched.close();
    rmSync(folder, { recursive: true });
  }
  const port = (): number => Number(server.server.address.split(":").at(-1));

  function caller(client?: Issued): GrpcCaller {
    const [key, cert] = client === undefined ? [null, null] : [Buffer.from(client.key), Buffer.from(client.cert)];
    const verify = verifyOptionsFor(server.server.address);
    const secure = credentials.createSsl(Buffer.from(authority.pem), key, cert, verify);
    return new GrpcCaller(server.server.address, { key: SECRET, credentials: secure, deadlineMillis: 5_000 });
  }

  async function codeOf(client?: Issued): Promise<number> {
    const grpc = caller(client);
    const { code } = await grpc.call("ListAccounts", {});
    grpc.close();
    return code;
  }

  /** The serial number of the certificate that a new connection sees. */
  function servedSerial(options: ConnectionOptions = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: port(), ca: authority.pem, ALPNProtocols: ["h2"], ...options }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.once("error", reject);
    });
  }

  describe("without a CA of clients", () => {
    beforeEach(() => start(false));
    afterEach(stop);

    it("serves callers with a key, and asks for no certificate", async () => {
      expect(await codeOf()).to.equal(Status.OK);
    });

    it("refuses TLS 1.1", async () => {
      const failure = await servedSerial({
        maxVersion: "TLSv1.1",
        minVersion: "TLSv1",
        ciphers: "DEFAULT@SECLEVEL=0",
      }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      expect(await servedSerial({ maxVersion: "TLSv1.2" })).to.be.a("string");
    });

    for (const [what, sent] of [
      ["HTTP/2 in plain text", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
      ["HTTP/1.1 in plain text", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"],
    ] as const) {
      it(`answers ${what} with nothing but an alert of TLS`, async () => {
        const received = await new Promise<Buffer>((resolve) => {
          const chunks: Buffer[] = [];
          const socket = connectTcp(port(), "127.0.0.1", () => socket.write(sent));
          socket.on("data", (chunk) => chunks.push(chunk));
          socket.on("error", () => undefined);
          socket.on("close", () => {
            resolve(Buffer.concat(chunks));
          });
        });
        // An alert has seven bytes: its type 21, the version, the length, and two of its own.
        expect(received.length).to.be.oneOf([0, 7]);
        if (received.length > 0) expect(received[0]).to.equal(21);
        expect(await codeOf()).to.equal(Status.OK);
      });
    }

    it("shows new connections each new certificate, and fails no call meanwhile", async () => {
      const steady = caller();
      const codes: number[] = [];
      let isOver = false;
      const mint = async (grpc: () => GrpcCaller, close: (used: GrpcCaller) => void): Promise<void> => {
        while (!isOver) {
          const used = grpc();
          codes.push((await used.call("Mint", MINT)).code);
          close(used);
        }
      };
      // One keeps its connection; the other makes a new one for each call.
      const minting = [
        mint(
          () => steady,
          () => undefined,
        ),
        mint(caller, (used) => {
          used.close();
        }),
      ];
      for (let rotation = 0; rotation < ROTATIONS; rotation += 1) {
        const before = codes.length;
        const next = await authority.issue({ names: LOCAL_NAMES });
        writeTls(folder, next, authority.pem);
        await watched.look();
        expect(await servedSerial()).to.equal(next.serial);
        while (codes.length < before + 4) await new Promise(setImmediate);
      }
      isOver = true;
      await Promise.all(minting);
      steady.close();
      expect([...new Set(codes)]).to.deep.equal([Status.OK]);
    });
  });

  describe("with a CA of clients", () => {
    before(() => start(true));
    after(stop);

    it("serves a client whose certificate the CA has signed", async () => {
      expect(await codeOf(await authority.issue({ names: ["DNS:client"] }))).to.equal(Status.OK);
    });

    for (const [what, client] of [
      ["no certificate", () => undefined],
      ["a certificate of another CA", async () => (await Authority.create("tests")).issue({ names: ["DNS:client"] })],
      ["an expired certificate", () => authority.issue({ names: ["DNS:client"], to: -DAY_MILLIS / 2 })],
      ["a certificate that is not valid yet", () => authority.issue({ names: ["DNS:client"], from: DAY_MILLIS })],
    ] as const) {
      it(`refuses a client with ${what}, before its call comes in`, async () => {
        const { keyReads } = server;
        const before = keyReads.count;
        expect(await codeOf(await client())).to.be.oneOf([Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED]);
        expect(keyReads.count).to.equal(before);
      });
    }

    it("refuses the certificates of an old CA once a new one is in use", async () => {
      const client = await authority.issue({ names: ["DNS:client"] });
      expect(await codeOf(client)).to.equal(Status.OK);
      const [cert, key] = [String(watched.material.cert), String(watched.material.key)];
      writeTls(folder, { cert, key }, (await Authority.create("new")).pem);
      await watched.look();
      expect(await codeOf(client)).to.be.oneOf([Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED]);
      writeTls(folder, { cert, key }, authority.pem);
      await watched.look();
      expect(await codeOf(client)).to.equal(Status.OK);
    });
  });

  it("takes an IP address for no server name, and compares the certificate with it", async () => {
    folder = mkdtempSync(join(tmpdir(), "kesc-tls-"));
    authority = await Authority.create("tests");
    const names: unknown[] = [];
    const codes: string[] = [];
    for (const own of ["IP:127.0.0.1", "IP:192.0.2.1", "DNS:ip-address.invalid"]) {
      const written = writeTls(folder, await authority.issue({ names: [own] }), authority.pem);
      const [cert, key] = [readFileSync(written.cert), readFileSync(written.key)];
      const tlsServer = createSecureServer({ cert, key }, (_request, response) => response.writeHead(200).end());
      tlsServer.on("secureConnection", ({ servername }: TLSSocket) => names.push(servername));
      tlsServer.listen(0, "127.0.0.1");
      await once(tlsServer, "listening");
      const address = `127.0.0.1:${String((tlsServer.address() as AddressInfo).port)}`;
      const secure = clientCredentials(address, { ca: { variable: "KESC_X", path: written.ca } });
      const client = new Client(address, secure, { ...serverNameFor(address), "grpc.enable_retries": 0 });
      const opened = promisify(client.waitForReady.bind(client))(Date.now() + 1_000);
      codes.push(
        await opened.then(
          () => "connected",
          () => "refused",
        ),
      );
      client.close();
      tlsServer.close();
    }
    rmSync(folder, { recursive: true });
    expect(codes).to.deep.equal(["connected", "refused", "refused"]);
    expect(new Set(names)).to.deep.equal(new Set(["ip-address.invalid"]));
  });

  it("is off on a Unix socket", async () => {
    await start(true);
    const path = `unix:${join(folder, "kesc.sock")}`;
    const local = await serve({ tls: watched, address: path });
    const grpc = new GrpcCaller(path, { key: SECRET, credentials: clientCredentials(path, undefined) });
    expect((await grpc.call("ListAccounts", {})).code).to.equal(Status.OK);
    grpc.close();
    await local.close();
    await stop();
  });
});

describe("TLS handshakes that do not end", () => {
  async function listen(options: Omit<TlsEndOptions, "onSecure">) {
    const authority = await Authority.create("tests");
    const { cert, key } = await authority.issue({ names: LOCAL_NAMES });
    let secure = 0;
    const end = endTls(
      { material: { cert: Buffer.from(cert), key: Buffer.from(key) }, onChange: () => undefined },
      {
        ...options,
        onSecure: (socket) => {
          secure += 1;
          socket.end();
        },
      },
    );
    const server = createServer((socket) => end.emit("connection", socket));
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    return { authority, server, port, secureCount: () => secure };
  }

  /** Opens a connection that never begins its handshake. */
  function silent(port: number): Promise<{ socket: Socket; closed: Promise<void> }> {
    return new Promise((resolve) => {
      const socket = connectTcp(port, "127.0.0.1", () => {
        resolve({ socket, closed });
      });
      socket.on("error", () => undefined);
      const closed = new Promise<void>((done) => {
        socket.once("close", () => {
          done();
        });
      });
    });
  }

  it("are cut after a time", async () => {
    const { server, port } = await listen({ handshakeMillisMax: 50 });
    const { closed } = await silent(port);
    await closed;
    server.close();
  });

  it("are cut oldest first when too many are under way, and an honest client is served", async () => {
    const { server, port, authority, secureCount } = await listen({ handshakesMax: 3 });
    const opened = [];
    for (let count = 0; count < 5; count += 1) opened.push(await silent(port));
    await Promise.all(opened.slice(0, 2).map(({ closed }) => closed));
    await new Promise<void>((resolve) => {
      const honest = connect({ port, ca: authority.pem, ALPNProtocols: ["h2"] });
      honest.resume();
      honest.once("close", () => {
        resolve();
      });
    });
    expect(secureCount()).to.equal(1);
    // The honest client was one more, and its place is free again.
    await opened[2]?.closed;
    expect(opened.slice(3).map(({ socket }) => socket.destroyed)).to.deep.equal([false, false]);
    for (const { socket } of opened) socket.destroy();
    server.close();
  });
});
