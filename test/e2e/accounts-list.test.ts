import { expect } from "chai";

import { describeEachEngine, fresh, problemOf } from "../support/service/each-engine.js";

describeEachEngine("ListAccounts", (service) => {
  const made: string[] = [];
  const email = `${fresh("list")}@example.com`;

  before(async () => {
    for (let index = 0; index < 5; index += 1) {
      const body = { user_id: fresh("listed"), phone_number: "+254110000001", email };
      made.push(String((await service().rest("POST", "/accounts", { body })).json["id"]));
    }
    await service().rest("POST", `/accounts/${made[1] ?? ""}/freeze`, { body: { reason: "fraud" } });
    await service().rest("POST", `/accounts/${made[2] ?? ""}/close`);
  });

  const idsOf = (answer: Record<string, unknown>): unknown[] =>
    (answer["accounts"] as Record<string, unknown>[]).map(({ id }) => id);

  it("lists newest first, page after page, without a row lost or doubled", async () => {
    const seen: unknown[] = [];
    let token: unknown = "";
    let pages = 0;
    do {
      const page = await service().rest("GET", `/accounts?email=${email}&page_size=2&page_token=${String(token)}`);
      expect(page.status).to.equal(200);
      seen.push(...idsOf(page.json));
      token = page.json["next_page_token"];
      pages += 1;
    } while (token !== null);
    expect(seen).to.deep.equal(made.toReversed());
    expect(pages).to.equal(3);
  });

  it("filters by user_id, phone number in any form, e-mail and status, together", async () => {
    for (const [query, expected] of [
      [`email=${email}&statuses=frozen`, [made[1]]],
      [`email=${email.toUpperCase()}&statuses=frozen`, [made[1]]],
      [`email=${email}&phone_number=0110000001&statuses=active`, [made[4], made[3], made[0]]],
      [`email=${email}&statuses=frozen&statuses=closed`, [made[2], made[1]]],
      [`email=${email}&statuses=active&statuses=frozen&statuses=active`, [made[4], made[3], made[1], made[0]]],
      [`email=${email}&statuses=active&statuses=frozen&statuses=closed`, made.toReversed()],
      [`email=${email}&start=2020-01-01&statuses=frozen`, [made[1]]],
      [`email=${email}&end=2020-01-01T00:00:00Z`, []],
      [`email=${email}&phone_number=0712345678`, []],
      [`user_id=${fresh("nobody")}`, []],
      [`email=${email}&tier=default&statuses=frozen`, [made[1]]],
      [`email=${email}&tier=other`, []],
    ] as const) {
      const { status, json } = await service().rest("GET", `/accounts?${query}`);
      expect(status).to.equal(200);
      expect(idsOf(json), query).to.deep.equal(expected);
    }
    const statuses = ["ACCOUNT_STATUS_FROZEN", "ACCOUNT_STATUS_CLOSED"];
    const grpc = await service().grpc.call("ListAccounts", { email, statuses });
    expect(idsOf(grpc.response)).to.deep.equal([made[2], made[1]]);
  });

  it("ignores the case of an e-mail address, in its name and in its domain", async () => {
    const [name = "", domain = ""] = email.split("@");
    for (const written of [`${name.toUpperCase()}@${domain}`, `${name}@${domain.toUpperCase()}`, email.toUpperCase()]) {
      const { json } = await service().rest("GET", `/accounts?email=${written}`);
      expect(idsOf(json), written).to.deep.equal(made.toReversed());
      const { response } = await service().grpc.call("ListAccounts", { email: written });
      expect(idsOf(response), written).to.deep.equal(made.toReversed());
    }
  });

  it("reads the accounts of some ids, each once and newest first, and no account of another organization", async () => {
    const { json: theirs } = await service().rest("POST", "/accounts", {
      body: { user_id: fresh("theirs"), phone_number: "+254110000001" },
      key: service().b.key,
    });
    const account_ids = [made[1], made[3], "acc_unknown", String(theirs["id"]), made[1]].map(String);
    const query = account_ids.map((id) => `account_ids=${id}`).join("&");
    const { json } = await service().rest("GET", `/accounts?${query}`);
    expect(idsOf(json)).to.deep.equal([made[3], made[1]]);
    const grpc = await service().grpc.call("ListAccounts", { account_ids, statuses: ["ACCOUNT_STATUS_FROZEN"] });
    expect(idsOf(grpc.response)).to.deep.equal([made[1]]);
    const first = await service().grpc.call("ListAccounts", { account_ids, page_size: 1 });
    const next = { account_ids, page_size: 1, page_token: first.response["next_page_token"] };
    expect(idsOf((await service().grpc.call("ListAccounts", next)).response)).to.deep.equal([made[1]]);
  });

  it("takes 100 ids, and refuses 101", async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `acc_${String(index)}`);
    const taken = await service().grpc.call("ListAccounts", { account_ids: ids });
    expect(taken.response).to.deep.equal({ accounts: [] });
    const refused = await service().rest("GET", `/accounts?account_ids=${[...ids, "acc_x"].join("&account_ids=")}`);
    expect(problemOf(refused)).to.deep.include({ status: 400, fields: ["account_ids"] });
  });

  for (const [query, field, code] of [
    ["account_ids=", "account_ids", "REQUIRED"],
    ["statuses=active&statuses=open", "statuses", "UNKNOWN_VALUE"],
    ["statuses=unspecified", "statuses", "UNKNOWN_VALUE"],
    ["start=today", "start", "FORMAT"],
    ["start=2026-01-01T00:00:00Z&end=2026-01-01T03:00:00%2B03:00", "end", "OUT_OF_RANGE"],
    ["start=2026-01-02&end=2026-01-01", "end", "OUT_OF_RANGE"],
    ["page_size=0", "page_size", "OUT_OF_RANGE"],
    ["created_at=2026-01-01T00:00:00Z", "created_at", "UNKNOWN_FIELD"],
    ["statuses[]=active", "statuses[]", "UNKNOWN_FIELD"],
  ] as const) {
    it(`refuses ${query} with the code ${code} of the field`, async () => {
      const { status, json } = await service().rest("GET", `/accounts?${query}`);
      expect(status).to.equal(400);
      const errors = json["errors"] as Record<string, string>[];
      expect(errors.map((error) => [error["field"], error["code"]])).to.deep.equal([[field, code]]);
    });
  }
});
