import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("GetDestination", (service) => {
  it("returns a destination of its account, and of no other", async () => {
    const [id, other] = [await newAccount(service()), await newAccount(service())];
    const body = { kind: "till", number: "5432321" };
    const made = (await service().rest("POST", `/accounts/${id}/destinations`, { body })).json;
    const path = `destinations/${String(made["id"])}`;
    const read = await service().rest("GET", `/accounts/${id}/${path}`);
    expect([read.status, read.json]).to.deep.equal([200, made]);
    for (const wrong of [`/accounts/${other}/${path}`, `/accounts/${id}/destinations/dst_none`]) {
      const refused = await service().rest("GET", wrong);
      expect(problemOf(refused)).to.include({ status: 404, code: "DESTINATION_NOT_FOUND" });
    }
  });
});
