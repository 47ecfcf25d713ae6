import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("ListDestinations", (service) => {
  it("lists the destinations of one account, those that were removed, too, newest first, page after page", async () => {
    const [id, other] = [await newAccount(service()), await newAccount(service())];
    const made: string[] = [];
    for (const number of ["5432321", "5432322", "5432323"]) {
      const body = { kind: "till", number };
      await service().rest("POST", `/accounts/${other}/destinations`, { body });
      const { json } = await service().rest("POST", `/accounts/${id}/destinations`, { body });
      made.push(String(json["id"]));
    }
    const removed = await service().rest("DELETE", `/accounts/${id}/destinations/${String(made[0])}`);

    const first = await service().rest("GET", `/accounts/${id}/destinations?page_size=2`);
    const destinations = first.json["destinations"] as { readonly id: string }[];
    expect(destinations.map((each) => each.id)).to.deep.equal([made[2], made[1]]);
    const token = first.json["next_page_token"] as string;
    const second = await service().rest("GET", `/accounts/${id}/destinations?page_size=2&page_token=${token}`);
    expect(second.json).to.deep.equal({ destinations: [removed.json], next_page_token: null });
    const strange = await service().grpc.call("ListDestinations", { account_id: other, page_token: token });
    expect(strange).to.include({ code: 3, reason: "INVALID_FIELD" });
  });

  it("refuses an account that the organization does not have", async () => {
    const refused = await service().rest("GET", "/accounts/acc_01jd2r6p5vf8ksw3xhb1z7q4ye/destinations");
    expect(problemOf(refused)).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
  });
});
