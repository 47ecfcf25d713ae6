import { expect } from "chai";

import { eventLine } from "../../../src/cli/tail/line.js";
import { describeEachEngine, newAccount } from "../../support/service/each-engine.js";
import { kesc, type Variables } from "../../support/service/kesc.js";

describeEachEngine("kesc tail", (service) => {
  const variables = (): Variables => ({ ...service().variables, KESC_API_KEY: service().a.key });
  const time = ["--deadline", "2s"];

  it("prints the events from a sequence on as JSON, only those asked for, until its time is over", async () => {
    const accountId = await newAccount(service(), "3.00");
    const filter = ["--account", accountId, "--type", "transaction.completed", "--type", "account.created"];
    const { code, stdout, stderr } = await kesc(["tail", "--after", "0", "--json", ...filter, ...time], variables());
    expect(code, stderr).to.equal(0);
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { sequence: number; type: string; available_balance: string });
    expect(events.map(({ type }) => type)).to.deep.equal(["account.created", "transaction.completed"]);
    expect(events[1]?.sequence).to.be.above(events[0]?.sequence ?? Infinity);
    expect(events[1]?.available_balance).to.equal("3.00");
  });

  it("begins with new events, and says why it cannot", async () => {
    const { code, stdout } = await kesc(["tail", ...time], variables());
    expect([code, stdout]).to.deep.equal([0, ""]);
    const refused = await kesc(["tail", "--type", "transaction.complete"], variables());
    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/INVALID_FIELD[\s\S]*types must be types of events/);
  });
});

describe("the lines of kesc tail", () => {
  const event = { sequence: 7, recorded_at: "2026-11-22T09:15:02.117Z", type: "transaction.pending" };
  const about = {
    transaction: null,
    account: null,
    api_key_id: null,
    webhook_endpoint_id: null,
    deposit: null,
    rail_warning: null,
    destination: null,
    available_balance: null,
  };
  const available_balance = "1.00";
  for (const [what, given, line] of [
    [
      "a transaction and the balance",
      { transaction: { id: "txn_1", type: "mint", status: "pending", amount: "5.00" }, available_balance },
      "txn_1  MINT 5.00 PENDING  balance 1.00",
    ],
    ["an account", { account: { id: "acc_1", status: "frozen" }, available_balance }, "acc_1  FROZEN  balance 1.00"],
    ["an API key", { api_key_id: "key_1" }, "key_1"],
    ["an endpoint", { webhook_endpoint_id: "whe_1" }, "whe_1"],
    ["a deposit", { deposit: { id: "dep_1", status: "unallocated", amount: "5.00" } }, "dep_1  5.00 UNALLOCATED"],
    ["a warning", { rail_warning: { rail: "mpesa", code: "FLOAT_LOW" } }, "mpesa  FLOAT_LOW"],
    ["a destination", { destination: { id: "dst_1", kind: "till", masked_number: "****321" } }, "dst_1  TILL ****321"],
    ["nothing", {}, ""],
  ] as const) {
    it(`show ${what}`, () => {
      const rest = line === "" ? "" : `  ${line}`;
      expect(eventLine({ ...event, ...about, ...given })).to.equal(
        `7  2026-11-22T09:15:02.117Z  transaction.pending${rest}`,
      );
    });
  }
});
