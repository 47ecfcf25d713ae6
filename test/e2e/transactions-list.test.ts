import { expect } from "chai";

import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";

describeEachEngine("ListTransactions", (service) => {
  let accountId = "";
  const references: string[] = [];

  before(async () => {
    accountId = await newAccount(service());
    for (const way of ["mint", "mint", "redeem", "mint", "redeem"]) {
      const reference = fresh("list");
      references.push(reference);
      await service().rest("POST", `/transactions/${way}`, { body: { account_id: accountId, amount: 1, reference } });
    }
  });

  const referencesOf = (answer: Record<string, unknown>): unknown[] =>
    (answer["transactions"] as Record<string, unknown>[]).map(({ reference }) => reference);

  it("lists an account's transactions newest first, page after page", async () => {
    const seen: unknown[] = [];
    let token = "";
    do {
      const page = await service().grpc.call("ListTransactions", {
        account_id: accountId,
        page_size: 2,
        page_token: token,
      });
      seen.push(...referencesOf(page.response));
      token = String(page.response["next_page_token"]);
    } while (token !== "");
    expect(seen).to.deep.equal(references.toReversed());
  });

  it("filters by type, status, reference and time, together", async () => {
    const [, , third, , fifth] = references;
    for (const [query, expected] of [
      ["type=redeem", [fifth, third]],
      ["type=mint&status=pending", []],
      [`status=completed&reference=${third ?? ""}`, [third]],
      ["created_before=2020-01-01T00:00:00Z", []],
      ["created_after=2020-01-01T00:00:00%2B03:00&type=redeem", [fifth, third]],
    ] as const) {
      const { json } = await service().rest("GET", `/transactions?account_id=${accountId}&${query}`);
      expect(referencesOf(json), query).to.deep.equal(expected);
    }
  });
});
