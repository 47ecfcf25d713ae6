import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ReplayWebhookEvents", (service) => {
  it("begins one replay at a time", async () => {
    await withEndpoint(service(), { types: ["key.created"] }, async ({ id }) => {
      await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "paused" } });
      const replay = (start_sequence: number, end_sequence?: number): ReturnType<ReturnType<typeof service>["rest"]> =>
        service().rest("POST", `/webhook-endpoints/${id}/replay`, { body: { start_sequence, end_sequence } });
      const begun = await replay(1, 3);
      expect(begun.json["replay"]).to.deep.equal({ delivered_through_sequence: 0, end_sequence: 3 });
      expect((await replay(1, 3)).headers["idempotent-replayed"]).to.equal("true");
      expect(problemOf(await replay(1, 2))).to.include({ status: 422, code: "WEBHOOK_ENDPOINT_BUSY" });
      expect((await replay(1, 2)).headers["retry-after"]).to.equal("1");
      expect(problemOf(await replay(1, 1e9))).to.include({ status: 404, code: "EVENT_NOT_FOUND" });
      expect(problemOf(await replay(2, 2))).to.deep.include({ status: 400, fields: ["end_sequence"] });
      expect(problemOf(await replay(2, 0))).to.deep.include({ status: 400, fields: ["end_sequence"] });
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const body = { start_sequence: 1 };
    const refused = await service().rest("POST", "/webhook-endpoints/whe_none/replay", { body });
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
