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
  const event = { sequence: 7, occurred_at: "2026-11-22T09:15:02.117Z", type: "transaction.pending" };
  for (const [what, given, line] of [
    [
      "a transaction and the balance",
      { transaction: { id: "txn_1", type: "mint", status: "pending", amount: "5.00" }, account: null },
      "txn_1  MINT 5.00 PENDING  balance 1.00",
    ],
    ["an account", { transaction: null, account: { id: "acc_1", status: "frozen" } }, "acc_1  FROZEN  balance 1.00"],
    ["nothing", { transaction: null, account: null }, ""],
  ] as const) {
    it(`show ${what}`, () => {
      const rest = line === "" ? "" : `  ${line}`;
      expect(eventLine({ ...event, ...given, available_balance: "1.00" })).to.equal(
        `7  2026-11-22T09:15:02.117Z  transaction.pending${rest}`,
      );
    });
  }
});
