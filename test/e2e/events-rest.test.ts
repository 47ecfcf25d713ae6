import { expect } from "chai";

import { StreamCaller } from "../support/callers/stream-caller.js";
import { describeEachEngine, fresh, newAccount, newKey, problemOf } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

const SSE = "text/event-stream";
const LINES = "application/x-ndjson";

interface EventJson {
  readonly sequence: number;
  readonly type: string;
  readonly transaction: { readonly reference: string; readonly amount: number } | null;
}

describeEachEngine("GET /events", (service) => {
  const open: StreamCaller[] = [];
  afterEach(() => {
    for (const caller of open.splice(0)) caller.close();
  });

  const get = (path: string, headers: Readonly<Record<string, string>>): StreamCaller => {
    const caller = new StreamCaller(service().httpAddress, path, { "x-api-key": service().a.key, ...headers });
    open.push(caller);
    return caller;
  };
  const latest = async (): Promise<number> =>
    Number((await service().rest("GET", "/events?page_size=1")).json["latest_sequence"]);
  const mint = async (accountId: string): Promise<string> => {
    const reference = fresh("event");
    const body = { account_id: accountId, amount: "1.00", reference };
    expect((await service().rest("POST", "/transactions/mint", { body })).status).to.equal(201);
    return reference;
  };
  const eventsIn = (text: string): EventJson[] =>
    Array.from(text.matchAll(/^data: (.*)$/gm), ([, json = ""]) => JSON.parse(json) as EventJson);

  it("lists events as JSON, with their sequences as numbers", async () => {
    const { json } = await service().rest("GET", "/events?after_sequence=0&page_size=2");
    const { events, next_sequence } = json as unknown as { events: EventJson[]; next_sequence: number };
    expect([events.map(({ sequence }) => sequence), next_sequence]).to.deep.equal([[1, 2], 2]);
  });

  it("streams new events as they are committed, and goes on after Last-Event-ID", async () => {
    const accountId = await newAccount(service());
    const start = await latest();
    const query = `/events?account_id=${accountId}`;
    const first = get(`${query}&after_sequence=${String(start)}`, { accept: SSE });
    // The head comes before there is an event.
    expect((await first.head()).statusCode).to.equal(200);
    await first.read();
    const references = [await mint(accountId), await mint(accountId)];
    await first.until(references[1] ?? "");
    const [one, two] = eventsIn(first.text);
    expect(two?.type).to.equal("transaction.completed");
    expect(first.text).to.include(`id: ${String(one?.sequence)}\nevent: transaction.completed\ndata: {"sequence":`);
    first.close();

    references.push(await mint(accountId));
    const second = await get(`${query}&after_sequence=${String(start)}`, {
      accept: SSE,
      "last-event-id": String(one?.sequence),
    }).read();
    await second.until(references[2] ?? "");
    expect(eventsIn(second.text).map(({ transaction }) => transaction?.reference)).to.deep.equal(references.slice(1));
  });

  it("streams the whole book as lines, each event once and in order", async () => {
    const accountId = await newAccount(service());
    const reference = await mint(accountId);
    const caller = await get("/v1/events", { accept: LINES }).read();
    await caller.until(`"reference":"${reference}"`);
    const lines = caller.text.slice(0, caller.text.lastIndexOf("\n")).split("\n");
    const sequences = lines
      .map((line) => (JSON.parse(line) as Partial<EventJson>).sequence)
      .filter((sequence) => sequence !== undefined);
    expect(sequences).to.deep.equal(Array.from(sequences, (_, index) => index + 1));
  });

  it("refuses with a problem in the order of checks, whatever was accepted", async () => {
    const { secret: key } = await newKey(service(), { scopes: ["accounts:read"] });
    const bad = "/events?after_sequence=x&types=transaction.complete&colour=red";
    for (const accept of [SSE, LINES, "application/json"]) {
      const ask = async (path: string, call: object = {}) =>
        problemOf(await service().rest("GET", path, { headers: { accept }, ...call }));
      expect(await ask(bad, { key: "" })).to.include({ status: 401, code: "MISSING_API_KEY" });
      expect(await ask(bad, { key: "kesc_0_wrong" })).to.include({ status: 401, code: "INVALID_API_KEY" });
      expect(await ask(bad, { key })).to.include({ status: 403, code: "SCOPE_REQUIRED" });
      const { status, fields } = await ask(bad);
      expect([status, fields]).to.deep.equal([400, ["after_sequence", "colour", "types"]]);
      expect(await ask("/events?after_sequence=9007199254740991")).to.deep.equal({
        status: 400,
        code: "INVALID_FIELD",
        fields: ["after_sequence"],
      });
    }
  });

  it("refuses more streams of an organization than the server serves", async () => {
    const { secret: key } = await newKey(service());
    const STREAMS_OF_ORGANIZATION = 100;
    for (let count = 0; count < STREAMS_OF_ORGANIZATION; count += 1) {
      const caller = get("/events", { accept: SSE, "x-api-key": count % 2 === 0 ? key : service().a.key });
      expect((await caller.head()).statusCode).to.equal(200);
    }
    const refused = await service().rest("GET", "/events", { headers: { accept: LINES } });
    expect([refused.status, refused.json["code"], refused.json["streams_max"]]).to.deep.equal([
      429,
      "TOO_MANY_STREAMS",
      STREAMS_OF_ORGANIZATION,
    ]);
  });
});

describe("streams over REST", () => {
  it("end in order when all processes stop, and hold up none", async () => {
    const service = await Service.start("sqlite", {
      KESC_SHUTDOWN_GRACE_SECONDS: "3600",
      KESC_GATEWAY_PROCESSES: "2",
    });
    try {
      const callers = await Promise.all(
        [SSE, LINES, SSE, LINES].map((accept) =>
          new StreamCaller(service.httpAddress, "/events", { accept, "x-api-key": service.a.key }).read(),
        ),
      );
      expect(await service.stop()).to.equal(0);
      for (const caller of callers) await caller.end();
    } finally {
      await service.dispose();
    }
  });
});
