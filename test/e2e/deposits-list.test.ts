import { expect } from "chai";

import { describeEachEngine, freshReceipt, newAccount, problemOf } from "../support/service/each-engine.js";
import { receiveDeposits } from "../support/service/given-deposits.js";

describeEachEngine("ListDeposits", (service) => {
  let accountId = "";
  let receipts: readonly string[] = [];
  let ids: readonly string[] = [];
  let start = "";

  before(async () => {
    accountId = await newAccount(service());
    const account = await service().rest("GET", `/accounts/${accountId}`);
    start = String(account.json["created_at"]);
    const typed = String(account.json["deposit_reference"]);
    receipts = Array.from({ length: 4 }, freshReceipt);
    const [none = "", unknown = "", credited = "", spaced = ""] = receipts;
    ids = await receiveDeposits(
      service(),
      { receipt: none },
      { receipt: unknown, typed: "12345" },
      { receipt: credited, typed },
      // Payers put signs between the digits.
      { receipt: spaced, typed: `${typed.slice(0, 4)} ${typed.slice(4)}` },
    );
  });

  const idsOf = (answer: Record<string, unknown>): unknown[] =>
    (answer["deposits"] as Record<string, unknown>[]).map(({ id }) => id);

  it("lists deposits newest first, page after page", async () => {
    const seen: unknown[] = [];
    let token = "";
    do {
      const { json } = await service().rest("GET", `/deposits?start=${start}&page_size=2&page_token=${token}`);
      expect(idsOf(json).length).to.be.at.most(2);
      seen.push(...idsOf(json));
      token = (json["next_page_token"] ?? "") as string;
    } while (token !== "");
    expect(seen).to.deep.equal(ids.toReversed());
  });

  it("filters by account, status, reason, receipt and time, together", async () => {
    const [none, unknown, credited, spaced] = ids;
    for (const [query, expected] of [
      [`account_id=${accountId}`, [spaced, credited]],
      [`account_id=${accountId}&statuses=unallocated`, []],
      ["account_id=acc_1", []],
      ["statuses=unallocated", [unknown, none]],
      ["statuses=unallocated&statuses=credited", [spaced, credited, unknown, none]],
      ["statuses=credited&statuses=reversed", [spaced, credited]],
      ["reasons=no_reference", [none]],
      ["reasons=no_reference&reasons=unknown_reference", [unknown, none]],
      ["reasons=no_reference&statuses=credited", []],
      [`receipt=${receipts[2] ?? ""}`, [credited]],
      [`receipt=${receipts[2] ?? ""}&account_id=${accountId}&statuses=credited`, [credited]],
      [`receipt=${receipts[2] ?? ""}&statuses=unallocated`, []],
      ["receipt=NOBODYHAS1", []],
      ["end=2020-01-01", []],
    ] as const) {
      const time = query.includes("end=") ? "" : `&start=${start}`;
      const { json } = await service().rest("GET", `/deposits?${query}${time}`);
      expect(idsOf(json), query).to.deep.equal(expected);
    }
    const { response } = await service().grpc.call("ListDeposits", {
      account_id: accountId,
      statuses: ["DEPOSIT_STATUS_CREDITED"],
      start,
    });
    expect(idsOf(response)).to.deep.equal([spaced, credited]);
  });

  it("shows no deposit of another organization", async () => {
    const { json } = await service().rest("GET", `/deposits?receipt=${receipts[0] ?? ""}`, { key: service().b.key });
    expect(idsOf(json)).to.deep.equal([]);
  });

  it("continues a list with the same filters only", async () => {
    const list = `/deposits?start=${start}&statuses=unallocated&page_size=1`;
    const token = String((await service().rest("GET", list)).json["next_page_token"]);
    const next = await service().rest("GET", `${list}&page_token=${token}`);
    expect(idsOf(next.json)).to.deep.equal([ids[0]]);
    const other = await service().rest("GET", `${list.replace("unallocated", "credited")}&page_token=${token}`);
    expect(problemOf(other).fields).to.deep.equal(["page_token"]);
  });

  it("finds the account of a number, as payers type it", async () => {
    const { json: account } = await service().rest("GET", `/accounts/${accountId}`);
    const number = String(account["deposit_reference"]);
    expect(number).to.match(/^[2-9][0-9]{7}$/);
    for (const typed of [number, `${number.slice(0, 4)}-${number.slice(4)}`]) {
      const { json } = await service().rest("GET", `/accounts?deposit_reference=${typed}`);
      expect((json["accounts"] as { id: string }[]).map(({ id }) => id)).to.deep.equal([accountId]);
    }
    const closed = await service().rest("GET", `/accounts?deposit_reference=${number}&statuses=closed`);
    expect(closed.json["accounts"]).to.deep.equal([]);
    const theirs = await service().rest("GET", `/accounts?deposit_reference=${number}`, { key: service().b.key });
    expect(theirs.json["accounts"]).to.deep.equal([]);
    const wrong = `${number.slice(0, 7)}${String((Number(number[7]) + 1) % 10)}`;
    const refused = await service().rest("GET", `/accounts?deposit_reference=${wrong}`);
    expect(problemOf(refused)).to.deep.include({ status: 400, fields: ["deposit_reference"] });
  });

  for (const [query, fields] of [
    ["statuses=waiting", ["statuses"]],
    ["reasons=nothing", ["reasons"]],
    ["receipt=a+b", ["receipt"]],
    ["page_size=0", ["page_size"]],
    ["start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z", ["end"]],
    ["page_token=x", ["page_token"]],
    ["status=credited", ["status"]],
  ] as const) {
    it(`names the bad field of ${query}`, async () => {
      const reply = await service().rest("GET", `/deposits?${query}`);
      expect(problemOf(reply)).to.deep.equal({ status: 400, code: "INVALID_FIELD", fields });
    });
  }
});
