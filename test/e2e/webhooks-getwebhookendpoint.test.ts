import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("GetWebhookEndpoint", (service) => {
  it("returns the endpoint without its secret", async () => {
    await withEndpoint(service(), {}, async (endpoint) => {
      const { json } = await service().rest("GET", `/webhooks/${endpoint.id}`);
      expect({ ...json, settled_sequence: 0 }).to.deep.equal({ ...endpoint, secret: "", settled_sequence: 0 });
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    expect(problemOf(await service().rest("GET", "/webhooks/whe_none"))).to.include({
      status: 404,
      code: "WEBHOOK_ENDPOINT_NOT_FOUND",
    });
  });
});
