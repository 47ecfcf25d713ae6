import { expect } from "chai";

import { describeEachEngine, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("ListFreezes", (service) => {
  it("lists the freezes of one account, those that were lifted, too, newest first, page after page", async () => {
    const [id, other] = [await newAccount(service()), await newAccount(service())];
    const made: string[] = [];
    for (const reason of ["fraud", "court_order", "other"]) {
      await service().rest("POST", `/accounts/${other}/freeze`, { body: { reason } });
      const { json } = await service().rest("POST", `/accounts/${id}/freeze`, { body: { reason } });
      made.push((json["freeze"] as { readonly id: string }).id);
    }
    const body = { freeze_id: made[0], note: "settled" };
    const { json: lifted } = await service().rest("POST", `/accounts/${id}/unfreeze`, { body });

    const first = await service().rest("GET", `/accounts/${id}/freezes?page_size=2`);
    const freezes = first.json["freezes"] as { readonly id: string }[];
    expect(freezes.map((each) => each.id)).to.deep.equal([made[2], made[1]]);
    const token = first.json["next_page_token"] as string;
    const second = await service().rest("GET", `/accounts/${id}/freezes?page_size=2&page_token=${token}`);
    expect(second.json).to.deep.equal({ freezes: [lifted["freeze"]], next_page_token: null });
    expect(second.json).to.have.nested.property("freezes[0].lift_note", "settled");

    const strange = await service().grpc.call("ListFreezes", { account_id: other, page_token: token });
    expect(strange).to.include({ code: 3, reason: "INVALID_FIELD" });
    const none = await service().grpc.call("ListFreezes", { account_id: await newAccount(service()) });
    expect(none.response).to.deep.equal({ freezes: [] });
  });

  it("refuses an account that the organization does not have", async () => {
    const refused = await service().rest("GET", "/accounts/acc_01jd2r6p5vf8ksw3xhb1z7q4ye/freezes");
    expect(problemOf(refused)).to.include({ status: 404, code: "ACCOUNT_NOT_FOUND" });
  });
});
