import { expect } from "chai";

import { WIDENS_ALONE } from "../../../src/domain/authority.js";
import { replay } from "../../../src/domain/decision.js";
import type { Command } from "../../../src/domain/operations.js";
import type { CheckRules, PayoutCheck } from "../../../src/domain/payout-check.js";
import { by } from "../../support/commands.js";
import { decide, effectOf, putOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { clearPayoutCheck, setPayoutCheck, STANDING_CHECK } from "../../support/operations/payouts.js";

const rows = { payoutChecks: [STANDING_CHECK] };

describe("setting the check of payouts", () => {
  it("is a row with its rules, and no other row", () => {
    const decision = decide({ books: [givenHead({ lastSeq: 8 })] }, setPayoutCheck(ORGANIZATION));
    const effect = effectOf(decision);
    expect(effect.entries[0]).to.include({
      kind: "payouts.check_set",
      detail: '["https://checks.example.com/payouts",60,"HOLD"]',
    });
    expect([effect.entries.length, effect.puts.length]).to.deep.equal([1, 0]);
    const resource = { resource: { ...STANDING_CHECK, recordedAt: NOW } };
    expect(decision).to.deep.include({ resource });
  });

  it("is a replay where it is so, unless a new secret is asked for", () => {
    const again = decide(rows, setPayoutCheck(ORGANIZATION));
    expect(again).to.deep.equal({ ...replay({ resource: STANDING_CHECK }) });
    const anew = decide(rows, setPayoutCheck(ORGANIZATION, { newSecret: true }));
    expect(effectOf(anew).entries[0]?.kind).to.equal("payouts.check_set");
  });

  const other = "https://other.example.com/";
  for (const [what, before, after, needsTwo] of [
    ["the first check", [], {}, true],
    ["the first check, which allows without an answer", [], { noAnswer: "ALLOW" }, true],
    ["another deadline", [STANDING_CHECK], { deadlineSeconds: 15 }, false],
    ["another url", [STANDING_CHECK], { url: other }, true],
    ["allow without an answer", [STANDING_CHECK], { noAnswer: "ALLOW" }, true],
    [
      "another deadline under allow",
      [{ ...STANDING_CHECK, noAnswer: "ALLOW" }],
      { noAnswer: "ALLOW", deadlineSeconds: 15 },
      true,
    ],
    ["hold in place of allow", [{ ...STANDING_CHECK, noAnswer: "ALLOW" }], {}, false],
  ] as const satisfies readonly (readonly [string, readonly object[], Partial<CheckRules>, boolean])[]) {
    it(`takes ${needsTwo ? "a second" : "one"} person for ${what}`, () => {
      const command = { ...setPayoutCheck(ORGANIZATION, after), ...by("opr_a") };
      const effect = effectOf(decide({ payoutChecks: before }, command));
      expect(effect.entries[0]?.kind).to.equal(needsTwo ? "book.proposed" : "payouts.check_set");
    });
  }

  it("takes a second person for another url, or to clear it, whatever the policy is, but not to set a first one", () => {
    const alone = by("opr_a", { groups: [WIDENS_ALONE] });
    const kindOf = (payoutChecks: readonly PayoutCheck[], command: Command) =>
      effectOf(decide({ payoutChecks }, { ...command, ...alone })).entries[0]?.kind;
    const moved = setPayoutCheck(ORGANIZATION, { url: other });
    expect(kindOf([STANDING_CHECK], moved)).to.equal("book.proposed");
    expect(kindOf([STANDING_CHECK], clearPayoutCheck(ORGANIZATION))).to.equal("book.proposed");
    expect(kindOf([], moved)).to.equal("payouts.check_set");
  });

  it("takes a second person for a new secret under allow: a service without it gives no answer", () => {
    const allowing = { payoutChecks: [{ ...STANDING_CHECK, noAnswer: "ALLOW" as const }] };
    const command = { ...setPayoutCheck(ORGANIZATION, { noAnswer: "ALLOW", newSecret: true }), ...by("opr_a") };
    expect(putOf(effectOf(decide(allowing, command)), "proposals")).not.to.equal(undefined);
  });
});

describe("clearing the check of payouts", () => {
  it("is a row, takes a second person, and is a replay without a check", () => {
    const effect = effectOf(decide(rows, clearPayoutCheck(ORGANIZATION)));
    expect(effect.entries[0]).to.include({ kind: "payouts.check_cleared" });
    const proposed = effectOf(decide(rows, { ...clearPayoutCheck(ORGANIZATION), ...by("opr_a") }));
    expect(proposed.entries[0]?.kind).to.equal("book.proposed");
    expect(decide({}, clearPayoutCheck(ORGANIZATION)).kind).to.equal("replay");
  });

  it("and setting it are seen by the later commands of a batch", () => {
    const book = givenBook();
    book.apply(effectOf(decide(book, setPayoutCheck(ORGANIZATION))));
    expect(book.payoutCheck(ORGANIZATION)).to.deep.include({ deadlineSeconds: 60, noAnswer: "HOLD" });
    book.apply(effectOf(decide(book, clearPayoutCheck(ORGANIZATION))));
    expect(book.payoutCheck(ORGANIZATION)).to.equal(undefined);
  });
});
