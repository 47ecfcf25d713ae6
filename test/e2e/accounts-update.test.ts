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

  it("keeps nothing of what it replaced: a repeat of the first call is refused, one with the values of now is a replay", async () => {
    const request = { user_id: fresh("repeated"), phone_number: "0712345678" };
    const options = { metadata: { "idempotency-key": fresh("key") } };
    const created = await service().grpc.call("CreateAccount", request, options);
    const { id } = created.response["account"] as { id: string };
    await service().grpc.call("UpdateAccount", { account_id: id, phone_number: "0733111222" });
    for (const [each, reason] of [
      [options, "IDEMPOTENCY_KEY_REUSED"],
      [{}, "ACCOUNT_ALREADY_EXISTS"],
    ] as const) {
      for (const phone_number of ["0712345678", "0711111111"]) {
        expect((await service().grpc.call("CreateAccount", { ...request, phone_number }, each)).reason).to.equal(
          reason,
        );
      }
      const again = await service().grpc.call("CreateAccount", { ...request, phone_number: "0733111222" }, each);
      expect(again.replayed).to.equal(true);
      expect(again.response["account"]).to.include({ id, phone_number: "+254733111222" });
    }
    const rest = await service().rest("POST", "/accounts", { body: { ...request, phone_number: "0711111111" } });
    expect(problemOf(rest)).to.include({ status: 409, code: "ACCOUNT_ALREADY_EXISTS" });
    expect(rest.json).to.deep.include({ account_id: id, differing_fields: ["phone_number"] });
  });

  it("removes the e-mail address for null, and refuses null as a phone number", async () => {
    const body = { user_id: fresh("null"), phone_number: "0712345678", email: "a@example.com" };
    const path = `/accounts/${String((await service().rest("POST", "/accounts", { body })).json["id"])}`;
    const changed = await service().rest("PATCH", path, { body: { phone_number: "0722000000", email: null } });
    expect(changed.json).to.include({ phone_number: "+254722000000", email: null });
    const refused = await service().rest("PATCH", path, { body: { phone_number: null } });
    expect(problemOf(refused)).to.include({ status: 400, code: "INVALID_FIELD" });
    expect(refused.json["errors"]).to.have.nested.property("[0].field", "phone_number");
  });

  it("changes or closes only the version that the caller names: of two clerks, one is told", async () => {
    const id = await newAccount(service());
    const path = `/accounts/${id}`;
    const read = await service().rest("GET", path);
    const { etag } = read.json as unknown as { readonly etag: string };
    expect(read.headers["etag"]).to.equal(`"${etag}"`);
    const headers = { "if-match": `"${etag}"` };
    const answers = await Promise.all(
      ["0733111222", "0733111333"].map(async (phone_number) =>
        service().rest("PATCH", path, { headers, body: { phone_number } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 412]);
    const [done, told] = answers.toSorted((left, right) => left.status - right.status);
    const now = done?.json["etag"] as string;
    expect(told?.json).to.include({ code: "ETAG_MISMATCH", etag: now });
    expect((await service().rest("GET", path)).json).to.include({ etag: now });

    const late = await service().grpc.call("CloseAccount", { account_id: id, etag });
    expect(late).to.deep.include({ code: 10, reason: "ETAG_MISMATCH", facts: { etag: now } });
    const closed = await service().grpc.call("CloseAccount", { account_id: id, etag: now });
    expect(closed.response["account"]).to.include({ status: "ACCOUNT_STATUS_CLOSED" });
    expect(Number((closed.response["account"] as { etag: string }).etag)).to.be.greaterThan(Number(now));
    expect((await service().grpc.call("CloseAccount", { account_id: id, etag })).replayed).to.equal(true);
  });

  it("refuses a request that changes nothing, and names what is wrong with a field", async () => {
    const id = await newAccount(service());
    const empty = await service().rest("PATCH", `/accounts/${id}`, { body: {} });
    expect(problemOf(empty)).to.include({ status: 400, code: "INVALID_FIELD" });
    // The server did not get the address that the gateway refused. So it would ask for a number.
    const mistyped = await service().rest("PATCH", `/accounts/${id}`, { body: { email: 7 } });
    expect(problemOf(mistyped).fields).to.deep.equal(["email"]);
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
