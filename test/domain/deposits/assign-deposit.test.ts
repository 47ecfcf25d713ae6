import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import type { Deposit } from "../../../src/domain/deposit.js";
import type { LimitsInForce } from "../../../src/domain/limits/usage.js";
import type { RailAccountId } from "../../../src/domain/payment.js";
import { MAX_CENTS, NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { decide, effectOf, expectRefused, putOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenDeposit, givenHead, railAccount } from "../../support/given.js";
import {
  EARLIER,
  newAccountId,
  newDepositId,
  newTransactionId,
  NOW,
  ORGANIZATION,
  STRANGER,
} from "../../support/names.js";
import { assignDeposit } from "../../support/operations/deposits.js";

const account = givenAccount();
const railAccounts = [railAccount(ORGANIZATION)];
const credited = (given: Partial<Deposit>): Deposit =>
  givenDeposit({ status: "CREDITED", reason: undefined, transactionId: newTransactionId(), credits: 1, ...given });

describe("assigning a deposit", () => {
  it("credits the whole deposit to the account by a mint, which counts against the limits", () => {
    const deposit = givenDeposit({ credits: 1, reason: "UNASSIGNED" });
    const limits = { since: EARLIER, organization: { MINT: {}, REDEEM: {} }, tiers: new Map(), usage: undefined };
    const books = [givenHead({ limits: limits })];
    const command = assignDeposit(ORGANIZATION, deposit.id, account.id);
    const effect = effectOf(decide({ railAccounts, accounts: [account], deposits: [deposit], books }, command));
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.deep.include({
      kind: "transaction.completed",
      posting: { debit: "unallocated", credit: "available", amountCents: 500 },
      receipt: undefined,
    });
    expect(putOf(effect, "transactions")).to.include({
      id: command.facts.newTransactionId,
      type: "MINT",
      reference: `kesc:deposit:${deposit.id}:2`,
      rail: deposit.rail,
      railReceipt: deposit.receipt,
      depositId: deposit.id,
    });
    const row = { ...deposit, status: "CREDITED", reason: undefined, accountId: account.id, credits: 2 };
    expect(putOf(effect, "deposits")).to.deep.equal({
      ...row,
      transactionId: command.facts.newTransactionId,
      updatedAt: NOW,
    });
    expect(putOf(effect, "accounts")).to.have.nested.include({ availableCents: 10_500, "usage.day.MINT": 500 });
    expect(effect.limits?.usage?.day.MINT).to.equal(500);
  });

  it("credits a frozen account, and beyond the limits of amounts", () => {
    const frozen = givenAccount({ status: "FROZEN" });
    const organization = { MINT: { DAY: toCents(1) }, REDEEM: {} };
    const limits = { since: EARLIER, organization, tiers: new Map(), usage: undefined } as never as LimitsInForce;
    const deposit = givenDeposit();
    const book = givenBook({ railAccounts, accounts: [frozen], deposits: [deposit], books: [givenHead({ limits })] });
    const effect = effectOf(decide(book, assignDeposit(ORGANIZATION, deposit.id, frozen.id)));
    expect(putOf(effect, "accounts")?.availableCents).to.equal(10_500);
  });

  it("is a replay if the account has the deposit", () => {
    const deposit = credited({ accountId: account.id });
    const decision = decide(
      { railAccounts, accounts: [account], deposits: [deposit] },
      assignDeposit(ORGANIZATION, deposit.id, account.id),
    );
    expect(decision).to.deep.equal(replay({ resource: deposit }));
  });

  // The order of rows is the order of checks.
  const accountId = newAccountId();
  const closed = givenAccount({ status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS });
  const rich = givenAccount({ availableCents: toCents(MAX_CENTS - 2_499) });
  const from = (status: Deposit["status"]) => ({ reason: "INVALID_TRANSITION", from: status, to: "CREDITED" });
  for (const [what, deposit, to, refusal] of [
    ["another organization's deposit", givenDeposit({ organizationId: STRANGER }), accountId, "DEPOSIT_NOT_FOUND"],
    ["a deposit that another account has", credited({ accountId: account.id }), accountId, from("CREDITED")],
    ["a deposit that went back", givenDeposit({ status: "RETURNED" }), accountId, from("RETURNED")],
    // It was the account's before the rail took it back.
    ["a deposit that the rail took back", givenDeposit({ status: "REVERSED", accountId }), accountId, from("REVERSED")],
    ["an account that is not there", givenDeposit(), accountId, { reason: "ACCOUNT_NOT_FOUND", accountId }],
    ["a closed account", givenDeposit(), closed.id, { reason: "ACCOUNT_CLOSED", accountId: closed.id }],
    [
      "what the account cannot hold",
      givenDeposit(),
      rich.id,
      { reason: "LIMIT_EXCEEDED", accountId: rich.id, limitCents: MAX_CENTS },
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      const book = givenBook({ railAccounts, accounts: [account, closed, rich], deposits: [deposit] });
      const decision = decide(book, assignDeposit(ORGANIZATION, deposit.id, to));
      const expected = typeof refusal === "string" ? { reason: refusal, depositId: deposit.id } : refusal;
      expectRefused(decision, expected);
    });
  }

  it("refuses a deposit that is not there", () => {
    const depositId = newDepositId();
    const decision = decide({}, assignDeposit(ORGANIZATION, depositId, account.id));
    expectRefused(decision, { reason: "DEPOSIT_NOT_FOUND", depositId });
  });
});

describe("one person above an amount", () => {
  const [own, lenient] = [
    railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(499) }),
    railAccount(ORGANIZATION, { id: "rail 2" as RailAccountId, resolveAloneMaxCents: MAX_CENTS }),
  ];
  const deposit = givenDeposit();
  for (const [kind, what, row, accounts] of [
    ["transaction.completed", "as much as the account at the rail allows", { amountCents: toCents(499) }, [own]],
    ["book.proposed", "a cent more", {}, [own, lenient]],
    ["transaction.completed", "of the account that allows more", { railAccountId: lenient.id }, [own, lenient]],
    ["book.proposed", "recorded by hand: the lowest of all holds", { railAccountId: undefined }, [lenient, own]],
    ["book.proposed", "recorded by hand, without any account at a rail", { railAccountId: undefined }, []],
  ] as const) {
    it(`decides ${kind} about a deposit ${what}`, () => {
      const given = givenDeposit({ ...deposit, ...row });
      const book = givenBook({ railAccounts: accounts, accounts: [account], deposits: [given] });
      const decision = decide(book, assignDeposit(ORGANIZATION, given.id, account.id));
      expect(effectOf(decision).entries.map((entry) => entry.kind)).to.deep.equal([kind]);
    });
  }
});
