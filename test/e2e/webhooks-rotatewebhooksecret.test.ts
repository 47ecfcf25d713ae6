import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("RotateWebhookSecret", (service) => {
  it("returns another secret, and until when the earlier one signs", async () => {
    await withEndpoint(service(), {}, async ({ id, secret }) => {
      const from = Date.now();
      const { status, json } = await service().rest("POST", `/webhook-endpoints/${id}/rotate-secret`, { body: {} });
      expect(status).to.equal(200);
      const endpoint = json["webhook_endpoint"] as { secret: string };
      expect(endpoint.secret)
        .to.match(/^whsec_/)
        .and.not.to.equal(secret);
      const hours = (Date.parse(String(json["previous_valid_until"])) - from) / 3_600_000;
      expect(hours).to.be.within(23.9, 24.1);
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const refused = await service().rest("POST", "/webhook-endpoints/whe_none/rotate-secret", { body: {} });
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
