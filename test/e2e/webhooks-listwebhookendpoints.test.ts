import { expect } from "chai";

import { describeEachEngine, fresh } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ListWebhookEndpoints", (service) => {
  it("lists the organization's own endpoints, newest first, without secrets", async () => {
    const description = fresh("listed");
    await withEndpoint(service(), { description }, async (older) => {
      await withEndpoint(service(), { description }, async (newer) => {
        const { json, text } = await service().rest("GET", "/webhooks");
        const listed = (json["endpoints"] as { id: string; description: string }[]).filter(
          (endpoint) => endpoint.description === description,
        );
        expect(listed.map(({ id }) => id)).to.have.members([newer.id, older.id]);
        expect(text).not.to.include("whsec_");
        const others = await service().rest("GET", "/webhooks", { key: service().b.key });
        expect(others.status).to.equal(200);
        expect(others.text).not.to.include(newer.id).and.not.to.include(older.id);
      });
    });
  });
});
