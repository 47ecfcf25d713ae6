import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { availableOf, describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

interface FreezeJson {
  readonly id: string;
}

function freezeOf({ json }: RestReply): FreezeJson {
  return json["freeze"] as FreezeJson;
}

describeEachEngine("FreezeAccount", (service) => {
  const freeze = (id: string, body: object, headers: Record<string, string> = {}): Promise<RestReply> =>
    service().rest("POST", `/accounts/${id}/freeze`, { body, headers });

  it("makes the account refuse mints and redemptions, and shows who froze it, when and why", async () => {
    const id = await newAccount(service(), "10.00");
    const frozen = await freeze(id, { reason: "court_order", note: "order 12" });
    expect(frozen.status).to.equal(200);
    expect(frozen.json["account"]).to.include({ status: "frozen", status_note: null });
    const made = freezeOf(frozen);
    expect(made).to.include({ reason: "court_order", note: "order 12" });
    expect(made).to.include({ lifted_by: null, lifted_at: null, lift_note: null });
    expect(made.id).to.match(/^frz_[0-9a-z]{26}$/);
    expect(made)
      .to.have.property("created_by")
      .that.matches(/^key_[0-9a-z]{26}$/);
    expect(made)
      .to.have.property("created_at")
      .that.matches(/^\d{4}-.*Z$/);

    for (const way of ["mint", "redeem"]) {
      const refused = await service().rest("POST", `/transactions/${way}`, {
        body: { account_id: id, amount: 1, reference: fresh("frozen") },
      });
      expect(problemOf(refused)).to.include({ status: 422, code: "ACCOUNT_FROZEN" });
    }
    const grpc = await service().grpc.call("Mint", { account_id: id, amount: "1.00", reference: fresh("frozen") });
    expect(grpc).to.include({ code: 9, reason: "ACCOUNT_FROZEN" });
    expect(grpc.facts).to.include({ account_id: id });
    expect(await availableOf(service(), id)).to.equal("10.00");
  });

  it("stacks: the account and the lists show each freeze that stands, oldest first", async () => {
    const id = await newAccount(service());
    const first = freezeOf(await freeze(id, { reason: "fraud" }));
    const second = freezeOf(await freeze(id, { reason: "court_order", note: "order 12" }));
    const account = (await service().rest("GET", `/accounts/${id}`)).json;
    expect(account).to.include({ status: "frozen" });
    expect(account["freezes"]).to.deep.equal([first, second]);
    const { user_id } = account as unknown as { readonly user_id: string };
    const listed = (await service().rest("GET", `/accounts?user_id=${user_id}`)).json;
    expect(listed["accounts"]).to.deep.equal([account]);
    const frozen = (await service().rest("GET", "/accounts?statuses=frozen&page_size=1")).json;
    expect(frozen["accounts"]).to.deep.equal([account]);
    const grpc = await service().grpc.call("GetAccount", { account_id: id });
    const freezes = (grpc.response["account"] as { readonly freezes: readonly object[] }).freezes;
    expect(freezes.map((each) => (each as { readonly reason: unknown }).reason)).to.deep.equal([
      "FREEZE_REASON_FRAUD",
      "FREEZE_REASON_COURT_ORDER",
    ]);
  });

  it("returns the first freeze to a repeat with the same idempotency key, also after it was lifted", async () => {
    const id = await newAccount(service());
    const headers = { "idempotency-key": fresh("freeze") };
    const body = { reason: "fraud", note: "chargebacks" };
    const made = await freeze(id, body, headers);
    const again = await freeze(id, body, headers);
    expect(again.json).to.deep.equal(made.json);
    expect([made.headers["idempotent-replayed"], again.headers["idempotent-replayed"]]).to.deep.equal([
      undefined,
      "true",
    ]);
    const freeze_id = freezeOf(made).id;
    const lifted = await service().rest("POST", `/accounts/${id}/unfreeze`, { body: { freeze_id, note: "settled" } });
    const late = await freeze(id, body, headers);
    expect(late.headers["idempotent-replayed"]).to.equal("true");
    expect(late.json).to.deep.equal(lifted.json);
    expect(late.json["account"]).to.include({ status: "active" });

    const other = await freeze(id, { ...body, reason: "sanctions" }, headers);
    expect(problemOf(other)).to.include({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("adds a freeze for each call without an idempotency key, up to 20", async () => {
    const id = await newAccount(service());
    for (let count = 1; count <= 20; count += 1) {
      expect((await freeze(id, { reason: "other", note: "the same words" })).status).to.equal(200);
    }
    const refused = await freeze(id, { reason: "other", note: "the same words" });
    expect(problemOf(refused)).to.include({ status: 422, code: "TOO_MANY_FREEZES" });
    expect(refused.json).to.include({ account_id: id, limit: 20 });
    const account = (await service().rest("GET", `/accounts/${id}`)).json;
    expect(account["freezes"]).to.have.lengthOf(20);
  });

  it("names every bad field", async () => {
    const id = await newAccount(service());
    const bad = await freeze(id, { note: "x".repeat(257) });
    expect(problemOf(bad)).to.include({ status: 400, code: "INVALID_FIELD" });
    expect(
      (bad.json["errors"] as { field: string; code: string }[]).map((each) => [each.field, each.code]),
    ).to.deep.equal([
      ["reason", "REQUIRED"],
      ["note", "TOO_LONG"],
    ]);
    expect(problemOf(await freeze(id, { reason: "boredom" }))).to.include({ status: 400, code: "INVALID_FIELD" });
    const grpc = await service().grpc.call("FreezeAccount", { account_id: id, reason: 99 });
    expect(grpc).to.include({ code: 3, reason: "INVALID_FIELD" });
  });
});
