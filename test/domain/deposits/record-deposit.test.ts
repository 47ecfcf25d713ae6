import { expect } from "chai";

import { MAX_SUM_CENTS } from "../../../src/domain/book.js";
import { replay } from "../../../src/domain/decision.js";
import type { Refusal } from "../../../src/domain/refusal.js";
import { MAX_CENTS, NO_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenDeposit,
  givenHead,
  givenTransaction,
  railAccount,
} from "../../support/given.js";
import { newAccountId, NOW, ORGANIZATION, receiptNamed } from "../../support/names.js";
import { recordDeposit } from "../../support/operations/deposits.js";

const account = givenAccount();
const railAccounts = [railAccount(ORGANIZATION)];
const used = { organizationId: ORGANIZATION, receipt: receiptNamed("d1"), transactionId: undefined };

describe("recording a deposit by hand", () => {
  it("books shillings for nobody: BY_HAND", () => {
    const command = recordDeposit(ORGANIZATION);
    const effect = effectOf(decide({ railAccounts }, command));
    const { newDepositId: id } = command.facts;
    expect(effect.entries).to.have.length(1);
    expect(effect.entries[0]).to.include({ kind: "deposit.received", receipt: "d1", detail: `${id} BY_HAND` });
    const row = { ...givenDeposit({ id, createdAt: NOW, updatedAt: NOW }), rail: "direct", railAccountId: undefined };
    expect(effect.puts).to.deep.equal([{ table: "deposits", row: { ...row, reason: "BY_HAND" } }]);
  });

  it("credits the account that is named in the same commit, also a frozen one", () => {
    const frozen = givenAccount({ status: "FROZEN" });
    const command = recordDeposit(ORGANIZATION, { accountId: frozen.id });
    const effect = effectOf(decide({ railAccounts, accounts: [frozen] }, command));
    expect(effect.entries.map(({ kind, receipt, detail }) => [kind, receipt, detail])).to.deep.equal([
      ["deposit.received", "d1", command.facts.newDepositId],
      ["transaction.completed", undefined, undefined],
    ]);
    expect(putOf(effect, "transactions")).to.include({ rail: "direct", depositId: command.facts.newDepositId });
    expect(putOf(effect, "deposits")).to.include({ status: "CREDITED", accountId: frozen.id, credits: 1 });
    expect(putOf(effect, "accounts")?.availableCents).to.equal(10_500);
  });

  for (const [kind, what, deposit, accountId] of [
    ["replay", "the same amount, for nobody", givenDeposit(), undefined],
    ["replay", "the same amount and account", givenDeposit({ status: "CREDITED", accountId: account.id }), account.id],
    ["refusal", "another amount", givenDeposit({ amountCents: toCents(501) }), undefined],
    ["refusal", "another account", givenDeposit({ status: "CREDITED", accountId: newAccountId() }), account.id],
    ["refusal", "the account, once the credit was taken back", givenDeposit(), account.id],
  ] as const) {
    it(`is a ${kind} with the receipt of a deposit and ${what}`, () => {
      const book = givenBook({
        railAccounts,
        accounts: [account],
        deposits: [deposit],
        receipts: [{ ...used, depositId: deposit.id }],
      });
      const decision = decide(book, recordDeposit(ORGANIZATION, { accountId }));
      const refusal = {
        reason: "RECEIPT_ALREADY_USED",
        receipt: "d1",
        transactionId: undefined,
        depositId: deposit.id,
      };
      if (kind === "replay") expect(decision).to.deep.equal(replay({ resource: deposit }));
      else expectRefused(decision, refusal);
    });
  }

  it("refuses the number of a rail that the book has from another source", () => {
    const receipts = [{ ...used, receipt: receiptNamed("kcb:SKQ7XH2M4P"), depositId: undefined }];
    const decision = decide(
      givenBook({ railAccounts, receipts }),
      recordDeposit(ORGANIZATION, { receipt: "SKQ7XH2M4P" }),
    );
    expect(wordOf(decision)).to.equal("RECEIPT_ALREADY_USED");
  });

  // The order of rows is the order of checks.
  const cents = MAX_SUM_CENTS - 499;
  const full = givenHead({
    sums: { reserve: cents, shortfall: 0, charges: 0, available: 0, held: 0, unallocated: cents },
  });
  const minted = givenTransaction({ accountId: account.id, railReceipt: receiptNamed("d1") });
  const closed = givenAccount({ status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS });
  const rich = givenAccount({ availableCents: toCents(MAX_CENTS - 2_499) });
  const accountId = newAccountId();
  for (const [what, accountOf, rows, refusal] of [
    [
      "a receipt of the book",
      accountId,
      { transactions: [minted], books: [full] },
      { reason: "RECEIPT_ALREADY_USED", receipt: receiptNamed("d1"), transactionId: minted.id, depositId: undefined },
    ],
    [
      "what the book cannot hold",
      accountId,
      { books: [full] },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
    ["an account that is not there", accountId, {}, { reason: "ACCOUNT_NOT_FOUND", accountId }],
    ["a closed account", closed.id, { accounts: [closed] }, { reason: "ACCOUNT_CLOSED", accountId: closed.id }],
    [
      "what the account cannot hold",
      rich.id,
      { accounts: [rich] },
      { reason: "LIMIT_EXCEEDED", accountId: rich.id, limitCents: MAX_CENTS },
    ],
  ] as const) {
    it(`refuses ${what}: ${refusal.reason}`, () => {
      const command = recordDeposit(ORGANIZATION, { accountId: accountOf });
      const decision = decide({ railAccounts, ...(rows as object) }, command);
      expectRefused(decision, refusal satisfies Refusal);
    });
  }
});
