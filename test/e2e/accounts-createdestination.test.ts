import { expect } from "chai";

import { describeEachEngine, fresh, newAccount, newKey, problemOf } from "../support/service/each-engine.js";

const DAY_MILLIS = 86_400_000;

describeEachEngine("CreateDestination", (service) => {
  const create = (id: string, body: object, call: { key?: string; headers?: Record<string, string> } = {}) =>
    service().rest("POST", `/accounts/${id}/destinations`, { body, ...call });

  it("makes a destination that can be used after a day, and shows its number masked", async () => {
    const id = await newAccount(service());
    const made = await create(id, { kind: "paybill", number: "247247", account_number: "0123456789", label: "rent" });
    expect(made.status, made.text).to.equal(201);
    expect(made.headers["location"]).to.match(new RegExp(`^/accounts/${id}/destinations/dst_[0-9a-z]{26}$`));
    const about = { account_id: id, kind: "paybill", label: "rent", masked_number: "247247 *******789" };
    expect(made.json).to.include({ ...about, removed_at: null });
    const { usable_at, created_at } = made.json;
    expect(Date.parse(String(usable_at)) - Date.parse(String(created_at))).to.equal(DAY_MILLIS);
    expect(made.text).not.to.include("0123456789");

    const events = await service().rest("GET", `/events?account_id=${id}&types=destination.created`);
    const [event] = events.json["events"] as readonly { readonly destination: object }[];
    expect(event?.destination).to.deep.equal(made.json);
    expect(events.text).not.to.include("0123456789");
  });

  it("makes one at a bank, and hides the account and its holder", async () => {
    const id = await newAccount(service());
    const bank = { bank_code: "01", branch_code: "175", number: "1104567890", holder_name: "Jane W Doe" };
    const made = await create(id, { kind: "bank", ...bank });
    expect(made.status, made.text).to.equal(201);
    expect(made.json).to.include({ kind: "bank", masked_number: "01175 *******890" });
    const events = await service().rest("GET", `/events?account_id=${id}&types=destination.created`);
    for (const text of [made.text, events.text]) expect(text).not.to.match(/1104567890|Doe/);
    const again = await create(id, { kind: "bank", ...bank });
    expect([again.status, again.json["id"]]).to.deep.equal([200, made.json["id"]]);
  });

  it("returns the first one to a repeat by its number or by its key", async () => {
    const id = await newAccount(service());
    const headers = { "idempotency-key": fresh("destination") };
    const body = { kind: "phone", number: "0733 111 222" };
    const made = await create(id, body, { headers });
    for (const again of [
      await create(id, body, { headers }),
      await create(id, { kind: "phone", number: "+254733111222", label: "other" }),
    ]) {
      expect([again.status, again.headers["idempotent-replayed"]]).to.deep.equal([200, "true"]);
      expect(again.json).to.deep.equal(made.json);
    }
    expect(made.json).to.include({ masked_number: "+254******222", label: null });
    const other = await create(id, { ...body, number: "0733111223" }, { headers });
    expect(problemOf(other)).to.include({ status: 422, code: "IDEMPOTENCY_KEY_REUSED" });
  });

  it("takes 20 on one account", async () => {
    const id = await newAccount(service());
    for (let index = 0; index < 20; index += 1) {
      expect((await create(id, { kind: "till", number: String(543_200 + index) })).status).to.equal(201);
    }
    const refused = await create(id, { kind: "till", number: "543220" });
    expect(problemOf(refused)).to.include({ status: 422, code: "TOO_MANY_DESTINATIONS" });
    expect(refused.json).to.include({ account_id: id, limit: 20 });
  });

  it("names every bad field", async () => {
    const id = await newAccount(service());
    for (const [body, fields] of [
      [{ label: "x".repeat(257) }, ["kind", "number", "label"]],
      [{ number: "1" }, ["kind"]],
      [{ kind: "phone", number: "12" }, ["number"]],
      [{ kind: "till", number: "1234" }, ["number"]],
      [{ kind: "till", account_number: "1" }, ["number", "account_number"]],
      [{ kind: "paybill", number: "12345678" }, ["number", "account_number"]],
      [{ kind: "paybill", number: "247247", account_number: "a b" }, ["account_number"]],
      [{ kind: "bank" }, ["number", "bank_code", "branch_code", "holder_name"]],
      [
        { kind: "bank", number: "12", bank_code: "99", branch_code: "1", holder_name: "é", account_number: "1" },
        ["number", "account_number", "bank_code", "branch_code", "holder_name"],
      ],
      [{ kind: "till", number: "5432321", holder_name: "Jane" }, ["holder_name"]],
    ] as const) {
      expect(problemOf(await create(id, body))).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields });
    }
    const grpc = await service().grpc.call("CreateDestination", { account_id: id, kind: 99, number: "5432321" });
    expect(grpc).to.include({ code: 3, reason: "INVALID_FIELD" });
  });

  it("refuses a key that may pay out: who pays must not choose where the shillings go", async () => {
    const id = await newAccount(service());
    const body = { kind: "till", number: "5432321" };
    const { secret } = await newKey(service(), { scopes: ["accounts:read", "accounts:write", "transactions:write"] });
    const refused = await create(id, body, { key: secret });
    expect(problemOf(refused)).to.include({ status: 403, code: "SCOPE_REQUIRED" });
    const grpc = await service().grpc.call(
      "CreateDestination",
      { account_id: id, kind: 2, number: "5432321" },
      {
        key: secret,
      },
    );
    // PERMISSION_DENIED.
    expect(grpc).to.include({ code: 7, reason: "SCOPE_REQUIRED" });
    const own = await newKey(service(), { scopes: ["destinations:write"] });
    expect((await create(id, body, { key: own.secret })).status).to.equal(201);
  });
});
