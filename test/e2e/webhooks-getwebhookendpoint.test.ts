import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("GetWebhookEndpoint", (service) => {
  it("returns the endpoint without its secret", async () => {
    await withEndpoint(service(), {}, async (endpoint) => {
      const { json } = await service().rest("GET", `/webhook-endpoints/${endpoint.id}`);
      const volatile = { secret: null, delivered_through_sequence: 0 };
      expect(json["secret"]).to.equal(null);
      expect({ ...json, ...volatile }).to.deep.equal({ ...endpoint, ...volatile });
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    expect(problemOf(await service().rest("GET", "/webhook-endpoints/whe_none"))).to.include({
      status: 404,
      code: "WEBHOOK_ENDPOINT_NOT_FOUND",
    });
  });
});
