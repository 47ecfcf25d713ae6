import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import type { ReceivedCall } from "../../support/gateway/fake-server.js";
import { GatewayFixture } from "../../support/gateway/fixture.js";

describe("the gateway's log", () => {
  const fixture = GatewayFixture.ofSuite();
  const { server } = fixture;
  beforeEach(() => {
    fixture.logLines.splice(0);
    server.calls.splice(0);
    server.handle = () => ({});
  });

  it("has one line for each request, without ids, filters, keys and bodies", async () => {
    const headers = { "x-request-id": "log-1", "x-api-key": "kesc_secret" };
    await fixture.send("GET", "/accounts?phone_number=0712345678&email=a@b.example", { headers });
    await fixture.send("POST", "/v1/accounts/acc_secret/freeze", { headers, body: '{"note": "secret"}' });
    await fixture.send("GET", "/secret", { headers });
    expect(fixture.logLines.map(({ method, route, status, code }) => [method, route, status, code])).to.deep.equal([
      ["GET", "/accounts", 200, "OK"],
      ["POST", "/accounts/{account_id}/freeze", 200, "OK"],
      ["GET", null, 404, "NO_SUCH_ROUTE"],
    ]);
    expect(fixture.logLines[0]).to.have.property("request_id", "log-1");
    expect(fixture.logLines[0]?.["ms"]).to.be.a("number");
    expect(JSON.stringify(fixture.logLines)).not.to.match(/secret|0712|example/);
  });

  it("has a line for a request whose client disconnects before the response", async () => {
    const arrived = new Promise<ReceivedCall>((resolve) => {
      server.handle = async (call) => {
        resolve(call);
        await call.cancelled;
        return {};
      };
    });
    const client = new AbortController();
    const response = fetch(`http://${fixture.gateway.address}/transactions`, { signal: client.signal });
    const failed = response.catch((error: unknown) => error);
    const call = await arrived;
    client.abort();
    expect(await failed).to.have.property("name", "AbortError");
    await call.cancelled;
    expect(await lineOf("/transactions")).to.include({ status: 499, code: "CLIENT_GONE" });
  });

  it("has a line for a request that ends in the middle of its body, of which only the key is checked", async () => {
    const req = request(`http://${fixture.gateway.address}/transactions/mint`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-length": 100 },
    });
    const failed = once(req, "error").catch((error: unknown) => error);
    req.write('{"amount": ');
    await fixture.send("GET", "/livez");
    req.destroy(new Error("cut"));
    await failed;
    expect(await lineOf("/transactions/mint")).to.include({ status: 499, code: "CLIENT_GONE" });
    expect(server.calls.filter(({ metadata }) => !("kesc-validate-only" in metadata))).to.deep.equal([]);
  });

  /**
   * Waits for the line of that route: the gateway writes it when it sees that the client is gone.
   */
  async function lineOf(route: string): Promise<Record<string, unknown>> {
    for (;;) {
      const line = fixture.logLines.find((candidate) => candidate["route"] === route);
      if (line !== undefined) return line;
      await sleep(10);
    }
  }
});
