import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ListWebhookDeliveries", (service) => {
  it("pages through the attempts, newest first", async () => {
    await withEndpoint(service(), { types: ["key.created"] }, async ({ id }) => {
      for (let count = 0; count < 3; count++)
        await service().rest("POST", `/webhook-endpoints/${id}/test`, { body: {} });
      const path = `/webhook-endpoints/${id}/deliveries?failed=true&page_size=2`;
      const first = await service().rest("GET", path);
      expect(first.json["deliveries"]).to.have.length(2);
      expect((first.json["deliveries"] as object[])[0]).to.include({
        sequence: 0,
        event_id: null,
        event_type: "webhook.test",
        http_status: null,
      });
      const token = String(first.json["next_page_token"]);
      const second = await service().rest("GET", `${path}&page_token=${token}`);
      expect(second.json["deliveries"]).to.have.length(1);
      expect(second.json["next_page_token"]).to.equal(null);
      const other = await service().rest("GET", `/webhook-endpoints/${id}/deliveries?page_token=${token}`);
      expect(problemOf(other)).to.deep.include({ status: 400, fields: ["page_token"] });
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const refused = await service().rest("GET", "/webhook-endpoints/whe_none/deliveries");
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
