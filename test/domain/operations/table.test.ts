import { expect } from "chai";

import { decide } from "../../../src/domain/operations/table.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import { cancel, changeStatus, createAccount, mint, redeem, SLOW_RAIL } from "../../support/commands.js";
import { effectOf, givenAccount, givenBook, givenTransaction, NOW, ORGANIZATION } from "../../support/given.js";

const active = givenAccount();
const frozen = givenAccount({ status: "FROZEN" });
const empty = givenAccount({ availableCents: NO_CENTS, heldCents: NO_CENTS });
const pending = givenTransaction({ accountId: active.id, status: "PENDING", rail: SLOW_RAIL, completedAt: undefined });
const movement = { organizationId: ORGANIZATION, accountId: active.id, amount: "1.00", reference: "new" };

describe("a decision", () => {
  for (const [command, kind] of [
    [createAccount(ORGANIZATION, "new"), "account.created"],
    [changeStatus("freezeAccount", ORGANIZATION, active.id), "account.frozen"],
    [changeStatus("unfreezeAccount", ORGANIZATION, frozen.id), "account.unfrozen"],
    [changeStatus("closeAccount", ORGANIZATION, empty.id), "account.closed"],
    [mint(movement), "transaction.completed"],
    [redeem(movement), "transaction.completed"],
    [redeem({ ...movement, rail: SLOW_RAIL }), "transaction.pending"],
    [cancel(ORGANIZATION, pending.id), "transaction.canceled"],
  ] as const) {
    it(`on ${command.name} goes into the journal as ${kind}`, () => {
      const book = givenBook({ accounts: [active, frozen, empty], transactions: [pending] });
      expect(effectOf(decide(book, command, NOW)).entries[0]?.kind).to.equal(kind);
    });
  }
});
