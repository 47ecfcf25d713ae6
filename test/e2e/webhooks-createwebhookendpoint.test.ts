import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { unreachableUrl, withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("CreateWebhookEndpoint", (service) => {
  it("shows the endpoint with its secret, once", async () => {
    await withEndpoint(service(), { types: ["account.created"], description: "till" }, async (endpoint) => {
      expect(endpoint).to.include({ status: "active", description: "till", disabled_reason: null, replay: null });
      expect(endpoint["types"]).to.deep.equal(["account.created"]);
      expect(endpoint.secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
      const again = await service().rest("POST", "/webhook-endpoints", {
        body: { url: endpoint["url"], types: ["account.created"], description: "till" },
      });
      expect(again.status).to.equal(200);
      expect(again.headers["idempotent-replayed"]).to.equal("true");
      expect(again.json).to.deep.equal({ ...endpoint, secret: null });
    });
  });

  it("refuses the url with other content", async () => {
    await withEndpoint(service(), {}, async ({ id, url }) => {
      const other = await service().grpc.call("CreateWebhookEndpoint", {
        url,
        types: ["key.created"],
        description: "x",
      });
      expect(other).to.include({ code: 6, reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS" });
      expect(other.facts).to.deep.equal({ webhook_endpoint_id: id, differing_fields: "types,description" });
    });
  });

  it("refuses an eleventh endpoint", async () => {
    const { key } = service().b;
    const existing = (await service().rest("GET", "/webhook-endpoints", { key })).json["webhook_endpoints"] as object[];
    const ids: unknown[] = [];
    for (let count = existing.length; count < 10; count++) {
      const created = await service().rest("POST", "/webhook-endpoints", { key, body: { url: unreachableUrl() } });
      expect(created.status).to.equal(201);
      expect(created.headers.location).to.equal(`/webhook-endpoints/${String(created.json["id"])}`);
      ids.push(created.json["id"]);
    }
    const refused = await service().rest("POST", "/webhook-endpoints", { key, body: { url: unreachableUrl() } });
    expect(problemOf(refused)).to.include({ status: 422, code: "TOO_MANY_WEBHOOK_ENDPOINTS" });
    for (const id of ids) await service().rest("DELETE", `/webhook-endpoints/${String(id)}`, { key });
  });

  it("names every bad field", async () => {
    const body = { url: "http://example.com/", types: ["no.such"], description: "a\nb" };
    expect(problemOf(await service().rest("POST", "/webhook-endpoints", { body }))).to.deep.equal({
      status: 400,
      code: "INVALID_FIELD",
      fields: ["url", "types", "description"],
    });
  });
});
