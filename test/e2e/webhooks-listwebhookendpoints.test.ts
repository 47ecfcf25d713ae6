import { expect } from "chai";

import { describeEachEngine, fresh, problemOf } from "../support/service/each-engine.js";
import { unreachableUrl, withEndpoint } from "../support/webhooks/endpoints.js";

describeEachEngine("ListWebhookEndpoints", (service) => {
  it("lists the organization's own endpoints, newest first, without secrets", async () => {
    const description = fresh("listed");
    await withEndpoint(service(), { description }, async (older) => {
      await withEndpoint(service(), { description }, async (newer) => {
        const { json, text } = await service().rest("GET", "/webhook-endpoints");
        const listed = (json["webhook_endpoints"] as { id: string; description: string }[]).filter(
          (endpoint) => endpoint.description === description,
        );
        expect(listed.map(({ id }) => id)).to.have.members([newer.id, older.id]);
        expect(text).not.to.include("whsec_");
        expect(json["next_page_token"]).to.equal(null);
        const others = await service().rest("GET", "/webhook-endpoints", { key: service().b.key });
        expect(others.status).to.equal(200);
        expect(others.text).not.to.include(newer.id).and.not.to.include(older.id);
      });
    });
  });

  it("goes through them page by page, and leaves none out when an older one is deleted meanwhile", async () => {
    const { key } = service().b;
    const send = (method: string, path: string, body?: object) =>
      service().rest(method, path, { key, ...(body === undefined ? {} : { body }) });
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) {
      ids.unshift(String((await send("POST", "/webhook-endpoints", { url: unreachableUrl() })).json["id"]));
    }
    const listed: string[] = [];
    for (let token = ""; ;) {
      const { json } = await send("GET", `/webhook-endpoints?page_size=2&page_token=${token}`);
      listed.push(...(json["webhook_endpoints"] as { id: string }[]).map(({ id }) => id));
      if (typeof json["next_page_token"] !== "string") break;
      if (token === "") await send("DELETE", `/webhook-endpoints/${ids[2] ?? ""}`);
      token = json["next_page_token"];
    }
    // Other tests of this service may have left older endpoints.
    const own = new Set(listed.filter((id) => ids.includes(id)));
    expect(own).to.deep.equal(new Set(ids.filter((id) => id !== ids[2])));
    const refused = await send("GET", "/webhook-endpoints?page_token=AAAA");
    expect(problemOf(refused)).to.deep.include({ status: 400, fields: ["page_token"] });
    for (const id of ids) await send("DELETE", `/webhook-endpoints/${id}`);
  });
});
