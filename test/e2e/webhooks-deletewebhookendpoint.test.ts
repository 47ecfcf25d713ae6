import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { unreachableUrl } from "../support/webhooks/endpoints.js";

describeEachEngine("DeleteWebhookEndpoint", (service) => {
  it("deletes the endpoint, whose url can be used again", async () => {
    const body = { url: unreachableUrl() };
    const created = await service().rest("POST", "/webhook-endpoints", { body });
    const path = `/webhook-endpoints/${String(created.json["id"])}`;
    expect((await service().rest("DELETE", path)).status).to.equal(200);
    expect(problemOf(await service().rest("GET", path))).to.include({
      status: 404,
      code: "WEBHOOK_ENDPOINT_NOT_FOUND",
    });
    const again = await service().rest("POST", "/webhook-endpoints", { body });
    expect(again.status).to.equal(201);
    expect(again.json["id"]).not.to.equal(created.json["id"]);
    await service().rest("DELETE", `/webhook-endpoints/${String(again.json["id"])}`);
  });

  it("marks a repeat as a replay, and refuses an endpoint that never was, or of another organization", async () => {
    const created = await service().rest("POST", "/webhook-endpoints", { body: { url: unreachableUrl() } });
    const path = `/webhook-endpoints/${String(created.json["id"])}`;
    expect((await service().rest("DELETE", path)).headers["idempotent-replayed"]).to.equal(undefined);
    const again = await service().rest("DELETE", path);
    expect([again.status, again.text, again.headers["idempotent-replayed"]]).to.deep.equal([200, "{}", "true"]);
    for (const [unknown, key] of [
      ["/webhook-endpoints/whe_none", service().a.key],
      [path, service().b.key],
    ] as const) {
      expect(problemOf(await service().rest("DELETE", unknown, { key }))).to.include({
        status: 404,
        code: "WEBHOOK_ENDPOINT_NOT_FOUND",
      });
    }
  });

  it("is an event of the organization, as the creation is, and neither shows the url", async () => {
    const created = await service().rest("POST", "/webhook-endpoints", {
      body: { url: `${unreachableUrl()}?token=hidden` },
    });
    await service().rest("DELETE", `/webhook-endpoints/${String(created.json["id"])}`);
    const events = await service().rest("GET", "/events?types=webhook_endpoint.created&types=webhook_endpoint.deleted");
    expect(events.text).to.include("webhook_endpoint.deleted").and.not.to.include("hidden");
  });
});
