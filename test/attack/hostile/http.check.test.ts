import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

import { expect } from "chai";

import { availableOf, fresh, newAccount } from "../../support/service/each-engine.js";
import { type Service, sharedService } from "../../support/service/service.js";

describe("REST: clients that break the rules of HTTP", () => {
  let service: Service;
  let accountId: string;
  before(async () => {
    service = await sharedService("sqlite");
    accountId = await newAccount(service, "100.00");
  });

  function open(): Socket {
    const [host, port] = service.httpAddress.split(":");
    return connect(Number(port), host)
      .setEncoding("latin1")
      .on("error", () => undefined);
  }

  /** Sends bytes. Returns everything that came back until the gateway closed, or fell silent. */
  async function send(bytes: string | Buffer): Promise<string> {
    const socket = open();
    let received = "";
    socket.on("data", (text: string) => (received += text));
    socket.write(bytes);
    // The `once` of node:events would reject here: it takes a reset connection for an error.
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await Promise.race([closed, new Promise((resolve) => socket.once("data", resolve))]);
    await Promise.race([closed, sleep(150)]);
    socket.destroy();
    return received;
  }

  /** Sends bytes. Returns everything that came back until the gateway closed the connection. */
  async function sendUntilClosed(bytes: string | Buffer): Promise<string> {
    const socket = open();
    let received = "";
    socket.on("data", (text: string) => (received += text));
    socket.write(bytes);
    await new Promise((resolve) => socket.once("close", resolve));
    return received;
  }

  /** The head of a mint, up to the headers that say where its body ends. */
  const head = (line = "POST /transactions/mint HTTP/1.1"): string =>
    `${line}\r\nHost: kesc\r\nX-API-Key: ${service.a.key}\r\nContent-Type: application/json\r\n`;
  const mintOf1 = (): string => `{"account_id":"${accountId}","amount":1.00,"reference":"${fresh("smuggled")}"}`;
  const chunked = (body: string, size = body.length.toString(16)): string => `${size}\r\n${body}\r\n0\r\n\r\n`;
  const chunkedHead = (): string => `${head()}Transfer-Encoding: chunked\r\n\r\n`;

  async function expectUnharmed(): Promise<void> {
    expect(await availableOf(service, accountId)).to.equal("100.00");
    expect((await service.rest("GET", "/readyz")).status).to.equal(200);
  }

  const MALFORMED: Record<string, () => string | Buffer> = {
    "Content-Length and Transfer-Encoding": () => {
      const body = mintOf1();
      return `${head()}Content-Length: ${String(body.length)}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${body}`;
    },
    "Transfer-Encoding and Content-Length": () =>
      `${head()}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n${chunked(mintOf1())}`,
    "Content-Length twice": () => `${head()}Content-Length: 1\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
    "a list for Content-Length": () => `${head()}Content-Length: 90, 90\r\n\r\n${mintOf1()}`,
    "a sign before Content-Length": () => `${head()}Content-Length: +90\r\n\r\n${mintOf1()}`,
    "a negative Content-Length": () => `${head()}Content-Length: -1\r\n\r\n${mintOf1()}`,
    "a Content-Length past all numbers": () => `${head()}Content-Length: 99999999999999999999\r\n\r\n${mintOf1()}`,
    "an unknown Transfer-Encoding": () => `${head()}Transfer-Encoding: xchunked\r\n\r\n${chunked(mintOf1())}`,
    "Transfer-Encoding with a blank before the colon": () =>
      `${head()}Transfer-Encoding : chunked\r\n\r\n${chunked(mintOf1())}`,
    "Transfer-Encoding that does not end with chunked": () =>
      `${head()}Transfer-Encoding: chunked, identity\r\n\r\n${chunked(mintOf1())}`,
    "a chunk size that is no number": () => chunkedHead() + chunked(mintOf1(), "zz"),
    "a chunk size with 0x": () => chunkedHead() + chunked(mintOf1(), "0x5a"),
    "a negative chunk size": () => chunkedHead() + chunked(mintOf1(), "-1"),
    "a chunk size past all numbers": () => chunkedHead() + chunked(mintOf1(), "ffffffffffffffffff"),
    "a chunk that is longer than it says": () => chunkedHead() + chunked(mintOf1(), "5"),
    "chunks that end in a bare line feed": () => chunkedHead() + chunked(mintOf1()).replaceAll("\r\n", "\n"),
    "a chunk with an endless extension": () => `${chunkedHead()}1;${"a".repeat(20_000)}\r\n{\r\n0\r\n\r\n`,
    "a folded header": () => `${head()}X-A: b\r\n c\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
    "a folded Transfer-Encoding": () => `${head()}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked(mintOf1())}`,
    "bare line feeds": () => `${head()}Content-Length: 90\r\n\r\n`.replaceAll("\r\n", "\n") + mintOf1(),
    "a bare carriage return in a header": () => `${head()}X-A: b\rX-B: c\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
    "NUL in a header": () => `${head()}X-A: b\0c\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
    "a header without a colon": () => `${head()}Foo\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
    "a header without a name": () => `${head()}: b\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
    "a blank before the first header": () => `GET /livez HTTP/1.1\r\n Host: kesc\r\n\r\n`,
    "a method that does not exist": () => head("MINT /transactions/mint HTTP/1.1"),
    "a method in small letters": () => head("post /transactions/mint HTTP/1.1"),
    "authority-form": () => head("POST kesc:80 HTTP/1.1"),
    "a request without Host": () => `${head().replace("Host: kesc\r\n", "")}Content-Length: 0\r\n\r\n`,
    "two hosts": () => `${head()}host: other\r\nContent-Length: 0\r\n\r\n`,
    "no version": () => `${head("GET /accounts")}\r\n`,
    "HTTP/2.0 in the form of HTTP/1": () => `${head("GET /accounts HTTP/2.0")}\r\n`,
    "HTTP/9.9": () => head("POST /transactions/mint HTTP/9.9"),
    "a blank in the path": () => head("POST /transactions /mint HTTP/1.1"),
    "a byte past ASCII in the path": () => Buffer.from(head("POST /\u00e9 HTTP/1.1"), "latin1"),
    "HTTP/2": () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    TLS: () => Buffer.from("1603010200010001fc0303", "hex"),
    noise: () => Buffer.alloc(1_000, 0xfe),
  };
  for (const [what, bytes] of Object.entries(MALFORMED)) {
    it(`refuses ${what} with a problem, closes the connection, and takes none of it for a request`, async () => {
      const received = await sendUntilClosed(bytes());
      expect(received).to.match(/^HTTP\/1\.1 400 Bad Request\r\n(?:.+\r\n)*Connection: close\r\n/);
      expect(received).to.match(/"code":"MALFORMED_REQUEST","request_id":"[0-9a-f-]{36}"\}$/);
      expect(received.match(/HTTP\/1\.1 \d/g)).to.have.length(1);
      await expectUnharmed();
    });
  }

  for (const [what, bytes, answer] of [
    [
      "headers of 17 KiB",
      () => `${head()}X-A: ${"a".repeat(17_000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 [^]*"HEADERS_TOO_LARGE"/,
    ],
    ["a path of 17 KiB", () => head(`GET /${"a".repeat(17_000)} HTTP/1.1`), /^HTTP\/1\.1 431 [^]*"HEADERS_TOO_LARGE"/],
    [
      "gzip for chunks",
      () => chunkedHead().replace("chunked", "gzip, chunked") + chunked(mintOf1()),
      /^HTTP\/1\.1 415 /,
    ],
    [
      "a body that gzip makes small",
      () => {
        const bomb = gzipSync(Buffer.alloc(5_000_000));
        const bombHead = `${head()}Content-Encoding: gzip\r\nContent-Length: ${String(bomb.length)}\r\n\r\n`;
        return Buffer.concat([Buffer.from(bombHead), bomb]);
      },
      /^HTTP\/1\.1 415 [^]*"UNSUPPORTED_MEDIA_TYPE"/,
    ],
    ["a body of more than may be", () => `${head()}Content-Length: 999999999\r\n\r\n{`, /^HTTP\/1\.1 413 /],
    ["an endless body", () => chunkedHead() + chunked(" ".repeat(300_000)), /^HTTP\/1\.1 413 /],
    [
      "half a surrogate pair",
      () => chunkedHead() + chunked(`{"account_id":"${accountId}","amount":1,"reference":"\\ud800"}`),
      /^HTTP\/1\.1 400 [^]*"reference"/,
    ],
    [
      "a body that is not UTF-8",
      () =>
        Buffer.from(chunkedHead() + chunked(`{"account_id":"${accountId}","amount":1,"reference":"\xff"}`), "latin1"),
      /^HTTP\/1\.1 400 [^]*"MALFORMED_BODY"/,
    ],
    ["a trace", () => `${head("TRACE /transactions HTTP/1.1")}\r\n`, /^HTTP\/1\.1 405 /],
    [
      "a tunnel",
      () => `${head("CONNECT example.org:443 HTTP/1.1")}\r\n`,
      /^HTTP\/1\.1 405 [^]*"code":"METHOD_NOT_ALLOWED"/,
    ],
    [
      "an expectation that nobody knows",
      () => `${head()}Expect: nonsense\r\nContent-Length: 90\r\n\r\n${mintOf1()}`,
      /^HTTP\/1\.1 417 [^]*"code":"EXPECTATION_FAILED"/,
    ],
    [
      "a request in the body of another",
      () => {
        const body = mintOf1();
        const inner = `${head()}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
        return `GET /livez HTTP/1.1\r\nHost: kesc\r\nContent-Length: ${String(inner.length)}\r\n\r\n${inner}`;
      },
      /^HTTP\/1\.1 200 OK\r\n(?![^]*HTTP\/1\.1)/,
    ],
  ] as const) {
    it(`takes no part of ${what} for a mint`, async () => {
      expect(await send(bytes())).to.match(answer);
      await expectUnharmed();
    });
  }

  it("loses no header, however many there are", async () => {
    const many = Array.from({ length: 300 }, (_, index) => `X-${String(index)}: a\r\n`).join("");
    const received = await send(
      `GET /accounts/${accountId} HTTP/1.1\r\n${many}Host: kesc\r\nX-API-Key: ${service.a.key}\r\n\r\n`,
    );
    expect(received).to.match(/^HTTP\/1\.1 200 OK/);
  });

  const statusesIn = (received: string): string[] =>
    [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status ?? "");
  const mintRequest = (account: string): string => {
    const body = `{"account_id":"${account}","amount":1.00,"reference":"${fresh("pipelined")}"}`;
    return `${head()}Content-Length: ${String(body.length)}\r\n\r\n${body}`;
  };

  it("answers 16 pipelined requests, takes no part of the others, and closes the connection", async () => {
    const account = await newAccount(service, "1.00");
    const received = await sendUntilClosed(Array.from({ length: 40 }, () => mintRequest(account)).join(""));
    expect(statusesIn(received)).to.deep.equal(Array(16).fill("201"));
    expect(received.match(/Connection: close/gi)).to.have.length(1);
    expect(await availableOf(service, account)).to.equal("17.00");
  });

  it("answers the requests before a malformed one, and then that one", async () => {
    const account = await newAccount(service, "1.00");
    const received = await sendUntilClosed(`${mintRequest(account)}${mintRequest(account)}MINT / HTTP/1.1\r\n\r\n`);
    expect(statusesIn(received)).to.deep.equal(["201", "201", "400"]);
    expect(await availableOf(service, account)).to.equal("3.00");
  });

  it("answers the requests before one without Host, and then that one, and does none of those behind it", async () => {
    const account = await newAccount(service, "1.00");
    const hostless = "GET /accounts HTTP/1.1\r\n\r\n";
    const received = await sendUntilClosed(`${mintRequest(account)}${hostless}${mintRequest(account)}`);
    expect(statusesIn(received)).to.deep.equal(["201", "400"]);
    expect(await availableOf(service, account)).to.equal("2.00");
  });

  it("closes a connection that pipelines requests without end", async () => {
    const received = await sendUntilClosed("GET /readyz HTTP/1.1\r\nHost: kesc\r\n\r\n".repeat(20_000));
    expect(statusesIn(received).length).to.be.within(1, 16);
    await expectUnharmed();
  });

  it("serves others while a hundred connections drip headers and bodies", async () => {
    const drips = Array.from({ length: 100 }, (_, index) => {
      const socket = open();
      const dripped = index % 2 === 0 ? head() : `${head()}Content-Length: 90\r\n\r\n${mintOf1()}`;
      let at = index % 2 === 0 ? 0 : dripped.length - 80;
      socket.write(dripped.slice(0, at));
      const dripping = setInterval(() => socket.write(dripped.charAt((at += 1) - 1)), 20);
      return {
        socket,
        stop: () => {
          clearInterval(dripping);
        },
      };
    });
    for (let round = 0; round < 5; round += 1) await expectUnharmed();
    for (const { socket, stop } of drips) {
      stop();
      socket.destroy();
    }
    await expectUnharmed();
  });
});
