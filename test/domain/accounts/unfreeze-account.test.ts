import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import { NO_REASON, parseStatusReason } from "../../../src/domain/values/text.js";
import { decide, expectRefused, expectWritten } from "../../support/decided.js";
import { balancesOf, entryOf, givenAccount, givenBook, givenFreeze, givenPerson } from "../../support/given.js";
import { EARLIER, newFreezeId, NOW, ORGANIZATION, STRANGER, TEST_ACTOR, valid } from "../../support/names.js";
import { unfreezeAccount } from "../../support/operations/accounts.js";

const NOTE = valid(parseStatusReason("found again"));

const frozen = givenAccount({ status: "FROZEN" });
const first = givenFreeze({ accountId: frozen.id });
const second = givenFreeze({ accountId: frozen.id, reason: "FRAUD" });
const command = { ...unfreezeAccount(ORGANIZATION, frozen.id, first.id), note: NOTE };
const lifted = { ...first, lifted: { by: TEST_ACTOR, at: NOW, note: NOTE } };

describe("lifting a freeze", () => {
  for (const [what, freezes, others, changed, detail] of [
    [
      "the last one makes the account ACTIVE, with the note",
      [first],
      [],
      { ...frozen, status: "ACTIVE", statusNote: NOTE, updatedAt: NOW },
      undefined,
    ],
    ["one of two leaves the account FROZEN", [first, second], [second], { ...frozen, updatedAt: NOW }, "FROZEN"],
  ] as const) {
    it(`${what}: with the author and the time, and a row of the journal that moves no money`, () => {
      expectWritten(decide({ accounts: [frozen], freezes }, command), {
        resource: { resource: { ...changed, person: givenPerson(), freezes: others, freeze: lifted } },
        entries: [
          entryOf({
            accountId: frozen.id,
            freezeId: first.id,
            kind: "account.unfrozen",
            balancesAfter: balancesOf(frozen),
            detail,
            reason: NOTE,
          }),
        ],
        puts: [
          { table: "accounts", row: changed },
          { table: "freezes", row: lifted },
        ],
      });
    });
  }

  it("returns a freeze that is already lifted as it is, even on an account that was closed since", () => {
    const closed = givenAccount({ id: frozen.id, status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS });
    const earlier = { ...first, lifted: { by: TEST_ACTOR, at: EARLIER, note: NO_REASON } };
    const decision = decide({ accounts: [closed], freezes: [earlier] }, command);
    const resource = { ...closed, person: givenPerson(), freezes: [], freeze: earlier };
    expect(decision).to.deep.equal(replay({ resource }));
  });

  for (const [author, by, isLifted] of [
    ["key_of_one", "key_of_another", true],
    ["key_of_one", "opr_amina,opr_brian", true],
    ["opr_amina", "opr_brian", true],
    ["operator", "opr_brian", true],
    ["opr_amina", "operator", true],
    ["opr_amina", "key_of_one", false],
    ["operator", "key_of_one", false],
  ] as const) {
    it(`${isLifted ? "lets" : "does not let"} ${by} lift a freeze of ${author}`, () => {
      const freeze = { ...first, createdBy: author as Actor };
      const decision = decide({ accounts: [frozen], freezes: [freeze] }, { ...command, actor: by as Actor });
      if (isLifted) expect(decision.kind).to.equal("effect");
      else expectRefused(decision, { reason: "FREEZE_OF_OPERATOR", freezeId: first.id });
    });
  }

  // The order of rows is the order of checks.
  const other = givenAccount({ status: "FROZEN" });
  const ofOther = givenFreeze({ accountId: other.id });
  const strangers = givenAccount({ organizationId: STRANGER, status: "FROZEN" });
  const ofStranger = givenFreeze({ accountId: strangers.id, organizationId: STRANGER });
  for (const [what, accountId, freezeId, refusal] of [
    [
      "another organization's account",
      strangers.id,
      ofStranger.id,
      { reason: "ACCOUNT_NOT_FOUND", accountId: strangers.id },
    ],
    ["a freeze that does not exist", frozen.id, newFreezeId(), { reason: "FREEZE_NOT_FOUND" }],
    ["a freeze of another account", frozen.id, ofOther.id, { reason: "FREEZE_NOT_FOUND" }],
    ["a freeze of another organization", frozen.id, ofStranger.id, { reason: "FREEZE_NOT_FOUND" }],
  ] as const) {
    it(`refuses ${what}`, () => {
      const book = givenBook({ accounts: [frozen, other, strangers], freezes: [first, ofOther, ofStranger] });
      const decision = decide(book, unfreezeAccount(ORGANIZATION, accountId, freezeId));
      const facts = refusal.reason === "FREEZE_NOT_FOUND" ? { ...refusal, freezeId } : refusal;
      expectRefused(decision, facts);
    });
  }
});
