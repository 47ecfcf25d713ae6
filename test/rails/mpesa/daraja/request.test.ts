import { readFileSync } from "node:fs";

import { expect } from "chai";

import { type HttpResult, isBeforeRequest, sendRequest } from "../../../../src/rails/mpesa/daraja/request.js";
import { TLS_CERT_FILE, TLS_KEY_FILE } from "../../../support/tls/files.js";
import { answering, resetting, silent, StubServer } from "../stub-server.js";

const POST = { method: "POST", headers: {}, body: "{}" } as const;
const NEVER = new AbortController().signal;

describe("an HTTP request to a rail", () => {
  const stubs: StubServer[] = [];

  async function serving(...given: Parameters<typeof StubServer.start>): Promise<StubServer> {
    const stub = await StubServer.start(...given);
    stubs.push(stub);
    return stub;
  }

  function send(url: string, signal = NEVER): Promise<HttpResult> {
    return sendRequest(url, POST, signal);
  }

  afterEach(async () => {
    await Promise.all(stubs.splice(0).map((stub) => stub.stop()));
  });

  it("brings the answer with its status", async () => {
    const stub = await serving(answering(404, "not here"));
    expect(await send(stub.url)).to.deep.equal({ kind: "answered", httpStatus: 404, text: "not here" });
  });

  it("did not reach a port at which nobody listens", async () => {
    const stub = await serving(silent);
    const { url } = stub;
    await stub.stop();
    stubs.length = 0;
    expect(await send(url)).to.deep.equal({ kind: "unreached", code: "ECONNREFUSED" });
    expect(await send(url.replace("127.0.0.1", "localhost"))).to.deep.equal({
      kind: "unreached",
      code: "ECONNREFUSED",
    });
  });

  it("did not reach a name that does not exist", async () => {
    const result = await send("http://no-such-host.invalid");
    expect(result.kind).to.equal("unreached");
  });

  it("did not reach a server whose certificate it refuses", async () => {
    const stub = await serving(silent, { key: readFileSync(TLS_KEY_FILE), cert: readFileSync(TLS_CERT_FILE) });
    const result = await send(`https://127.0.0.1:${String(stub.port)}`);
    expect(result).to.deep.equal({ kind: "unreached", code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
    expect(stub.received).to.deep.equal([]);
  });

  it("was not begun if the signal had aborted before", async () => {
    const stub = await serving(answering(200, {}));
    expect(await send(stub.url, AbortSignal.abort())).to.deep.equal({ kind: "unreached", code: "DEADLINE" });
    expect(stub.received).to.deep.equal([]);
  });

  it("has an unknown outcome if the connection breaks before the answer", async () => {
    const stub = await serving(resetting);
    const result = await send(stub.url);
    expect(result.kind).to.equal("unknown");
    expect(stub.received).to.have.length(1);
  });

  it("has an unknown outcome if the connection breaks amid the answer", async () => {
    const stub = await serving((response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{", () => response.socket?.resetAndDestroy());
    });
    expect((await send(stub.url)).kind).to.equal("unknown");
  });

  it("has an unknown outcome if the signal aborts while it waits for the answer", async () => {
    const abort = new AbortController();
    const stub = await serving(() => {
      abort.abort();
    });
    expect(await send(stub.url, abort.signal)).to.deep.equal({ kind: "unknown", code: "DEADLINE" });
  });

  it("reads 64 KiB of an answer, and no more", async () => {
    const largest = "x".repeat(65_536);
    expect(await send((await serving(answering(200, largest))).url)).to.include({ kind: "answered", text: largest });
    const tooLarge = await serving(answering(200, `${largest}x`));
    expect(await send(tooLarge.url)).to.deep.equal({ kind: "unknown", code: "ANSWER_TOO_LARGE" });
  });

  it("stops reading an answer that does not end", async () => {
    const stub = await serving((response) => {
      response.writeHead(200);
      const more = (): void => {
        if (!response.destroyed) response.write("x".repeat(10_000), more);
      };
      more();
    });
    expect(await send(stub.url)).to.deep.equal({ kind: "unknown", code: "ANSWER_TOO_LARGE" });
  });

  it("does not follow a redirect, which would send the request twice", async () => {
    const elsewhere = await serving(answering(200, {}));
    const stub = await serving((response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    expect(await send(stub.url)).to.include({ kind: "answered", httpStatus: 307 });
    expect(elsewhere.received).to.deep.equal([]);
  });

  for (const [what, error, isBefore] of [
    ["an unknown name", { code: "ENOTFOUND", syscall: "getaddrinfo" }, true],
    ["a resolver that does not answer", { code: "EAI_AGAIN", syscall: "getaddrinfo" }, true],
    ["a refused connection", { code: "ECONNREFUSED", syscall: "connect" }, true],
    ["a host that cannot be reached", { code: "EHOSTUNREACH", syscall: "connect" }, true],
    ["a connection that is not made in time", { code: "UND_ERR_CONNECT_TIMEOUT" }, true],
    ["a certificate for another name", { code: "ERR_TLS_CERT_ALTNAME_INVALID" }, true],
    ["a certificate that has expired", { code: "CERT_HAS_EXPIRED" }, true],
    ["refused connections to all addresses of a name", refusedBy("connect", "connect"), true],
    ["one address that may have got bytes", refusedBy("connect", "read"), false],
    ["no address", refusedBy(), false],
    ["a reset while reading", { code: "ECONNRESET", syscall: "read" }, false],
    ["a host that is lost while writing", { code: "EHOSTUNREACH", syscall: "write" }, false],
    ["a reset without a system call", { code: "ECONNRESET" }, false],
    ["a closed socket", { code: "UND_ERR_SOCKET" }, false],
    ["no answer in time", { code: "UND_ERR_HEADERS_TIMEOUT" }, false],
    ["a broken pipe", { code: "EPIPE", syscall: "write" }, false],
    ["an error without a code", {}, false],
    ["no error at all", undefined, false],
  ] as const) {
    it(`${isBefore ? "was not sent" : "may have been sent"} after ${what}`, () => {
      expect(isBeforeRequest(error)).to.equal(isBefore);
    });
  }
});

function refusedBy(...syscalls: readonly string[]): AggregateError {
  return new AggregateError(syscalls.map((syscall) => Object.assign(new Error("refused"), { syscall })));
}
