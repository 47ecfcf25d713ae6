import { once } from "node:events";

import { status } from "@grpc/grpc-js";
import { expect } from "chai";

import { StreamCaller } from "../../support/callers/stream-caller.js";
import { rawConnection } from "../../support/gateway/raw-connection.js";
import { TOY_STREAMS } from "../../support/gateway/toys-contract.js";
import { ToysGateway } from "../../support/gateway/toys-gateway.js";

const CSV_HEAD =
  "name,box,price,parts,serial,weight,is_loud,picture,color,built_at,nickname,by_age,by_size,ratio,huge,position\r\n";

describe("a stream", () => {
  const gateway = ToysGateway.ofSuite(TOY_STREAMS);
  const { server } = gateway;
  beforeEach(() => server.calls.splice(0));

  const get = async (path: string, accept: string, headers: Record<string, string> = {}) => {
    const response = await gateway.fetch(path, { headers: { accept, ...headers } });
    return { response, text: await response.text() };
  };

  const sighting = (sequence: number, type = "") => ({ sequence: String(sequence), type });

  it("without an end is Server-Sent Events with ids and types, and ends in order with its server", async () => {
    server.handle = () => ({
      messages: [
        { sightings: [sighting(8, "toy.lost"), sighting(9)], nextSequence: "9" },
        { nextSequence: "9" },
        { nextSequence: "20" },
        { sightings: [sighting(21, "two\nlines")], nextSequence: "30" },
      ],
    });
    const { response, text } = await get("/sightings?after=7", "text/event-stream");
    expect(response.headers.get("x-accel-buffering")).to.equal("no");
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(text.replace(/^retry: [1-3][0-9]{3}\n\n/, "")).to.equal(
      [
        'id: 8\nevent: toy.lost\ndata: {"sequence":8,"type":"toy.lost","toy":null}',
        'id: 9\ndata: {"sequence":9,"type":"","toy":null}',
        "id: 20",
        'id: 21\nevent: two lines\ndata: {"sequence":21,"type":"two\\nlines","toy":null}',
        "id: 30",
        "",
      ].join("\n\n"),
    );
    expect(server.takeCall().message).to.deep.equal({ after: "7" });
  });

  it("without an end is lines of JSON, and lines that say how far it has come", async () => {
    server.handle = () => ({
      messages: [
        { nextSequence: "7" },
        { sightings: [sighting(8)], nextSequence: "8" },
        { nextSequence: "8" },
        { nextSequence: "20" },
      ],
    });
    const { text } = await get("/sightings?after=7", "application/x-ndjson");
    expect(text).to.equal('{"next_sequence":7}\n{"sequence":8,"type":"","toy":null}\n{"next_sequence":20}\n');
  });

  it("begins after Last-Event-ID, which is newer than the query", async () => {
    server.handle = () => ({ messages: [] });
    await get("/sightings?after=7&box=a", "text/event-stream", { "last-event-id": "9007199254740991" });
    expect(server.takeCall().message).to.deep.equal({ box: "a", after: "9007199254740991" });
    await get("/sightings?after=7", "text/event-stream", { "last-event-id": "" });
    expect(server.takeCall().message).to.deep.equal({ after: "7" });
  });

  for (const [id, code] of [
    ["-9007199254740992", "OUT_OF_RANGE"],
    ["9007199254740992", "OUT_OF_RANGE"],
    ["7, 8", "FORMAT"],
    ["evt_7", "FORMAT"],
  ] as const) {
    it(`refuses the Last-Event-ID ${id}, after the server has checked the key`, async () => {
      server.handle = () => ({ messages: [] });
      const { response, text } = await get("/sightings", "text/event-stream", { "last-event-id": id });
      const problem = JSON.parse(text) as Record<string, unknown>;
      expect([response.status, problem["code"]]).to.deep.equal([400, "INVALID_FIELD"]);
      const message = `must be a whole number${code === "FORMAT" ? "" : " from -9007199254740991 to 9007199254740991"}`;
      expect(problem["errors"]).to.deep.equal([{ field: "last-event-id", code, message }]);
      expect(server.takeCall().metadata).to.include({ "kesc-validate-only": "true" });
    });
  }

  const toys = [
    { toys: [{ name: "bear", price: "-12.50", color: "COLOR_DEEP_BLUE", parts: -3 }] },
    { toys: [] },
    { toys: [{ name: '=1+1, "x"', builtAt: "2026-01-31T12:00:00Z", serial: "-7", nickname: "-5", tags: ["a"] }] },
    { toys: [{ name: "two\r\nlines", box: "@here", price: "no number", isLoud: true, position: "42" }] },
  ];

  it("with an end is CSV, with a header, numbers as they are, and no formulas", async () => {
    server.handle = () => ({ messages: toys });
    const { response, text } = await get("/boxes/b%2Fc%22/export", "text/csv");
    expect(text).to.equal(
      CSV_HEAD +
        "bear,,-12.50,-3,0,0,false,,deep_blue,,,,,0,0,0\r\n" +
        '"\'=1+1, ""x""",,,0,-7,0,false,,unspecified,2026-01-31T12:00:00.000Z,\'-5,,,0,0,0\r\n' +
        '"two\r\nlines",\'@here,no number,0,0,0,true,,unspecified,,,,,0,0,42\r\n',
    );
    expect(response.headers.get("content-disposition")).to.equal('attachment; filename="boxes-b-c_-export.csv"');
    expect(server.takeCall().message).to.deep.equal({ box: 'b/c"' });
  });

  it("with an end is lines of JSON, and one object of JSON", async () => {
    server.handle = () => ({ messages: toys });
    const lines = await get("/boxes/b/export", "application/x-ndjson");
    const names = (items: readonly unknown[]) => items.map((item) => (item as { name: string }).name);
    const all = ["bear", '=1+1, "x"', "two\r\nlines"];
    const items = lines.text.trimEnd().split("\n");
    expect(names(items.map((line) => JSON.parse(line) as unknown))).to.deep.equal(all);
    const json = await get("/boxes/b/export", "application/json");
    expect(names((JSON.parse(json.text) as { toys: unknown[] }).toys)).to.deep.equal(all);
  });

  it("with an end is refused over HTTP/1.0, in which a body that was cut off looks whole", async () => {
    const get = "GET /boxes/b/export HTTP/1.0\r\nHost: x\r\nAccept: text/csv\r\n\r\n";
    const { socket, received } = rawConnection(gateway.address, get);
    await once(socket, "close");
    expect(received()).to.match(
      /^HTTP\/1\.1 426 Upgrade Required\r\n[^]*Upgrade: HTTP\/1\.1[^]*"code":"HTTP_VERSION_TOO_OLD"/,
    );
    expect(server.calls).to.deep.equal([]);
  });

  it("with an end that fails is cut off in each form", async () => {
    server.handle = () => ({ messages: toys, refusal: { code: status.UNAVAILABLE, text: "gone" } });
    for (const accept of ["application/json", "application/x-ndjson", "text/csv"]) {
      const caller = await new StreamCaller(gateway.address, "/boxes/b/export", { accept }).read();
      expect([accept, await caller.end()]).to.deep.equal([accept, "cut off"]);
    }
  });

  it("with an end and without items is whole in each form", async () => {
    server.handle = () => ({ messages: [] });
    expect((await get("/boxes/b/export", "application/json")).text).to.equal('{"toys":[]}');
    expect((await get("/boxes/b/export", "application/x-ndjson")).text).to.equal("");
    expect((await get("/boxes/b/export", "text/csv")).text).to.equal(CSV_HEAD);
  });
});
