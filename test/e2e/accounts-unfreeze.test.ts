import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { availableOf, describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("UnfreezeAccount", (service) => {
  async function freeze(id: string, reason: string): Promise<string> {
    const frozen = await service().rest("POST", `/accounts/${id}/freeze`, { body: { reason } });
    return (frozen.json["freeze"] as { readonly id: string }).id;
  }

  const unfreeze = (id: string, body: object): Promise<RestReply> =>
    service().rest("POST", `/accounts/${id}/unfreeze`, { body });

  it("lets money move again, and shows who lifted the freeze, when and why", async () => {
    const id = await newAccount(service(), "10.00");
    const freeze_id = await freeze(id, "customer_request");
    const active = await unfreeze(id, { freeze_id, note: "found again" });
    expect(active.status).to.equal(200);
    expect(active.json["account"]).to.deep.include({ status: "active", status_note: "found again", freezes: [] });
    expect(active.json["freeze"]).to.include({ id: freeze_id, lift_note: "found again" });
    expect(active.json["freeze"])
      .to.have.property("lifted_by")
      .that.matches(/^key_[0-9a-z]{26}$/);
    expect(active.json["freeze"])
      .to.have.property("lifted_at")
      .that.matches(/^\d{4}-.*Z$/);
    const body = { account_id: id, amount: 4, reference: fresh("thawed") };
    expect((await service().rest("POST", "/transactions/redeem", { body })).status).to.equal(201);
    expect(await availableOf(service(), id)).to.equal("6.00");
  });

  it("lifts the freeze that it names: the account stays frozen while another stands, and cannot be closed", async () => {
    const id = await newAccount(service());
    const [fraud, order] = [await freeze(id, "fraud"), await freeze(id, "court_order")];
    const still = await unfreeze(id, { freeze_id: fraud });
    const account = still.json["account"] as { readonly freezes: readonly { readonly id: string }[] };
    expect(account).to.include({ status: "frozen", status_note: null });
    expect(account.freezes.map((each) => each.id)).to.deep.equal([order]);
    const refused = await service().rest("POST", `/accounts/${id}/close`);
    expect(problemOf(refused)).to.include({ status: 422, code: "INVALID_TRANSITION" });
    expect((await unfreeze(id, { freeze_id: order })).json["account"]).to.include({ status: "active" });
  });

  it("returns a freeze that is already lifted unchanged, as a replay, even on a closed account", async () => {
    const id = await newAccount(service());
    const freeze_id = await freeze(id, "fraud");
    const lifted = await service().grpc.call("UnfreezeAccount", { account_id: id, freeze_id, note: "first" });
    expect(lifted.replayed).to.equal(false);
    const again = await service().grpc.call("UnfreezeAccount", { account_id: id, freeze_id, note: "second" });
    expect(again.replayed).to.equal(true);
    expect(again.response).to.deep.equal(lifted.response);
    await service().rest("POST", `/accounts/${id}/close`);
    const late = await service().grpc.call("UnfreezeAccount", { account_id: id, freeze_id });
    expect(late.replayed).to.equal(true);
    expect(late.response["account"]).to.include({ status: "ACCOUNT_STATUS_CLOSED" });
    expect(late.response["freeze"]).to.deep.equal(lifted.response["freeze"]);
  });

  it("refuses a freeze that the account does not have", async () => {
    const [id, other] = [await newAccount(service()), await newAccount(service())];
    const freeze_id = await freeze(other, "fraud");
    for (const unknown of [freeze_id, "frz_01jd2r6p5vf8ksw3xhb1z7q4ye", "frz_xyz"]) {
      const refused = await unfreeze(id, { freeze_id: unknown });
      expect(problemOf(refused)).to.include({ status: 404, code: "FREEZE_NOT_FOUND" });
      expect(refused.json).to.include({ freeze_id: unknown });
    }
    expect((await service().rest("GET", `/accounts/${other}`)).json).to.include({ status: "frozen" });
    expect(problemOf(await unfreeze(id, {}))).to.include({ status: 400, code: "INVALID_FIELD" });
  });
});
