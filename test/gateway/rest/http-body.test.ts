import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import { eventually } from "../../support/eventually.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

const ACCEPTED = { body: { contentType: "text/x-answer", data: Buffer.from('{"n":1.00}\n').toString("base64") } };

/** The message that the server got, with the body as text. */
function received(message: unknown): { token: string; type: string | undefined; text: string } {
  const { token, body } = message as { token: string; body?: { content_type?: string; data?: string } };
  return { token, type: body?.content_type, text: Buffer.from(body?.data ?? "", "base64").toString("latin1") };
}

describe("a body of the type google.api.HttpBody", () => {
  const fixture = GatewayFixture.ofSuite({ bodyBytesMax: 262_144 });
  const { server } = fixture;
  beforeEach(() => {
    server.handle = () => ({ message: ACCEPTED });
    server.calls.splice(0);
  });

  for (const [what, type, text] of [
    ["JSON with a key twice", "application/json", '{"a":1,"a":2}'],
    ["a form", "application/x-www-form-urlencoded", "a=1&b=2"],
    ["bytes that are no UTF-8", "application/octet-stream", "\u00ff\u00fe\u0000"],
    ["nothing", "text/plain", ""],
  ] as const) {
    it(`reaches the server as it came: ${what}`, async () => {
      const body = Buffer.from(text, "latin1");
      const reply = await fixture.send("POST", "/callbacks/t0k.en", { body, headers: { "content-type": type } });
      expect(reply.status).to.equal(200);
      expect(received(server.takeCall().message)).to.deep.equal({ token: "t0k.en", type, text });
    });
  }

  it("may come without a type, under /v1, and without a key", async () => {
    const reply = await fixture.send("POST", "/v1/callbacks/t", { headers: { "content-length": "0" } });
    expect(reply.status).to.equal(200);
    const call = server.takeCall();
    expect(received(call.message)).to.deep.equal({ token: "t", type: undefined, text: "" });
    expect(call.metadata).not.to.have.any.keys("x-api-key", "authorization");
  });

  it("is the response as the server gave it, with its type", async () => {
    const reply = await fixture.send("POST", "/callbacks/t", { body: "x" });
    expect([reply.headers["content-type"], reply.text]).to.deep.equal(["text/x-answer", '{"n":1.00}\n']);
    server.handle = () => ({ message: {} });
    const empty = await fixture.send("POST", "/callbacks/t", { body: "x" });
    expect([empty.status, empty.text]).to.deep.equal([200, ""]);
  });

  it("has at most 65536 bytes, though other bodies may have more", async () => {
    const largest = await fixture.send("POST", "/callbacks/t", { body: Buffer.alloc(65_536, "x") });
    expect(largest.status).to.equal(200);
    const larger = await fixture.send("POST", "/callbacks/t", { body: Buffer.alloc(65_537, "x") });
    expect([larger.status, larger.json["code"]]).to.deep.equal([413, "BODY_TOO_LARGE"]);
  });

  it("is refused when it is compressed", async () => {
    const reply = await fixture.send("POST", "/callbacks/t", { body: "x", headers: { "content-encoding": "gzip" } });
    expect([reply.status, reply.json["code"]]).to.deep.equal([415, "UNSUPPORTED_MEDIA_TYPE"]);
  });

  it("may be repeated after a 503 of the server", async () => {
    server.handle = () => ({ refusal: { code: status.UNAVAILABLE, reason: "STORAGE_UNAVAILABLE", retryDelay: "1s" } });
    // It waits for the server, but not longer than its caller does.
    const reply = await fixture.send("POST", "/callbacks/t", { body: "x", headers: { "grpc-timeout": "1S" } });
    expect([reply.status, reply.headers["retry-after"]]).to.deep.equal([503, "1"]);
    expect(server.calls.length).to.be.above(1);
  });

  it("has a path that the log never shows", async () => {
    await fixture.send("POST", "/callbacks/secret-token-1", { body: "x" });
    await fixture.send("GET", "/callbacks/secret-token-2");
    await fixture.send("POST", "/callbacks/secret-token-3/more", { body: "x" });
    await fixture.send("POST", "/callbacks/secret-token-4?secret-token-5=1", { body: "x" });
    const lines = JSON.stringify(fixture.logLines);
    expect(lines).to.include("/callbacks/{token}").and.not.to.include("secret-token");
  });
});

describe("callers of a public path", () => {
  const fixture = GatewayFixture.ofSuite({ requestsMax: 2 });
  const { server } = fixture;
  const waiting: (() => void)[] = [];

  /** Answers each call of this rpc when the test says so, and any other at once. */
  function hold(rpc: string): void {
    server.handle = async (call) => {
      if (call.rpc === rpc) await new Promise<void>((resolve) => waiting.push(resolve));
      return {};
    };
  }

  async function arrived(count: number): Promise<void> {
    while (waiting.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it("have room of their own: they keep no caller with a key out", async () => {
    hold("ReceiveCallback");
    const held = Array.from({ length: 200 }, () => fixture.send("POST", "/callbacks/t", { body: "x" }));
    await arrived(128);
    expect((await fixture.send("GET", "/transactions")).status).to.equal(200);
    // One address has at most half of the slots.
    expect(server.calls.filter(({ rpc }) => rpc === "ReceiveCallback")).to.have.lengthOf(128);
    server.handle = () => ({});
    for (const answer of waiting.splice(0)) answer();
    const statuses = (await Promise.all(held)).map((reply) => reply.status);
    // After every 32 answers one that waits is refused.
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]));
    expect(statuses.filter((status) => status === 429).length).to.be.below(10);
  });

  it("are not kept out by callers who fill the gateway", async () => {
    hold("ListTransactions");
    const held = [1, 2, 3].map(() => fixture.send("GET", "/transactions"));
    await arrived(1);
    expect((await fixture.send("POST", "/callbacks/t", { body: "x" })).status).to.equal(200);
    server.handle = () => ({});
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(held);
  });

  /** Sends the head of a callback and a part of its body. */
  function sendHalf(): Socket {
    const [host, port] = fixture.gateway.address.split(":");
    const socket = connect(Number(port), host).on("error", () => undefined);
    socket.write("POST /callbacks/t HTTP/1.1\r\nHost: kesc\r\nContent-Length: 10\r\n\r\nhalf");
    return socket;
  }

  it("that send half of a body keep no other callback out, and the oldest of very many is cut", async () => {
    server.handle = () => ({});
    const first = sendHalf();
    const wasCut = once(first, "close");
    const others: Socket[] = [];
    for (const count of [300, 300]) {
      others.push(...Array.from({ length: count }, sendHalf));
      // A call of each connection before this one has reached the gateway.
      await Promise.all(others.filter((socket) => socket.connecting).map((socket) => once(socket, "connect")));
      const answered = fixture.send("POST", "/callbacks/t", { body: "x" }).then(({ status }) => status);
      expect(await Promise.race([answered, sleep(3_000, "no answer")])).to.equal(200);
    }
    await wasCut;
    for (const socket of others) socket.destroy();
    expect((await fixture.send("POST", "/callbacks/t", { body: "x" })).status).to.equal(200);
  });

  it("wait while the server restarts, and no more of them than fit", async () => {
    server.handle = () => ({});
    server.stop();
    const startedAt = performance.now();
    const refusedAt: number[] = [];
    const sent = Array.from({ length: 520 }, async () => {
      const { status } = await fixture.send("POST", "/callbacks/t", { body: "x" });
      if (status === 429) refusedAt.push(performance.now() - startedAt);
      return status;
    });
    // There is room for 512.
    await eventually(() => refusedAt.length >= 8);
    expect(refusedAt).to.have.lengthOf(8);
    await server.start();
    const statuses = await Promise.all(sent);
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]));
    // After every 32 answers one that waits is refused.
    expect(statuses.filter((status) => status === 200).length).to.be.above(490);
  });

  it("do not make a key known by sending it along", async () => {
    server.handle = () => ({});
    for (let index = 0; index < 3; index += 1) {
      await fixture.send("POST", "/callbacks/t", { body: "x", key: "kesc_0_random" });
    }
    // A known key has a share of its own. These two share the one slot of unknown keys.
    hold("ListTransactions");
    const first = fixture.send("GET", "/transactions", { key: "kesc_0_other" });
    await arrived(1);
    const second = fixture.send("GET", "/transactions", { key: "kesc_0_random" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(waiting).to.have.lengthOf(1);
    server.handle = () => ({});
    for (const answer of waiting.splice(0)) answer();
    await Promise.all([first, second]);
  });
});
