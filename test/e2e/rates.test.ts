import { expect } from "chai";
import { pino } from "pino";

import { readConfig as readGatewayConfig } from "../../gateway/config.js";
import { startGateway } from "../../gateway/server.js";
import { RestCaller, type RestReply } from "../support/callers/rest-caller.js";
import { expectDocumented } from "../support/openapi/expect-documented.js";
import { ACCOUNT_ID, SECRET, serve, type ServerUnderTest } from "../support/service/grpc-server.js";

// The clock of the rates stands still, so the numbers are exact.
describe("rest: the rates of a key", () => {
  let under: ServerUnderTest;
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  let rest: RestCaller;

  beforeEach(async () => {
    under = await serve({
      limits: { callsPerSecond: 5, listsPerSecond: 1, rateBurstSeconds: 10 },
      rateClock: () => 0,
    });
    const config = readGatewayConfig({ KESC_HTTP_ADDRESS: "127.0.0.1:0", KESC_GATEWAY_TARGET: under.server.address });
    if (!config.ok) throw new Error(config.problems.join("\n"));
    gateway = await startGateway(config.config, pino({ level: "silent" }));
    rest = new RestCaller(gateway.address, { key: SECRET, check: expectDocumented });
  });
  afterEach(async () => {
    rest.close();
    await gateway.stop();
    await under.close();
  });

  const mint = (reference: number | string, amount: unknown = "10.00"): Promise<RestReply> =>
    rest.send("POST", "/transactions/mint", {
      body: { account_id: ACCOUNT_ID, amount, reference: `ref-${String(reference)}` },
    });
  const ratesOf = ({ headers }: RestReply): readonly unknown[] => [headers["ratelimit-policy"], headers["ratelimit"]];

  it("count a hundred mints that arrive together as a hundred, although few calls carry them", async () => {
    // Opens the connections: requests arrive together only on open ones. A probe has no key.
    await Promise.all(Array.from({ length: 100 }, () => rest.send("GET", "/readyz")));
    const replies = await Promise.all(Array.from({ length: 100 }, (_, index) => mint(index)));
    const done = replies.filter(({ status }) => status === 201);
    const refused = replies.filter(({ status }) => status === 429);
    expect([done.length, refused.length]).to.deep.equal([50, 50]);
    expect(under.submitted).to.have.length(50);
    for (const reply of replies) {
      expect(reply.headers["ratelimit-policy"]).to.equal('"calls";q=50;w=10');
      expect(reply.headers["ratelimit"]).to.match(/^"calls";r=\d+;t=\d+$/);
    }
    for (const { json, headers } of refused) {
      expect(json).to.include({ code: "RATE_LIMITED", rate: "calls", calls_per_second: 5 });
      expect(Number(headers["retry-after"])).to.be.within(1, 10);
    }
    expect(under.lines.filter(({ msg }) => msg === "call")).to.have.length.within(1, 99);
  });

  it("are in the headers of every answer to a valid key, and of no other", async () => {
    expect(ratesOf(await mint("a"))).to.deep.equal(['"calls";q=50;w=10', '"calls";r=49;t=1']);
    expect(ratesOf(await mint("b", "x"))).to.deep.equal(['"calls";q=50;w=10', '"calls";r=48;t=1']);
    const unreadable = await rest.send("POST", "/transactions/mint", { body: "{" });
    expect(unreadable).to.include({ status: 400 });
    expect(ratesOf(unreadable)[1]).to.equal('"calls";r=47;t=1');
    const missing = await rest.send("GET", "/accounts/acc_none");
    expect(missing).to.include({ status: 404 });
    expect(ratesOf(missing)[1]).to.equal('"calls";r=46;t=1');
    const list = await rest.send("GET", "/transactions");
    expect(ratesOf(list)).to.deep.equal(['"lists";q=10;w=10', '"lists";r=9;t=1']);

    expect(ratesOf(await rest.send("GET", "/transactions", { key: `${SECRET}x` }))).to.deep.equal([
      undefined,
      undefined,
    ]);
    expect(ratesOf(await rest.send("GET", "/readyz", { key: SECRET }))).to.deep.equal([undefined, undefined]);
  });

  it("are in the headers of a stream, and of its refusal", async () => {
    const lines = (): Promise<RestReply> =>
      rest.send("GET", "/events", { headers: { accept: "text/csv, application/json" } });
    expect((await lines()).headers["ratelimit"]).to.equal('"lists";r=9;t=1');
    const watch = (): Promise<RestReply> => rest.send("HEAD", "/events", { headers: { accept: "text/event-stream" } });
    expect((await watch()).headers["ratelimit"]).to.equal('"calls";r=49;t=1');
    for (let left = 49; left > 0; left -= 1) await rest.send("GET", `/accounts/${ACCOUNT_ID}`);
    const refused = await rest.send("GET", "/events", { headers: { accept: "text/event-stream" } });
    expect(refused).to.include({ status: 429 });
    expect(refused.json).to.include({ code: "RATE_LIMITED" });
    expect(refused.headers).to.include({ ratelimit: '"calls";r=0;t=1', "retry-after": "1" });
  });
});
