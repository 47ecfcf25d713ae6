import { expect } from "chai";

import type { RestReply } from "../support/callers/rest-caller.js";
import { describeEachEngine, fresh, problemOf } from "../support/service/each-engine.js";

describeEachEngine("CreateAccount", (service) => {
  it("creates an account with a balance of zero, and returns its location", async () => {
    const user = fresh("wanjiku");
    const created = await service().rest("POST", "/accounts", {
      body: { user_id: user, phone_number: "0712345678", email: "wanjiku@Example.CO.KE" },
    });
    expect(created.status).to.equal(201);
    expect(created.json).to.include({
      user_id: user,
      phone_number: "+254712345678",
      email: "wanjiku@example.co.ke",
      status: "active",
      currency: "KESC",
    });
    expect(created.text)
      .to.match(/"available_balance":0\.00[,}]/)
      .and.match(/"held_balance":0\.00[,}]/);
    expect(created.json["id"]).to.match(/^acc_[0-9a-z]{26}$/);
    expect(created.json["created_at"]).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

    const location = created.headers["location"] ?? "";
    expect(location).to.equal(`/accounts/${String(created.json["id"])}`);
    expect((await service().rest("GET", location)).json).to.deep.equal(created.json);
  });

  it("creates an account over gRPC that REST finds", async () => {
    const user = fresh("otieno");
    const created = await service().grpc.call("CreateAccount", { user_id: user, phone_number: "+254712345678" });
    expect(created.code).to.equal(0);
    const account = created.response["account"] as Record<string, unknown>;
    expect(account).to.include({ user_id: user, status: "ACCOUNT_STATUS_ACTIVE", available_balance: "0.00" });
    const found = await service().rest("GET", `/accounts/${String(account["id"])}`);
    expect(found.json).to.include({ user_id: user, status: "active" });
  });

  it("replays the same content, and refuses other content with the account that has the user_id", async () => {
    const body = { user_id: fresh("twice"), phone_number: "0712345678", email: "a@example.com" };
    const first = await service().rest("POST", "/accounts", { body });
    const again = await service().rest("POST", "/v1/accounts", { body: { ...body, phone_number: "+254712345678" } });
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.headers["idempotent-replayed"]).to.equal("true");
    expect(again.json).to.deep.equal(first.json);

    const other = await service().rest("POST", "/accounts", { body: { ...body, email: "b@example.com" } });
    expect(problemOf(other)).to.include({ status: 409, code: "ACCOUNT_ALREADY_EXISTS" });
    expect(other.json).to.deep.include({ account_id: first.json["id"], differing_fields: ["email"] });

    const grpc = await service().grpc.call("CreateAccount", { ...body, email: "b@example.com" });
    expect(grpc).to.include({ code: 6, reason: "ACCOUNT_ALREADY_EXISTS" });
    expect(grpc.facts).to.include({ account_id: first.json["id"], differing_fields: "email" });
  });

  it("takes any international number with its plus, and a Kenyan one in short only if it exists", async () => {
    const create = (phone_number: string): Promise<RestReply> =>
      service().rest("POST", "/accounts", { body: { user_id: fresh("phone"), phone_number } });
    for (const number of ["+1234567890", "+447700900123", "+254123456789"]) {
      expect((await create(number)).json).to.include({ phone_number: number });
    }
    expect((await create("0712345678")).json).to.include({ phone_number: "+254712345678" });
    for (const number of ["0912345678", "+0712345678", "+123456", "447700900123"]) {
      const refused = await create(number);
      expect(problemOf(refused), number).to.include({ status: 400, code: "INVALID_FIELD" });
      expect(refused.json["errors"]).to.have.nested.property("[0].field", "phone_number");
    }
  });

  it("replays a repeat of an idempotency key", async () => {
    const body = { user_id: fresh("keyed"), phone_number: "0712345678" };
    const headers = { "idempotency-key": fresh("key") };
    const first = await service().rest("POST", "/accounts", { body, headers });
    const again = await service().rest("POST", "/accounts", { body, headers });
    const other = await service().rest("POST", "/accounts", { body: { ...body, user_id: fresh("other") }, headers });
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(problemOf(other)).to.include({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
  });
});
