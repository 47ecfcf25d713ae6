import { expect } from "chai";

import { describeEachEngine, expectBooksHold, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("RemoveDestination", (service) => {
  const create = (id: string) =>
    service().rest("POST", `/accounts/${id}/destinations`, { body: { kind: "till", number: "5432321" } });

  it("removes it for ever, and the same number is a new destination after that", async () => {
    const id = await newAccount(service());
    const made = (await create(id)).json;
    const path = `/accounts/${id}/destinations/${String(made["id"])}`;
    const removed = await service().rest("DELETE", path);
    expect(removed.status, removed.text).to.equal(200);
    const { removed_at, ...rest } = removed.json;
    expect(removed_at).to.match(/Z$/);
    expect({ ...rest, removed_at: null }).to.deep.equal(made);
    const again = await service().rest("DELETE", path);
    expect([again.headers["idempotent-replayed"], again.json]).to.deep.equal(["true", removed.json]);

    const second = await create(id);
    expect([second.status, second.json["id"] === made["id"]]).to.deep.equal([201, false]);
    const events = await service().rest("GET", `/events?account_id=${id}&types=destination.*`);
    const shown = events.json["events"] as readonly { readonly destination: object }[];
    expect(shown.map(({ destination }) => destination)).to.deep.equal([made, removed.json, second.json]);
    await expectBooksHold(service());
  });

  it("happens to all destinations of an account when it is erased", async () => {
    const id = await newAccount(service());
    const made = (await create(id)).json;
    const args = ["account", "erase", id, "--org", service().a.organizationId, "--note", "asked for", "--yes"];
    const { code, stderr } = await service().kesc(...args);
    expect(code, stderr).to.equal(0);
    const read = await service().rest("GET", `/accounts/${id}/destinations/${String(made["id"])}`);
    expect(read.json).to.include({ masked_number: "****321" });
    expect(read.json["removed_at"]).to.match(/Z$/);
    expect(problemOf(await create(id))).to.include({ status: 422, code: "ACCOUNT_ERASED" });
    await expectBooksHold(service());
  });

  it("refuses a destination that the account does not have", async () => {
    const id = await newAccount(service());
    const refused = await service().rest("DELETE", `/accounts/${id}/destinations/dst_none`);
    expect(problemOf(refused)).to.include({ status: 404, code: "DESTINATION_NOT_FOUND" });
  });
});
