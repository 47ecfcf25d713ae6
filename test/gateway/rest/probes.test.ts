import { expect } from "chai";

import { GatewayFixture } from "../../support/gateway/fixture.js";

describe("the gateway's probes", () => {
  const fixture = GatewayFixture.ofSuite();

  it("show that the gateway is alive, and that it is ready while the server serves", async () => {
    expect(await probe("/livez")).to.deep.equal([200, '{"status":"ok"}']);
    expect(await probe("/readyz")).to.deep.equal([200, '{"status":"ok"}']);
    fixture.server.isServing = false;
    expect((await fixture.send("GET", "/readyz")).json).to.include({ status: 503, code: "NOT_READY" });
    expect(await probe("/livez")).to.deep.equal([200, '{"status":"ok"}']);
  });

  async function probe(path: string): Promise<[number, string]> {
    const { status, text } = await fixture.send("GET", path);
    return [status, text];
  }
});
