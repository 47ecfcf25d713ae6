import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("SendTestEvent", (service) => {
  it("tells what came of the delivery, and logs it", async () => {
    await withEndpoint(service(), {}, async ({ id }) => {
      const { status, json } = await service().rest("POST", `/webhook-endpoints/${id}/test`, { body: {} });
      expect(status).to.equal(200);
      expect(json).to.include({ sequence: 0, attempt: 1, succeeded: false, http_status: null });
      expect(json["event_id"]).to.match(/^evt_test_/);
      expect(json["problem"]).to.equal("its host has no public address");
      const listed = await service().rest("GET", `/webhook-endpoints/${id}/deliveries`);
      expect((listed.json["deliveries"] as object[]).map((each) => "problem" in each && each.problem)).to.include(
        json["problem"],
      );
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const refused = await service().rest("POST", "/webhook-endpoints/whe_none/test", { body: {} });
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
