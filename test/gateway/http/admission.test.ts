import { expect } from "chai";

import { Admission, Callers } from "../../../gateway/http/admission.js";
import type { RestReply } from "../../support/callers/rest-caller.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

describe("gateway: the names of callers", () => {
  const key = { "x-api-key": "kesc_a" };
  const bearer = { authorization: "bearer   kesc_a" };

  it("are the same for all keys that the server has not accepted", () => {
    const callers = new Callers();
    callers.learn(key, "NO_SUCH_ROUTE");
    callers.learn(key, undefined);
    const names = [key, { "x-api-key": "kesc_b" }, {}].map((headers) => callers.nameOf(headers));
    expect(names).to.deep.equal(["", "", ""]);
  });

  it("are a key's own once the server has accepted it, until the server refuses it", () => {
    const callers = new Callers();
    callers.learn(key, "OK");
    callers.learn({ "x-api-key": "kesc_b" }, "OK");
    expect(callers.nameOf(bearer)).to.equal(callers.nameOf(key));
    expect(callers.nameOf(key)).not.to.be.oneOf(["", "kesc_a", callers.nameOf({ "x-api-key": "kesc_b" })]);
    callers.learn(bearer, "INVALID_API_KEY");
    expect(callers.nameOf(key)).to.equal("");
  });
});

describe("the gateway's room for requests", () => {
  it("is shared: one caller alone has half of it, and the next finds room", () => {
    const admission = new Admission(8);
    const entered = Array.from("aaaaaabbbc", (caller) => admission.enter(caller) === true);
    expect(entered.map(Number).join("")).to.equal("1111001101");
  });

  it("is free again when a request has been answered", () => {
    const admission = new Admission(1);
    expect(admission.enter("a")).to.equal(true);
    admission.leave("a");
    expect(admission.enter("b")).to.equal(true);
  });

  it("lets those in who found none, as others leave", async () => {
    const admission = new Admission(80);
    const entered = Array.from({ length: 40 }, () => admission.enter("a"));
    expect(entered).to.deep.equal(Array(40).fill(true));
    const told: string[] = [];
    const waiting = Array.from({ length: 10 }, async (_, index) => {
      const isIn = await admission.enter("a");
      told.push(`${String(index)} ${isIn ? "in" : "refused"}`);
    });
    for (let left = 0; left < 10; left += 1) admission.leave("a");
    await Promise.all(waiting);
    expect(told).to.deep.equal(Array.from({ length: 10 }, (_, index) => `${String(index)} in`));
  });

  it("refuses who has waited longest when 32 have left and there is still no room", async () => {
    const admission = new Admission(64);
    for (let entries = 0; entries < 32; entries += 1) expect(admission.enter("a")).to.equal(true);
    for (let left = 0; left < 31; left += 1) admission.leave("a");
    for (let entries = 0; entries < 31; entries += 1) expect(admission.enter("a")).to.equal(true);
    const [first, second] = [admission.enter("a"), admission.enter("a")];
    admission.leave("a");
    expect(await first).to.equal(false);
    expect(await second).to.equal(true);
  });

  it("refuses at once when too many wait", async () => {
    const admission = new Admission(2);
    expect(admission.enter("a")).to.equal(true);
    for (let waiting = 0; waiting < 20_000; waiting += 1) void admission.enter("a");
    expect(await admission.enter("a")).to.equal(false);
  });
});

describe("a gateway with more requests than it has room for", () => {
  const fixture = GatewayFixture.ofSuite({ requestsMax: 4 });

  it("answers 429 and when to come back to a greedy caller, others and the probes as always", async () => {
    const get = (key: string): Promise<RestReply> =>
      fixture.send("GET", "/transactions", { headers: { authorization: key } });
    for (const key of ["Bearer greedy", "Bearer modest"]) expect((await get(key)).status).to.equal(200);
    const calls = fixture.server.calls.length;
    const held = fixture.server.hold();
    const greedy = ["Bearer greedy", "bearer  greedy", "Bearer   greedy"].map(get);
    while (fixture.server.calls.length < calls + 2) await fixture.send("GET", "/livez");
    expect((await fixture.send("GET", "/readyz")).status).to.equal(200);

    // One refusal for 32 answers.
    fixture.server.handle = () => ({});
    for (let answers = 0; answers < 32; answers += 1) expect((await get("Bearer modest")).status).to.equal(200);
    held.release();
    const answers = await Promise.all(greedy);
    expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json).to.include({ code: "QUEUE_FULL" });
    expect(refused?.headers["retry-after"]).to.equal("1");
  });

  it("leaves room for known keys when others come with random ones", async () => {
    const get = (key: string): Promise<RestReply> =>
      fixture.send("GET", "/transactions", { headers: { "x-api-key": key } });
    expect((await get("known")).status).to.equal(200);
    const calls = fixture.server.calls.length;
    const held = fixture.server.hold();
    const random = Array.from({ length: 20 }, (_, index) => get(`random-${String(index)}`));
    while (fixture.server.calls.length < calls + 2) await fixture.send("GET", "/livez");
    fixture.server.handle = () => ({});
    expect((await get("known")).status).to.equal(200);
    expect(fixture.server.calls).to.have.length(calls + 3);
    held.release();
    await Promise.all(random);
  });

  it("keeps no room for who has hung up while they waited", async () => {
    const calls = fixture.server.calls.length;
    const { release } = fixture.server.hold();
    const taken = [1, 2].map(() => fixture.send("GET", "/transactions", { headers: { authorization: "Bearer a" } }));
    while (fixture.server.calls.length < calls + 2) await fixture.send("GET", "/livez");
    for (let gone = 0; gone < 5; gone += 1) {
      await fetch(`http://${fixture.gateway.address}/transactions`, {
        headers: { authorization: "Bearer a" },
        signal: AbortSignal.timeout(20),
      }).catch(() => undefined);
    }
    release();
    expect((await Promise.all(taken)).map(({ status }) => status)).to.deep.equal([200, 200]);
    for (let others = 0; others < 3; others += 1) {
      const { status } = await fixture.send("GET", "/transactions", { headers: { authorization: "Bearer a" } });
      expect(status).to.equal(200);
    }
  });
});
