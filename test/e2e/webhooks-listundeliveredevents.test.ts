import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ListUndeliveredEvents", (service) => {
  it("pages through the events, latest sequence first, each with its id and type", async () => {
    await withEndpoint(service(), { types: ["key.created"] }, async ({ id }) => {
      await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "paused" } });
      for (const sequence of [1, 2]) {
        await service().rest("POST", `/webhook-endpoints/${id}/resend`, { body: { sequence } });
      }
      const events = (await service().rest("GET", "/events?page_size=2")).json["events"] as {
        id: string;
        type: string;
      }[];
      const path = `/webhook-endpoints/${id}/undelivered-events`;
      const found: unknown[] = [];
      for (let token = ""; ;) {
        const { json } = await service().rest("GET", `${path}?page_size=1&page_token=${token}`);
        const page = json["undelivered_events"] as { event_id: string; event_type: string }[];
        found.unshift(...page.map(({ event_id, event_type }) => ({ id: event_id, type: event_type })));
        if (typeof json["next_page_token"] !== "string") break;
        token = json["next_page_token"];
      }
      expect(found).to.deep.equal(events.map(({ id: event, type }) => ({ id: event, type })));
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const refused = await service().rest("GET", "/webhook-endpoints/whe_none/undelivered-events");
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
