import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, problemOf } from "../support/service/each-engine.js";

describeEachEngine("UpdateAccount", (service) => {
  it("changes the phone number and the e-mail address, and finds the account by them", async () => {
    const id = await newAccount(service(), "10.00");
    const email = `${fresh("new")}@example.com`;
    const updated = await service().rest("PATCH", `/accounts/${id}`, { body: { phone_number: "0733111222", email } });
    expect(updated.status).to.equal(200);
    expect(updated.json).to.include({ id, phone_number: "+254733111222", email, status: "active" });
    const listed = await service().grpc.call("ListAccounts", { email });
    expect(listed.response["accounts"]).to.have.lengthOf(1).and.to.have.nested.property("[0].id", id);

    const again = await service().grpc.call("UpdateAccount", { account_id: id, phone_number: "0733111222" });
    expect(again.code).to.equal(0);
    expect(again.replayed).to.equal(true);
    const removed = await service().grpc.call("UpdateAccount", { account_id: id, email: "" });
    expect(removed.response["account"]).to.include({ phone_number: "+254733111222" }).and.not.have.property("email");
  });

  it("lets the first call be repeated after the change", async () => {
    const request = { user_id: fresh("repeated"), phone_number: "0712345678" };
    const options = { metadata: { "idempotency-key": fresh("key") } };
    const created = await service().grpc.call("CreateAccount", request, options);
    const { id } = created.response["account"] as { id: string };
    await service().grpc.call("UpdateAccount", { account_id: id, phone_number: "0733111222" });
    for (const each of [options, {}]) {
      const again = await service().grpc.call("CreateAccount", request, each);
      expect(again.replayed).to.equal(true);
      expect(again.response["account"]).to.include({ id, phone_number: "+254733111222" });
    }
  });

  it("refuses a request that changes nothing, and names what is wrong with a field", async () => {
    const id = await newAccount(service());
    const empty = await service().rest("PATCH", `/accounts/${id}`, { body: {} });
    expect(problemOf(empty)).to.include({ status: 400, code: "INVALID_FIELD" });
    expect(empty.text).to.include("phone_number").and.include("is required if email is absent");
    const wrong = await service().grpc.call("UpdateAccount", { account_id: id, phone_number: "", email: "@" });
    expect(wrong).to.include({ code: 3, reason: "INVALID_FIELD" });
    expect(wrong.fields?.map(({ field }) => field)).to.have.members(["phone_number", "email"]);
  });

  it("refuses a closed account", async () => {
    const id = await newAccount(service());
    await service().grpc.call("CloseAccount", { account_id: id });
    const refused = await service().rest("PATCH", `/accounts/${id}`, { body: { email: "a@example.com" } });
    expect(problemOf(refused)).to.include({ status: 422, code: "ACCOUNT_CLOSED" });
  });
});

describeEachEngine("CreateAccount for a user whose account is closed", (service) => {
  it("opens a new one; the list by user_id shows both", async () => {
    const request = { user_id: fresh("returning"), phone_number: "0712345678" };
    const first = await service().rest("POST", "/accounts", { body: request });
    await service().rest("POST", `/accounts/${String(first.json["id"])}/close`);
    const second = await service().rest("POST", "/accounts", { body: request });
    expect(second.status).to.equal(201);
    expect(second.json["id"]).not.to.equal(first.json["id"]);
    const again = await service().rest("POST", "/accounts", { body: request });
    expect(again.status).to.equal(200);
    expect(again.json["id"]).to.equal(second.json["id"]);

    const listed = await service().rest("GET", `/accounts?user_id=${request.user_id}`);
    const ids = (listed.json["accounts"] as { id: string }[]).map(({ id }) => id);
    expect(ids).to.deep.equal([second.json["id"], first.json["id"]]);
  });
});
