import { expect } from "chai";

import { describeEachEngine, fresh } from "../support/service/each-engine.js";

describeEachEngine("ListAccounts", (service) => {
  const made: string[] = [];
  const email = `${fresh("list")}@example.com`;

  before(async () => {
    for (let index = 0; index < 5; index += 1) {
      const body = { user_id: fresh("listed"), phone_number: "+254110000001", email };
      made.push(String((await service().rest("POST", "/accounts", { body })).json["id"]));
    }
    await service().rest("POST", `/accounts/${made[1] ?? ""}/freeze`, { body: { reason_code: "fraud" } });
  });

  const idsOf = (answer: Record<string, unknown>): unknown[] =>
    (answer["accounts"] as Record<string, unknown>[]).map(({ id }) => id);

  it("lists newest first, page after page, without a row lost or doubled", async () => {
    const seen: unknown[] = [];
    let token = "";
    let pages = 0;
    do {
      const page = await service().rest("GET", `/accounts?email=${email}&page_size=2&page_token=${token}`);
      expect(page.status).to.equal(200);
      seen.push(...idsOf(page.json));
      token = String(page.json["next_page_token"]);
      pages += 1;
    } while (token !== "");
    expect(seen).to.deep.equal(made.toReversed());
    expect(pages).to.equal(3);
  });

  it("filters by user_id, phone number in any form, e-mail and status, together", async () => {
    for (const [query, expected] of [
      [`email=${email}&status=frozen`, [made[1]]],
      [`email=${email.toUpperCase()}&status=frozen`, [made[1]]],
      [`email=${email}&phone_number=0110000001&status=active`, made.filter((_, index) => index !== 1).toReversed()],
      [`email=${email}&phone_number=0712345678`, []],
      [`user_id=${fresh("nobody")}`, []],
    ] as const) {
      const { status, json } = await service().rest("GET", `/accounts?${query}`);
      expect(status).to.equal(200);
      expect(idsOf(json), query).to.deep.equal(expected);
    }
    const grpc = await service().grpc.call("ListAccounts", { email, status: "ACCOUNT_STATUS_FROZEN" });
    expect(idsOf(grpc.response)).to.deep.equal([made[1]]);
  });
});
