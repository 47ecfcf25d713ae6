import { expect } from "chai";

import type { DestinationNumber } from "../../src/domain/destination.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Capabilities, NameAnswer, NamedParty } from "../../src/rails/rail.js";
import {
  NAME_CALLS_MAX,
  NAME_LACKING_MILLIS,
  NAME_MILLIS_MAX,
  NAME_UNANSWERED_MILLIS,
  NAMES_WAITING_MAX,
} from "../../src/settlement/limits.js";
import type { RailAccount } from "../../src/settlement/ports/rail-accounts.js";
import { RailNames } from "../../src/settlement/rail-names.js";
import { ORGANIZATION } from "../support/names.js";
import { ManualTiming } from "./support/manual-timing.js";
import { ScriptedRail } from "./support/scripted-rail.js";

const TILL: NamedParty = { kind: "TILL", number: "5432321" as DestinationNumber };
const TOLD: NameAnswer = { kind: "told", name: "  NAIVAS\tLTD " };

describe("the names of new destinations", () => {
  let timing: ManualTiming;
  let asked: number;
  let answer: () => Promise<NameAnswer>;
  let account: RailAccount;
  let names: RailNames;
  let events: string[];

  beforeEach(() => {
    timing = new ManualTiming();
    [asked, events] = [0, []];
    answer = () => Promise.resolve(TOLD);
    const rail = new ScriptedRail();
    const usual = rail.capabilities();
    const capabilities = (): Capabilities => ({ ...usual, destinations: { TILL: usual } });
    const nameOf = (): Promise<NameAnswer> => {
      asked += 1;
      return answer();
    };
    account = {
      id: "rail_1" as RailAccountId,
      organizationId: ORGANIZATION,
      rail: Object.assign(rail, { capabilities, nameOf }),
      payouts: "auto",
      beginWithinMillis: 1,
      confirmAboveCents: 0,
      resolveAloneMaxCents: 0,
      revision: 1,
      changedAt: timing.now(),
      refused: undefined,
      isUntried: false,
    };
    const railAccounts = { accountsOf: () => [account] };
    names = new RailNames({ railAccounts, timing, onEvent: ({ kind }) => events.push(kind) });
  });

  const ask = (millisMax = 60_000): Promise<string | undefined> => names.nameOf(ORGANIZATION, TILL, millisMax);

  it("are one line of what the rail told", async () => {
    expect(names.tells(ORGANIZATION, "TILL")).to.equal(true);
    expect(await ask()).to.equal("NAIVAS LTD");
  });

  it("are not asked for a kind that the account does not pay, nor with an app that was refused", async () => {
    expect(names.tells(ORGANIZATION, "PHONE")).to.equal(false);
    account = { ...account, refused: "app" };
    expect(names.tells(ORGANIZATION, "TILL")).to.equal(false);
    expect(await ask()).to.equal(undefined);
    expect(asked).to.equal(0);
  });

  for (const [kind, restMillis] of [
    ["lacking", NAME_LACKING_MILLIS],
    ["unanswered", NAME_UNANSWERED_MILLIS],
  ] as const) {
    it(`are not asked for a while after an answer that is ${kind}, unless somebody sets the account`, async () => {
      answer = () => Promise.resolve({ kind, code: "x" });
      expect(await ask()).to.equal(undefined);
      timing.jump(restMillis - 1);
      expect(await ask()).to.equal(undefined);
      expect(asked).to.equal(1);
      timing.jump(1);
      await ask();
      expect(asked).to.equal(2);
      account = { ...account, revision: 2 };
      await ask();
      expect(asked).to.equal(3);
    });
  }

  it("are asked on after a number that has none", async () => {
    answer = () => Promise.resolve({ kind: "none", code: "1" });
    expect([await ask(), await ask()]).to.deep.equal([undefined, undefined]);
    expect(asked).to.equal(2);
  });

  it("are given up after 5 seconds, or the time that the caller has, whatever the rail makes of it", async () => {
    answer = () => new Promise(() => undefined);
    let done = 0;
    for (const millis of [60_000, 1_000]) void ask(millis).then(() => (done += 1));
    await timing.pass(1_000);
    expect(done).to.equal(1);
    await timing.pass(NAME_MILLIS_MAX - 1_001);
    expect(done).to.equal(1);
    await timing.pass(1);
    expect(done).to.equal(2);
  });

  it("are asked for few at a time, and for a thousand destinations at once no more than wait", async () => {
    const answers: (() => void)[] = [];
    answer = () => new Promise((resolve) => answers.push(resolve.bind(undefined, TOLD)));
    const all = Array.from({ length: 1_000 }, () => ask());
    await timing.pass(0);
    expect(answers).to.have.length(NAME_CALLS_MAX);
    for (let next = 0; next < answers.length; next += 1) {
      answers[next]?.();
      await timing.pass(0);
    }
    const told = (await Promise.all(all)).filter((name) => name !== undefined);
    expect(told).to.have.length(NAME_CALLS_MAX + NAMES_WAITING_MAX / 2);
    expect(asked).to.equal(NAME_CALLS_MAX + NAMES_WAITING_MAX / 2);
  });

  it("are not asked for by those whose time was over in the line", async () => {
    answer = () => new Promise(() => undefined);
    const all = Array.from({ length: NAME_CALLS_MAX + 10 }, () => ask());
    await timing.pass(NAME_MILLIS_MAX);
    expect(await Promise.all(all)).to.deep.equal(all.map(() => undefined));
    expect(asked).to.equal(NAME_CALLS_MAX);
  });

  it("are not known of a rail that throws", async () => {
    answer = () => Promise.reject(new Error("a bug"));
    expect(await ask()).to.equal(undefined);
    expect(events).to.deep.equal(["error"]);
  });
});
