import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { unreachableUrl, withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("UpdateWebhookEndpoint", (service) => {
  it("changes what the request names, and nothing else", async () => {
    await withEndpoint(service(), { description: "old" }, async ({ id, url }) => {
      const changed = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { types: ["key.created"] } });
      expect(changed.json).to.include({ url, description: "old", status: "active" });
      expect(changed.json["types"]).to.deep.equal(["key.created"]);
      const moved = await service().rest("PATCH", `/webhook-endpoints/${id}`, {
        body: { url: unreachableUrl(), types: ["*"] },
      });
      expect(moved.json["url"]).not.to.equal(url);
      expect(moved.json["types"]).to.deep.equal(["*"]);
    });
  });

  it("pauses and resumes, and marks a repeat as a replay", async () => {
    await withEndpoint(service(), {}, async ({ id }) => {
      const body = { status: "paused" };
      expect((await service().rest("PATCH", `/webhook-endpoints/${id}`, { body })).json["status"]).to.equal("paused");
      const again = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body });
      expect(again.headers["idempotent-replayed"]).to.equal("true");
      const resumed = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "active" } });
      expect(resumed.json["status"]).to.equal("active");
      const refused = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "disabled" } });
      expect(problemOf(refused)).to.deep.include({ status: 400, fields: ["status"] });
      expect(problemOf(await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: {} }))).to.deep.include({
        status: 400,
        fields: ["url"],
      });
    });
  });

  it("refuses the url of another endpoint", async () => {
    await withEndpoint(service(), {}, async (first) => {
      await withEndpoint(service(), {}, async ({ id }) => {
        const refused = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { url: first["url"] } });
        expect(problemOf(refused)).to.include({ status: 409, code: "WEBHOOK_ENDPOINT_ALREADY_EXISTS" });
      });
    });
  });
});
