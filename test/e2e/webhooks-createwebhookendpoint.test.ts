import { expect } from "chai";

import { describeEachEngine, fresh, problemOf } from "../support/service/each-engine.js";
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

  it("shows the secret again to the same idempotency key, whose content must be the same", async () => {
    const headers = { "idempotency-key": fresh("key") };
    const body = { url: unreachableUrl(), types: ["key.*"] };
    const first = await service().rest("POST", "/webhook-endpoints", { body, headers });
    expect(first.status, first.text).to.equal(201);
    const path = `/webhook-endpoints/${String(first.json["id"])}`;
    // Later changes do not make another request of the first one.
    await service().rest("PATCH", path, { body: { url: unreachableUrl() } });
    const again = await service().rest("POST", "/webhook-endpoints", { body, headers });
    expect([again.status, again.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
    expect(again.json).to.include({ id: first.json["id"], secret: first.json["secret"] });
    for (const other of [
      { ...body, url: unreachableUrl() },
      { ...body, types: ["key.created"] },
    ]) {
      const refused = await service().rest("POST", "/webhook-endpoints", { body: other, headers });
      expect(problemOf(refused).code).to.equal("IDEMPOTENCY_KEY_REUSED");
    }
    const ofB = await service().rest("POST", "/webhook-endpoints", { body, headers, key: service().b.key });
    expect(ofB.status).to.equal(201);
    expect(ofB.json["secret"]).not.to.equal(first.json["secret"]);
    await service().rest("DELETE", path);
    await service().rest("DELETE", `/webhook-endpoints/${String(ofB.json["id"])}`, { key: service().b.key });
  });

  it("refuses an address that is not public", async () => {
    for (const url of ["https://169.254.169.254/latest", "https://[::1]/", "https://10.0.0.1/"]) {
      const refused = await service().rest("POST", "/webhook-endpoints", { body: { url } });
      expect(problemOf(refused), url).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields: ["url"] });
    }
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
