import { expect } from "chai";

import { describeEachEngine, fresh, problemOf } from "../support/service/each-engine.js";
import { unreachableUrl, withEndpoint } from "../support/webhooks/endpoints.js";

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

  it("returns the same secret to the same idempotency key, and refuses the key for another endpoint", async () => {
    await withEndpoint(service(), {}, async ({ id }) => {
      await withEndpoint(service(), {}, async (other) => {
        const headers = { "idempotency-key": fresh("key") };
        const rotate = (of: string) =>
          service().rest("POST", `/webhook-endpoints/${of}/rotate-secret`, { body: {}, headers });
        const first = await rotate(id);
        const again = await rotate(id);
        expect([first, again].map((each) => each.headers["idempotent-replayed"])).to.deep.equal([undefined, "true"]);
        const secretOf = ({ json }: typeof first): unknown => (json["webhook_endpoint"] as { secret: unknown }).secret;
        expect(secretOf(again)).to.equal(secretOf(first));
        expect(again.json["previous_valid_until"]).to.equal(first.json["previous_valid_until"]);
        expect(problemOf(await rotate(other.id)).code).to.equal("IDEMPOTENCY_KEY_REUSED");
        const body = { url: unreachableUrl() };
        const create = await service().rest("POST", "/webhook-endpoints", { body, headers });
        expect(problemOf(create).code).to.equal("IDEMPOTENCY_KEY_REUSED");
      });
    });
  });

  it("refuses an endpoint that does not exist", async () => {
    const refused = await service().rest("POST", "/webhook-endpoints/whe_none/rotate-secret", { body: {} });
    expect(problemOf(refused)).to.include({ status: 404, code: "WEBHOOK_ENDPOINT_NOT_FOUND" });
  });
});
