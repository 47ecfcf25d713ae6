import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ResendWebhookDelivery", (service) => {
  it("puts the event among the undelivered ones", async () => {
    await withEndpoint(service(), { types: ["key.created"] }, async ({ id }) => {
      await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "paused" } });
      for (let count = 0; count < 2; count++) {
        const resent = await service().rest("POST", `/webhook-endpoints/${id}/resend`, { body: { sequence: 1 } });
        expect(resent.status).to.equal(200);
      }
      const { json } = await service().rest("GET", `/webhook-endpoints/${id}/undelivered-events`);
      const [event, ...others] = json["undelivered_events"] as Record<string, unknown>[];
      expect(event).to.include({ sequence: 1, event_type: "organization.created", attempt_count: 0 });
      expect(event).to.include({ last_attempted_at: null, last_http_status: null, last_problem: null });
      expect(event?.["next_attempt_at"]).to.be.a("string");
      expect(others).to.deep.equal([]);
    });
  });

  it("refuses an event that the book does not have", async () => {
    await withEndpoint(service(), {}, async ({ id }) => {
      const refused = await service().rest("POST", `/webhook-endpoints/${id}/resend`, { body: { sequence: 1e9 } });
      expect(problemOf(refused)).to.include({ status: 404, code: "EVENT_NOT_FOUND" });
      const none = await service().rest("POST", `/webhook-endpoints/${id}/resend`, { body: {} });
      expect(problemOf(none)).to.deep.include({ status: 400, fields: ["sequence"] });
    });
  });
});
