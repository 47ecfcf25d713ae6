import { expect } from "chai";

import { describeEachEngine, fresh, newAccount } from "../support/service/each-engine.js";

describeEachEngine("ListTransactions", (service) => {
  let accountId = "";
  const references: string[] = [];

  before(async () => {
    accountId = await newAccount(service());
    for (const [index, way] of ["mint", "mint", "redeem", "mint", "redeem"].entries()) {
      const reference = fresh("list");
      references.push(reference);
      const metadata = { order_id: String(index % 2), "till no.": `a&b=${String(index)}` };
      const body = { account_id: accountId, amount: 1 + index / 100, reference, metadata };
      await service().rest("POST", `/transactions/${way}`, { body });
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
      token = (page.response["next_page_token"] ?? "") as string;
    } while (token !== "");
    expect(seen).to.deep.equal(references.toReversed());
  });

  it("filters by type, status, reference, time, amount and metadata, together", async () => {
    const [first, second, third, fourth, fifth] = references;
    for (const [query, expected] of [
      ["type=redeem", [fifth, third]],
      ["type=mint&statuses=pending", []],
      [`statuses=completed&reference=${third ?? ""}`, [third]],
      ["statuses=pending&statuses=failed", []],
      ["statuses=pending&statuses=completed&type=redeem", [fifth, third]],
      ["rail=direct&type=redeem", [fifth, third]],
      ["rail=mpesa", []],
      ["correction=late", []],
      ["min_amount=1.03", [fifth, fourth]],
      ["min_amount=1.01&max_amount=1.03&type=mint", [fourth, second]],
      ["max_amount=1", [first]],
      ["min_amount=1.02&max_amount=1.02", [third]],
      ["metadata[order_id]=1", [fourth, second]],
      ["metadata%5Border_id%5D=1&metadata[till+no.]=a%26b%3D3", [fourth]],
      ["metadata[order_id]=1&metadata[till+no.]=a%26b%3D2", []],
      ["metadata=order_id%3D1", [fourth, second]],
      ["metadata=order_id=1&metadata=till+no.%3Da%26b%3D3", [fourth]],
      ["metadata[order_id]=", []],
      ["metadata[Order_id]=1", []],
      ["end=2020-01-01T00:00:00Z", []],
      ["start=2020-01-01&type=redeem", [fifth, third]],
    ] as const) {
      const { json } = await service().rest("GET", `/transactions?account_id=${accountId}&${query}`);
      expect(referencesOf(json), query).to.deep.equal(expected);
    }
    const { response } = await service().grpc.call("ListTransactions", {
      account_id: accountId,
      statuses: ["TRANSACTION_STATUS_COMPLETED", "TRANSACTION_STATUS_FAILED"],
      min_amount: "1.01",
      max_amount: "1.03",
      metadata: { order_id: "1" },
    });
    expect(referencesOf(response)).to.deep.equal([fourth, second]);
  });

  it("continues a list with the same filters only", async () => {
    const list = `/transactions?account_id=${accountId}&metadata[order_id]=0&page_size=1`;
    const { json } = await service().rest("GET", list);
    const token = String(json["next_page_token"]);
    const next = await service().rest("GET", `${list}&page_token=${token}`);
    expect([...referencesOf(json), ...referencesOf(next.json)]).to.deep.equal([references[4], references[2]]);
    const other = await service().rest("GET", `${list.replace("=0", "=1")}&page_token=${token}`);
    expect(other.json["errors"]).to.have.deep.nested.property("[0].field", "page_token");
  });

  for (const [query, field, code] of [
    ["statuses=completed&statuses=done", "statuses", "UNKNOWN_VALUE"],
    ["min_amount=1.005", "min_amount", "FORMAT"],
    ["min_amount=0", "min_amount", "OUT_OF_RANGE"],
    ["max_amount=-1", "max_amount", "OUT_OF_RANGE"],
    ["min_amount=2&max_amount=1.99", "max_amount", "OUT_OF_RANGE"],
    ["start=2026-01-01T00:00:00Z&end=2026-01-01T00:00:00Z", "end", "OUT_OF_RANGE"],
    ["metadata=17", "metadata", "FORMAT"],
    ["metadata[]=17", "metadata", "REQUIRED"],
    [`metadata[order_id]=${"1".repeat(501)}`, "metadata.order_id", "TOO_LONG"],
    ["metadata==17", "metadata", "REQUIRED"],
    ["metadata[a]=1&metadata[a]=2", "metadata[a]", "REPEATED"],
    ["metadata=a=1&metadata[a]=2", "metadata[a]", "REPEATED"],
    [Array.from({ length: 21 }, (_, index) => `metadata[k${String(index)}]=1`).join("&"), "metadata", "TOO_MANY"],
    ["type=mint&type=redeem", "type", "REPEATED"],
    ["amount=1", "amount", "UNKNOWN_FIELD"],
  ] as const) {
    it(`refuses ${query.slice(0, 80)} with the code ${code} of the field`, async () => {
      const { status, json } = await service().rest("GET", `/transactions?${query}`);
      expect(status).to.equal(400);
      const errors = json["errors"] as Record<string, string>[];
      expect(errors.map((error) => [error["field"], error["code"]])).to.deep.equal([[field, code]]);
    });
  }
});
