import { expect } from "chai";
import { Admission } from "../../gateway/admission.js";
import type { FakeHandler } from "./fake-server.js";
import { GatewayFixture, type HttpAnswer } from "./gateway-fixture.js";

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

  it("tells those who found none one by one while others are answered, and all of them once it is empty", async () => {
    const admission = new Admission(80);
    const left: number[] = [];
    const entered = Array.from({ length: 40 }, () => admission.enter("a"));
    expect(entered).to.deep.equal(Array(40).fill(true));
    const refused = Array.from({ length: 10 }, async () => {
      expect(await admission.enter("a")).to.equal(false);
      left.push(answered);
    });
    let answered = 0;
    for (; answered < 40; answered += 1) {
      admission.leave("a");
      await Promise.resolve();
    }
    await Promise.all(refused);
    expect(left.slice(0, 2)).to.deep.equal([15, 31]);
    expect(left).to.have.length(10);
  });

  it("tells them at once when too many wait to be told", async () => {
    const admission = new Admission(2);
    expect(admission.enter("a")).to.equal(true);
    for (let waiting = 0; waiting < 20_000; waiting += 1) void admission.enter("a");
    expect(await admission.enter("a")).to.equal(false);
  });
});

describe("a gateway with more requests than it has room for", () => {
  const fixture = new GatewayFixture();
  before(() => fixture.start({ requestsMax: 4 }));
  after(() => fixture.stop());

  it("answers 429 and when to come back to a greedy caller, others and the probes as always", async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const hold: FakeHandler = async () => {
      await released;
      return {};
    };
    fixture.server.handle = hold;
    const get = (key: string): Promise<HttpAnswer> =>
      fixture.send("GET", "/transactions", { headers: { authorization: key } });
    const greedy = ["Bearer greedy", "bearer  greedy", "Bearer   greedy"].map(get);
    while (fixture.server.calls.length < 2) await fixture.send("GET", "/livez");
    expect((await fixture.send("GET", "/readyz")).status).to.equal(200);

    fixture.server.handle = () => ({});
    expect((await get("Bearer modest")).status).to.equal(200);
    release();
    const answers = await Promise.all(greedy);
    expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([200, 200, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json).to.include({ code: "QUEUE_FULL" });
    expect(refused?.headers["retry-after"]).to.equal("1");
  });
});
