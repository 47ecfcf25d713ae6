import { expect } from "chai";

import { describeEachEngine, problemOf } from "../support/service/each-engine.js";
import { unreachableUrl, withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("UpdateWebhookEndpoint", (service) => {
  it("changes what the request names, and nothing else", async () => {
    await withEndpoint(service(), { description: "old" }, async ({ id, url }) => {
      const changed = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { types: ["key.created"] } });
      expect(changed.json).to.include({ url, description: "old", status: "active" });
      expect(changed.json["types"]).to.deep.equal(["key.created"]);
      const moved = await service().rest("PATCH", `/webhook-endpoints/${id}`, {
        body: { url: unreachableUrl(), types: ["*"] },
      });
      expect(moved.json["url"]).not.to.equal(url);
      expect(moved.json["types"]).to.deep.equal(["*"]);
    });
  });

  it("pauses and resumes, and marks a repeat as a replay", async () => {
    await withEndpoint(service(), {}, async ({ id }) => {
      const body = { status: "paused" };
      expect((await service().rest("PATCH", `/webhook-endpoints/${id}`, { body })).json["status"]).to.equal("paused");
      const again = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body });
      expect(again.headers["idempotent-replayed"]).to.equal("true");
      const resumed = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "active" } });
      expect(resumed.json["status"]).to.equal("active");
      const refused = await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: { status: "disabled" } });
      expect(problemOf(refused)).to.deep.include({ status: 400, fields: ["status"] });
      expect(JSON.stringify(refused.json["errors"])).to.include("must be one of active, paused");
      const given = { webhook_endpoint_id: id, status: "WEBHOOK_ENDPOINT_STATUS_DISABLED" };
      const { fields } = await service().grpc.call("UpdateWebhookEndpoint", given);
      const message = "must be one of WEBHOOK_ENDPOINT_STATUS_ACTIVE, WEBHOOK_ENDPOINT_STATUS_PAUSED";
      expect(fields).to.deep.equal([{ field: "status", message, code: "UNKNOWN_VALUE" }]);
      expect(problemOf(await service().rest("PATCH", `/webhook-endpoints/${id}`, { body: {} }))).to.deep.include({
        status: 400,
        fields: ["url"],
      });
    });
  });

  it("changes only the version that the caller names, which deliveries do not change", async () => {
    await withEndpoint(service(), {}, async ({ id, etag }) => {
      const change = (description: string, version: unknown) =>
        service().rest("PATCH", `/webhook-endpoints/${id}`, {
          body: { description },
          headers: { "if-match": `"${String(version)}"` },
        });
      await service().rest("POST", `/webhook-endpoints/${id}/replay`, { body: { start_sequence: 1 } });
      const first = await change("first", etag);
      expect([first.status, first.headers.etag]).to.deep.equal([200, `"${String(first.json["etag"])}"`]);
      const lost = await change("lost", etag);
      expect(problemOf(lost)).to.include({ status: 412, code: "ETAG_MISMATCH" });
      expect(lost.json["etag"]).to.equal(first.json["etag"]);
      const repeated = await change("first", etag);
      expect([repeated.status, repeated.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
    });
  });

  it("takes groups of types, removes the description with null, and refuses a list without types", async () => {
    await withEndpoint(service(), { description: "old" }, async ({ id }) => {
      const change = (body: object) => service().rest("PATCH", `/webhook-endpoints/${id}`, { body });
      const changed = await change({ types: ["transaction.*", "account.created"], description: null });
      expect(changed.json["types"]).to.deep.equal(["account.created", "transaction.*"]);
      expect(changed.json["description"]).to.equal(null);
      for (const types of [[], null, ["trans*"]]) {
        expect(problemOf(await change({ types, description: "new" }))).to.deep.include({
          status: 400,
          fields: ["types"],
        });
      }
    });
  });
});
