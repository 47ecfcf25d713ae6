import { expect } from "chai";

import type { RailAccountId } from "../../src/domain/payment.js";
import type { PaymentRail } from "../../src/rails/rail.js";
import { BalanceReader } from "../../src/settlement/balances.js";
import { RailFaults } from "../../src/settlement/faults.js";
import { BALANCE_MILLIS, CALL_MILLIS_MAX, NEW_ACCOUNT_MILLIS } from "../../src/settlement/limits.js";
import type { RailAccount } from "../../src/settlement/ports/rail-accounts.js";
import type { SubmitWatch } from "../../src/settlement/ports/runtime.js";
import type { SettlementEvent } from "../../src/settlement/ports/runtime.js";
import { ORGANIZATION } from "../support/names.js";
import { ManualTiming } from "./support/manual-timing.js";
import { ScriptedRail } from "./support/scripted-rail.js";

describe("the hourly look at accounts at rails", () => {
  let timing: ManualTiming;
  let leftMillis: number;
  let isLedgerGone: boolean;
  let done: string[];
  let events: SettlementEvent["kind"][];
  let reader: BalanceReader;
  let accounts: RailAccount[];
  /** The question whose answer is still to come. */
  let standing: string | undefined;

  function accountAt(name: string, rail: Partial<PaymentRail>): RailAccount {
    return {
      id: name as RailAccountId,
      organizationId: ORGANIZATION,
      rail: Object.assign(new ScriptedRail(), rail),
      payouts: "auto",
      beginWithinMillis: 1,
      confirmAboveCents: 0,
      resolveAloneMaxCents: 0,
      revision: 1,
      changedAt: timing.now(),
      refused: undefined,
      isUntried: false,
    };
  }

  beforeEach(() => {
    timing = new ManualTiming();
    standing = undefined;
    [leftMillis, isLedgerGone, done, events] = [Infinity, false, [], []];
    const asked: Partial<PaymentRail> = {
      payOutAccount: "Utility Account",
      askBalance: (question) => {
        done.push(`asked with ${question}`);
        return Promise.resolve({ kind: "unavailable", code: "BUSY" });
      },
    };
    accounts = [accountAt("no balance", {}), accountAt("both", asked)];
    const submit: SubmitWatch = ({ rail, availableCents, unknownPayouts }) => {
      done.push(`watched ${rail} ${String(availableCents)}, ${String(unknownPayouts)} unknown`);
      if (isLedgerGone) return Promise.reject(new Error("the ledger is gone"));
      return Promise.resolve({ kind: "done", resource: {} as never, replayed: true });
    };
    let questions = 0;
    reader = new BalanceReader({
      railAccounts: { all: () => accounts },
      payments: { unknownPayouts: () => Promise.resolve([{ kind: "TILL", count: 20, oldestBegunAt: undefined }]) },
      noteQuestion: (id, question) => {
        done.push(`noted ${question} of ${id}`);
        return Promise.resolve(standing ?? question);
      },
      endQuestion: () => Promise.resolve(),
      newQuestion: () => String((questions += 1)),
      lease: { leftMillis: () => leftMillis },
      faults: new RailFaults({ submitWatch: submit, timing, onEvent: ({ kind }) => events.push(kind) }),
      submit,
      timing,
      onEvent: ({ kind }) => events.push(kind),
    });
    reader.start();
  });
  afterEach(() => reader.stop());

  it("lets the ledger look at each, and asks each question with an id of its own, noted before", async () => {
    await timing.pass(CALL_MILLIS_MAX);
    await timing.pass(BALANCE_MILLIS);
    const looks = [1, 2].map((question) => [
      "watched scripted undefined, 20 unknown",
      "watched scripted undefined, 20 unknown",
      `noted ${String(question)} of both`,
      `asked with ${String(question)}`,
    ]);
    expect(done).to.deep.equal(looks.flat());
    expect(events).to.deep.equal(["no balance", "no balance"]);
  });

  it("looks at an account within a minute after it was set or changed", async () => {
    const second = accounts.pop();
    if (second === undefined) throw new Error("there are two accounts");
    await timing.pass(CALL_MILLIS_MAX);
    expect(done).to.have.length(1);
    accounts.push(second);
    await timing.pass(NEW_ACCOUNT_MILLIS);
    expect(done.slice(2)).to.deep.equal(["noted 1 of both", "asked with 1"]);
    accounts[1] = { ...second, revision: 2 };
    await timing.pass(NEW_ACCOUNT_MILLIS);
    await timing.pass(NEW_ACCOUNT_MILLIS);
    expect(done.slice(5)).to.deep.equal(["noted 2 of both", "asked with 2"]);
  });

  it("does not ask while another question waits for its answer, and looks again after a minute", async () => {
    standing = "another";
    await timing.pass(CALL_MILLIS_MAX);
    expect(done.slice(2)).to.deep.equal(["noted 1 of both"]);
    standing = undefined;
    await timing.pass(NEW_ACCOUNT_MILLIS);
    expect(done.slice(4)).to.deep.equal(["noted 2 of both", "asked with 2"]);
  });

  it("goes on with the next account after an error, and rests without the lease", async () => {
    isLedgerGone = true;
    await timing.pass(CALL_MILLIS_MAX);
    expect([done.length, events]).to.deep.equal([2, ["error", "error"]]);
    leftMillis = 0;
    await timing.pass(BALANCE_MILLIS);
    expect(done).to.have.length(2);
  });
});
