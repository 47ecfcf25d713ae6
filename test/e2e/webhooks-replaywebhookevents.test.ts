import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ReplayWebhookEvents", (service) => {
  it("begins one replay at a time", async () => {
    await withEndpoint(service(), { types: ["key.created"] }, async ({ id }) => {
      await service().rest("PATCH", `/webhooks/${id}`, { body: { status: "paused" } });
      const replay = (from_sequence: number, until_sequence: number): ReturnType<ReturnType<typeof service>["rest"]> =>
        service().rest("POST", `/webhooks/${id}/replay`, { body: { from_sequence, until_sequence } });
      const begun = await replay(1, 2);
      expect(begun.json["replay"]).to.deep.equal({ settled_sequence: 0, until_sequence: 2 });
      expect((await replay(1, 2)).headers["idempotent-replayed"]).to.equal("true");
      expect(problemOf(await replay(1, 1))).to.include({ status: 422, code: "WEBHOOK_ENDPOINT_BUSY" });
      expect(problemOf(await replay(1, 1e9))).to.include({ status: 404, code: "EVENT_NOT_FOUND" });
      expect(problemOf(await replay(2, 1))).to.deep.include({ status: 400, fields: ["until_sequence"] });
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const body = { from_sequence: 1, until_sequence: 1 };
    const refused = await service().rest("POST", "/webhooks/whe_none/replay", { body });
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
