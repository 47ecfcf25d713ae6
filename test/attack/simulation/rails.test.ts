import { expect } from "chai";

import { byStage } from "../../support/stage.js";
import { simulateRails } from "./rails/simulate-rails.js";
import { Tally } from "./report/tally.js";
import { Trace } from "./report/trace.js";
import { runAll } from "./runs.js";

const RUNS = byStage({ test: 1_000, check: 2_000 });
const TEST_MILLIS_MAX = 600_000;

// Each is met in some run: runs that never meet one prove nothing about it.
const CRASHES = [
  "accountsWithDue",
  "answer",
  "commit",
  "due",
  "finish",
  "idle",
  "messages",
  "open",
  "payment",
  "postpone",
  "reschedule",
  "settle",
  "submit",
  "take",
  "the query's answer",
  "the rail's answer",
];
const FAULTS = ["lost race", "pause", "shutdown", "unavailable before answer", "unavailable before commit"];
const COMMANDS = [
  "acceptPayment: done",
  "acceptPayment: replay",
  "beginPayment: ACCOUNT_FROZEN",
  "beginPayment: INVALID_TRANSITION",
  "beginPayment: RAIL_ACCOUNT_CHANGED",
  "beginPayment: done",
  "completePayment: done",
  "completePayment: replay",
  "failPayment: done",
  "failPayment: replay",
  "flagTransaction: done",
  "postponePayment: done",
  "postponePayment: replay",
];
const RAIL = [
  "accounts read again",
  "answers without an amount",
  "apart under a flag",
  "contradicting callbacks",
  "forged: failure",
  "forged: success",
  "late successes",
  "messages: collect",
  "messages: pay_out",
  "messages: status",
  "orders taken, prompt",
  "orders taken, to a business",
  "queries that deny: failed",
  "queries that deny: succeeded",
  "orders taken, to a phone",
  "other passwords",
  "other shortcodes",
  "requests again",
  "resolved by a person: COMPLETED",
  "resolved by a person: FAILED",
  "resolved by a person: MOVED",
  "held, then releaseTransaction: OWN_PAYOUT",
  "held, then releaseTransaction: done",
  "held, then refuseTransaction: done",
  "check, ALLOW: done",
  "check, DENY: done",
  "check, HOLD: done",
  "check, NO_ANSWER: done",
  "check, again: done",
  "suspensions",
];
const PAYOUTS = [
  "proposed: done",
  "approved: done",
  "stop: done",
  "rows: CANCELED",
  "rows: COMPLETED",
  "rows: FAILED",
  "rows: refused",
];
const LISTS = [
  "held: CANCELED",
  "held: COMPLETED",
  "held: FAILED",
  "longer: PAYOUT_LIST_CHANGED",
  "longer: done",
  "shorter: PAYOUT_LIST_CHANGED",
  "shorter: done",
];
const BANK = [
  "account: RAIL_PAYMENTS_UNDER_WAY",
  "download: BANK_FILE_CLOSED",
  "download: done",
  "files again",
  "files checked, lost",
  "payments refused",
  "payments returned",
  "proposed: BANK_FILE_OUTDATED",
  "proposed: RAIL_ACCOUNT_CHANGED",
  "return: done",
  "statement: done",
];

describe("the simulation of payments over a rail", () => {
  it("books what the rail moved, once, wherever servers crash and whatever the rail says", async () => {
    const tally = new Tally();
    const failure = await runAll({ seed: 1, runs: RUNS, engine: "rails", bail: true }, tally);
    expect(failure).to.equal(undefined);
    expect(tally.names("rail crashes")).to.include.members(CRASHES);
    expect(tally.names("rail faults")).to.include.members(FAULTS);
    expect(tally.names("rail commands")).to.include.members(COMMANDS);
    expect(tally.names("rail")).to.include.members(RAIL);
    expect(tally.names("payouts")).to.include.members(PAYOUTS);
    expect(tally.names("lists")).to.include.members(LISTS);
    expect(tally.names("bank")).to.include.members(BANK);
  }).timeout(TEST_MILLIS_MAX);

  it("takes the same steps with the same seed", async () => {
    const first = await stepsOf(7);
    expect(first).to.have.length.greaterThan(20);
    expect(await stepsOf(7)).to.deep.equal(first);
    expect(await stepsOf(8)).not.to.deep.equal(first);
  });
});

async function stepsOf(seed: number): Promise<readonly string[]> {
  const trace = new Trace({ kept: true });
  await simulateRails(seed, { tally: new Tally(), trace });
  return trace.lines;
}
