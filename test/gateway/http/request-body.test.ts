import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { gzipSync } from "node:zlib";

import { expect } from "chai";

import { type BodyResult, readBody } from "../../../gateway/http/request-body.js";
import { type RestCall, RestCaller } from "../../support/callers/rest-caller.js";

const BYTES_MAX = 8_192;
const LARGEST = "x".repeat(BYTES_MAX - 2);
const LARGE = JSON.stringify({ reference: "x".repeat(BYTES_MAX) });

type Sent = Pick<RestCall, "body" | "headers">;
const typed = (type: string): Sent => ({ body: "{}", headers: { "content-type": type } });

describe("the body of a request", () => {
  const results: BodyResult[] = [];
  /** The bytes of the bodies that asked for a turn. */
  const turns: number[] = [];
  const turnFor = (bytes: number): Promise<void> => {
    turns.push(bytes);
    return Promise.resolve();
  };
  let server: Server;
  let port: number;
  let caller: RestCaller;
  before(async () => {
    server = createServer((req, res) => {
      void readBody(req, { bytesMax: BYTES_MAX, turnFor }).then((result) => {
        results.push(result);
        server.emit("read");
        res.end();
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
    caller = new RestCaller(`127.0.0.1:${String(port)}`);
  });
  after(async () => {
    caller.close();
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  beforeEach(() => {
    results.splice(0);
    turns.splice(0);
  });

  for (const [name, sent, json] of [
    ["is an empty object when there is none", {}, {}],
    ["is an empty object when it is empty", { body: "" }, {}],
    ["may be application/json", { body: '{"a":true}' }, { a: true }],
    ["may name its character set", typed("application/json; charset=utf-8"), {}],
    ["may name its type in any writing", typed('Application/JSON;charset="UTF-8"'), {}],
    ["may have as many bytes as are allowed", { body: `"${LARGEST}"` }, LARGEST],
  ] satisfies [string, Sent, unknown][]) {
    it(name, async () => {
      await caller.send("POST", "/", sent);
      expect(results).to.deep.equal([{ ok: true, json }]);
    });
  }

  for (const [name, sent, status, code] of [
    ["is not JSON", { body: "{" }, 400, "MALFORMED_BODY"],
    ["is not UTF-8", { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, "MALFORMED_BODY"],
    ["is text", typed("text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["is a form", typed("application/x-www-form-urlencoded"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["is in another character set", typed("application/json; charset=latin1"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["has a type that only begins like JSON", typed("application/jsonp"), 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["has no type", { body: "{}", headers: { "content-type": [] } }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["is compressed", { body: gzipSync("{}"), headers: { "content-encoding": "gzip" } }, 415, "UNSUPPORTED_MEDIA_TYPE"],
    ["is too large", { body: LARGE }, 413, "BODY_TOO_LARGE"],
    [
      "is too large and does not name its length",
      { body: LARGE, headers: { "content-length": [], "transfer-encoding": "chunked" } },
      413,
      "BODY_TOO_LARGE",
    ],
  ] satisfies [string, Sent, number, string][]) {
    it(`is refused when it ${name}`, async () => {
      await caller.send("POST", "/", sent);
      expect(results).to.have.lengthOf(1);
      expect(results[0]).to.have.property("problem").that.includes({ status, code });
    });
  }

  it("waits for a turn before it is parsed, when it is large", async () => {
    await caller.send("POST", "/", { body: `"${LARGEST}"` });
    await caller.send("POST", "/", {
      body: `"${LARGEST}"`,
      headers: { "content-length": [], "transfer-encoding": "chunked" },
    });
    await caller.send("POST", "/", { body: "{}" });
    expect(turns).to.deep.equal([BYTES_MAX, BYTES_MAX]);
  });

  it("is malformed when the client disconnects in the middle", async () => {
    const socket = connect(port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{");
    await once(server, "request");
    const read = once(server, "read");
    socket.destroy();
    await read;
    expect(results[0]).to.have.property("problem").that.includes({ status: 400, code: "MALFORMED_BODY" });
  });
});
