import { once } from "node:events";
import { mock } from "node:test";

import type { JsonValue } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import { StreamCaller } from "../../support/callers/stream-caller.js";
import { eventually } from "../../support/eventually.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";
import { rawConnection } from "../../support/gateway/raw-connection.js";

const SSE = { accept: "text/event-stream", "x-api-key": "kesc_0_key" };
const LINES = { ...SSE, accept: "application/x-ndjson" };
const KEY_REVOKED = { code: status.UNAUTHENTICATED, reason: "INVALID_API_KEY", text: "The key is invalid." };
const HEARTBEAT_MILLIS = 15_000;

/** The events from one sequence to another, in messages of `size`. */
function* events(from: number, to: number, size = 1): Generator<JsonValue> {
  for (let first = from; first <= to; first += size) {
    const last = Math.min(to, first + size - 1);
    const sequences = Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
    yield { events: sequences.map((sequence) => ({ sequence, type: "account.created" })), nextSequence: String(last) };
  }
}

/** A stream that has sent its messages and stays open. */
async function* andWait(messages: Iterable<JsonValue>): AsyncGenerator<JsonValue> {
  yield* messages;
  await new Promise<never>(() => undefined);
}

describe("a stream through the gateway", () => {
  let fixture: GatewayFixture;
  const callers: StreamCaller[] = [];
  beforeEach(() => {
    fixture = new GatewayFixture();
  });
  afterEach(async () => {
    for (const caller of callers.splice(0)) caller.close();
    await fixture.stop();
  });

  const open = (headers: Readonly<Record<string, string>> = SSE, path = "/events", method = "GET"): StreamCaller => {
    const caller = new StreamCaller(fixture.gateway.address, path, headers, method);
    callers.push(caller);
    return caller;
  };
  const idle = () => ({ messages: andWait([{ nextSequence: "7" }]) });

  it("is refused with a problem while nothing was sent", async () => {
    await fixture.start();
    fixture.server.handle = () => ({ refusal: KEY_REVOKED });
    const { status: code, headers, json } = await fixture.send("GET", "/events", { headers: SSE });
    expect([code, json["code"]]).to.deep.equal([401, "INVALID_API_KEY"]);
    expect(headers).to.include({ "content-type": "application/problem+json", vary: "Accept" });
  });

  it("is refused with a problem if no first message comes in time", async () => {
    await fixture.start({ callSecondsMax: 1 });
    fixture.server.handle = () => ({ messages: andWait([]) });
    const { status: code, json } = await fixture.send("GET", "/events", { headers: LINES });
    expect([code, json["code"]]).to.deep.equal([504, "DEADLINE_EXCEEDED"]);
    await fixture.server.takeCall().cancelled;
  });

  it("has no deadline of its own, and takes that of Grpc-Timeout", async () => {
    await fixture.start({ callSecondsMax: 1 });
    fixture.server.handle = idle;
    await open().head();
    expect(fixture.server.takeCall().deadlineMillis).to.equal(Infinity);
    const limited = open({ ...LINES, "grpc-timeout": "1S" });
    await limited.read();
    expect(await limited.end()).to.equal("cut off");
  });

  it("shows bad fields once the server has checked the key, and opens no stream for that", async () => {
    await fixture.start();
    fixture.server.handle = () => ({ messages: [] });
    const { status: code, json } = await fixture.send("GET", "/events?after_sequence=7.5&colour=red", { headers: SSE });
    expect([code, json["code"]]).to.deep.equal([400, "INVALID_FIELD"]);
    expect((json["errors"] as { field: string }[]).map(({ field }) => field)).to.deep.equal([
      "after_sequence",
      "colour",
    ]);
    expect(fixture.server.takeCall().metadata).to.include({ "kesc-validate-only": "true" });
    fixture.server.handle = () => ({ refusal: KEY_REVOKED });
    expect((await fixture.send("GET", "/events?colour=red", { headers: SSE })).status).to.equal(401);
  });

  it("that fails later is an event with the problem, or a body that is cut off", async () => {
    await fixture.start();
    fixture.server.handle = () => ({ messages: events(1, 3), refusal: KEY_REVOKED });
    const sse = await open().read();
    expect(await sse.end()).to.equal("whole");
    const [, json = ""] = /\n\nevent: error\ndata: (.*)\n\n$/.exec(sse.text) ?? [];
    expect(JSON.parse(json)).to.include({ code: "INVALID_API_KEY", status: 401 });
    expect(await (await open(LINES).read()).end()).to.equal("cut off");
    const log = fixture.logLines.filter(({ route }) => route === "/events");
    expect(log).to.have.length(2);
    for (const line of log) expect(line).to.include({ status: 401, code: "INVALID_API_KEY" });
  });

  it("is answered to HEAD with the head alone, and the server's stream ends", async () => {
    await fixture.start();
    fixture.server.handle = idle;
    const head = await open(SSE, "/events", "HEAD").read();
    expect((await head.head()).headers).to.include({ "content-type": "text/event-stream", vary: "Accept" });
    expect([await head.end(), head.text]).to.deep.equal(["whole", ""]);
    await fixture.server.takeCall().cancelled;
  });

  it("is logged in one line at its end, with its items", async () => {
    await fixture.start();
    fixture.server.handle = () => ({ messages: events(1, 300, 100) });
    await (await open(LINES).read()).end();
    const lines = fixture.logLines.filter(({ msg }) => msg === "request");
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ route: "/events", status: 200, code: "OK", items: 300 });
    expect(lines[0]).to.have.property("ms").that.is.a("number");
  });

  it("ends at the server when the client has gone", async () => {
    await fixture.start();
    fixture.server.handle = idle;
    await open().head();
    const { cancelled } = fixture.server.takeCall();
    callers[0]?.close();
    await cancelled;
  });

  it("shows in silence that it is alive", async () => {
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      await fixture.start();
      fixture.server.handle = idle;
      const [sse, lines] = [await open().read(), await open(LINES).read()];
      await sse.until("id: 7\n\n");
      await lines.until('{"next_sequence":7}\n');
      mock.timers.tick(HEARTBEAT_MILLIS);
      await sse.until("id: 7\n\n:\n\n");
      await lines.until('{"next_sequence":7}\n{"next_sequence":7}\n');
    } finally {
      mock.timers.reset();
    }
  });

  it("slows the server down to the pace of its client, and no other stream", async () => {
    await fixture.start();
    const MESSAGES = 1_500;
    const sent = { slow: 0, quick: 0 };
    fixture.server.handle = ({ message }) => {
      const name = (message as { account_id: string }).account_id as "slow" | "quick";
      const counted = function* () {
        for (const each of events(1, MESSAGES * 100, 100)) {
          sent[name] += 1;
          yield each;
        }
      };
      return { messages: counted() };
    };
    const slow = open(LINES, "/events?account_id=slow");
    await slow.head();
    const quick = await open(LINES, "/events?account_id=quick").read();
    expect(await quick.end()).to.equal("whole");
    expect([sent.quick, quick.text.trimEnd().split("\n").length]).to.deep.equal([MESSAGES, MESSAGES * 100]);
    // Some messages fill the buffers of the sockets between server, gateway and client.
    expect(sent.slow).to.be.below(MESSAGES / 2);
    await slow.read();
    expect(await slow.end()).to.equal("whole");
    expect(slow.text).to.equal(quick.text);
  });

  it("holds no place of requests, and a key has at most half of the places of streams", async () => {
    await fixture.start({ requestsMax: 4, streamsMax: 8 });
    fixture.server.handle = ({ rpc }) => (rpc === "WatchEvents" ? idle() : {});
    const own = [open(), open(), open(), open()];
    for (const caller of own) expect((await caller.head()).statusCode).to.equal(200);
    const refused = await fixture.send("GET", "/events", { headers: SSE });
    expect([refused.status, refused.json["code"], refused.json["streams_max"]]).to.deep.equal([
      429,
      "TOO_MANY_STREAMS",
      8,
    ]);
    expect((await fixture.send("GET", "/events", { headers: { "x-api-key": "kesc_0_key" } })).status).to.equal(200);
    const other = open({ ...SSE, "x-api-key": "kesc_0_other" });
    expect((await other.head()).statusCode).to.equal(200);
    own[0]?.close();
    await eventually(async () => (await open().head()).statusCode === 200);
  });

  it("that waits for its first message ends at a stop, too", async () => {
    await fixture.start();
    const arrived = new Promise<void>((resolve) => {
      fixture.server.handle = () => {
        resolve();
        return { messages: andWait([]) };
      };
    });
    const answer = fixture.send("GET", "/events", { headers: SSE });
    await arrived;
    expect(await fixture.gateway.stop()).to.equal(true);
    expect((await answer).json["code"]).to.equal("SHUTTING_DOWN");
  });

  it("does not hold up a stop, whether its client reads or not", async () => {
    await fixture.start({ shutdownGraceSeconds: 3_600 });
    let sent = 0;
    const flood = function* () {
      for (const each of events(1, 1e6, 200)) {
        sent += 1;
        yield each;
      }
    };
    fixture.server.handle = ({ message }) =>
      (message as { account_id?: string }).account_id === "flood" ? { messages: flood() } : idle();
    const reading = [await open().read(), await open(LINES).read()];
    const silent = open(LINES, "/events?account_id=flood");
    await silent.head();
    // The buffers of the sockets are full when the server is no longer asked for more.
    for (let before = -1; before !== sent; await new Promise((resolve) => setTimeout(resolve, 500))) before = sent;
    expect(await fixture.gateway.stop()).to.equal(true);
    for (const caller of reading) expect(await caller.end()).to.equal("whole");
    await silent.read();
    expect(await silent.end()).to.equal("cut off");
  });

  it("goes on without loss after its server was killed, again and again", async () => {
    await fixture.start();
    const TOTAL = 200;
    let starts = 0;
    fixture.server.handle = ({ message }) => {
      const after = Number((message as { after_sequence?: string }).after_sequence ?? 0);
      starts += 1;
      return starts < 5
        ? { messages: andWait(events(after + 1, after + 30, 7)) }
        : { messages: events(after + 1, TOTAL, 7) };
    };
    const seen: number[] = [];
    let lastId = "0";
    while (seen.length < TOTAL) {
      const caller = await open({ ...SSE, "last-event-id": lastId })
        .read()
        .catch(() => undefined);
      if (caller === undefined || (await caller.head()).statusCode !== 200) continue;
      if (starts < 5) {
        await caller.until(`id: ${String(Number(lastId) + 30)}\n`);
        fixture.server.stop();
        await caller.until("event: error\n");
        await fixture.server.start();
      }
      await caller.end();
      for (const [, id = "", data] of caller.text.matchAll(
        /^id: (\d+)\n(?:event: account\.created\ndata: (.*)\n)?\n/gm,
      )) {
        lastId = id;
        if (data !== undefined) seen.push((JSON.parse(data) as { sequence: number }).sequence);
      }
    }
    expect(seen).to.deep.equal(Array.from({ length: TOTAL }, (_, index) => index + 1));
    expect(starts).to.be.at.least(5);
  });

  it("works over HTTP/1.0 if it has no end", async () => {
    await fixture.start();
    fixture.server.handle = () => ({ messages: events(1, 2) });
    const get = "GET /events HTTP/1.0\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n";
    const { socket, received } = rawConnection(fixture.gateway.address, get);
    await once(socket, "close");
    expect(received()).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\n\{"sequence":1,[^\n]*\n\{"sequence":2,[^\n]*\n$/);
  });

  it("waits for the responses before it on its connection, and leaves nothing behind if that breaks", async () => {
    await fixture.start();
    let release: () => void = () => undefined;
    fixture.server.handle = async ({ rpc }) => {
      if (rpc === "WatchEvents") return { messages: events(1, 2) };
      await new Promise<void>((resolve) => (release = resolve));
      return {};
    };
    const stream = "GET /events HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\n\r\n";
    const both = `GET /transactions HTTP/1.1\r\nHost: x\r\n\r\n${stream}`;
    const { socket, received } = rawConnection(fixture.gateway.address, both);
    await eventually(() => fixture.server.calls.length > 0);
    release();
    await eventually(() => /"sequence":2,[^]*\r\n0\r\n\r\n$/.test(received()));
    socket.destroy();
  });
});

describe("many idle streams", () => {
  const STREAMS = 1_000;
  const fixture = GatewayFixture.ofSuite({ connectionsMax: 2 * STREAMS, streamsMax: 2 * STREAMS, requestsMax: 100 });

  it("leave room for requests and for each other, and end at a stop", async () => {
    fixture.server.handle = ({ rpc }) => (rpc === "WatchEvents" ? { messages: andWait([{ nextSequence: "7" }]) } : {});
    const callers = Array.from(
      { length: STREAMS },
      (_, index) =>
        new StreamCaller(fixture.gateway.address, "/events", { ...SSE, "x-api-key": `kesc_0_${String(index % 8)}` }),
    );
    await Promise.all(callers.map((caller) => caller.read()));
    await Promise.all(callers.map((caller) => caller.until("id: 7\n\n")));
    expect((await fixture.send("GET", "/events", {})).status).to.equal(200);
    expect(await fixture.gateway.stop()).to.equal(true);
    for (const caller of callers) expect(await caller.end()).to.equal("whole");
  });
});
