import { expect } from "chai";

import type { Acted } from "../../../src/domain/authority.js";
import { MAX_SUM_CENTS } from "../../../src/domain/book.js";
import type { ResolvedTransactions } from "../../../src/domain/orders/resolve-transactions.js";
import type { Decider } from "../../../src/domain/proposal.js";
import { BANK_RAIL, type Transaction } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { ALONE } from "../../support/commands.js";
import { asShown, decide, effectOf, proposedContent, putsOf } from "../../support/decided.js";
import {
  givenAccount,
  givenHead,
  givenPayment,
  givenPending,
  givenPlace,
  givenProposal,
  givenTransaction,
  railAccount,
} from "../../support/given.js";
import { EARLIER, newTransactionId, NOW, ORGANIZATION, receiptNamed } from "../../support/names.js";
import { resolveTransactions } from "../../support/operations/transactions.js";

// 100.00 available, 20.00 held: by two orders of 10.00.
const account = givenAccount({ openPayments: 2 });
const order = (given: Partial<Transaction> = {}): Transaction =>
  givenPending({
    accountId: account.id,
    type: "REDEEM",
    amountCents: toCents(1_000),
    status: "PROCESSING",
    openFlags: ["OUTCOME_UNKNOWN"],
    ...given,
  });
const [first, second] = [order(), order({ openFlags: [] })];

function rowsWith(transactions: readonly Transaction[], aloneMaxCents: number | null = 2_000): Partial<Loaded> {
  const sent = { state: "ACCEPTED", begunAt: EARLIER } as const;
  return {
    accounts: [account],
    transactions,
    payments: transactions.map((each) =>
      givenPayment(each, each.status === "PROCESSING" ? sent : { ...sent, state: "ENDED" }),
    ),
    railAccounts:
      aloneMaxCents === null ? [] : [railAccount(ORGANIZATION, { resolveAloneMaxCents: toCents(aloneMaxCents) })],
  };
}

function leftBy(rows: Partial<Loaded>, results: Parameters<typeof resolveTransactions>[1]) {
  const decision = decide(rows, resolveTransactions(ORGANIZATION, results));
  if (decision.kind === "refusal") throw new Error(decision.refusal.reason);
  const { resource } = decision.resource as Acted<ResolvedTransactions>;
  return { kind: decision.kind, left: resource?.resolved.map(({ left, transaction }) => [left, transaction?.status]) };
}

describe("resolving the transactions of a lost night", () => {
  it("completes two orders of one account in one commit, each with its receipt", () => {
    const command = resolveTransactions(ORGANIZATION, [
      [first.id, "r1", 1_000],
      [second.id, "r2", 1_000],
    ]);
    const effect = effectOf(decide(rowsWith([first, second]), command));
    const accounts = putsOf(effect, "accounts").map(({ heldCents, openPayments }) => [heldCents, openPayments]);
    expect(accounts).to.deep.equal([
      [1_000, 1],
      [0, 0],
    ]);
    expect(effect.entries.map(({ kind, receipt, alone }) => [kind, receipt, alone?.cents])).to.deep.equal([
      ["transaction.completed", "r1", 1_000],
      ["transaction.completed", "r2", 2_000],
    ]);
    expect(putsOf(effect, "payments").map(({ state }) => state)).to.deep.equal(["ENDED", "ENDED"]);
  });

  const used = receiptNamed("used");
  const attested = givenTransaction({ accountId: account.id, railReceipt: used });
  const done = { status: "COMPLETED", railReceipt: receiptNamed("r1"), openFlags: [] } as const;
  for (const [what, transaction, receipt, amount, left] of [
    ["another amount", first, "r1", 1_001, "AMOUNT_DIFFERS"],
    ["a report that the book did not take", order({ openFlags: ["REPORT_DIFFERS"] }), "r1", 1_000, "FLAGGED"],
    ["a receipt of the book", first, used, 1_000, "RECEIPT_ALREADY_USED"],
    ["another end", order({ status: "FAILED", openFlags: [] }), "r1", 1_000, "TRANSACTION_ALREADY_ENDED"],
    ["this very end", order(done), "r1", 1_000, "ALREADY_SO"],
  ] as const) {
    it(`leaves an order with ${what} to a person, and completes the other: ${left}`, () => {
      const rows = rowsWith([transaction, second, attested]);
      const rest = { ...rows, payments: rows.payments?.filter(({ transactionId }) => transactionId !== attested.id) };
      const receipts = [
        { organizationId: ORGANIZATION, receipt: used, transactionId: attested.id, depositId: undefined },
      ];
      const given = { ...rest, receipts } as Partial<Loaded>;
      const { status } = transaction;
      const one = [transaction.id, receipt, amount] as const;
      expect(leftBy(given, [one, [second.id, "r2", 1_000]])).to.deep.equal({
        kind: "effect",
        left: [
          [left, status],
          [undefined, "COMPLETED"],
        ],
      });
      expect(leftBy(given, [one])).to.deep.equal({ kind: "replay", left: [[left, status]] });
    });
  }

  it("completes orders of a bank only with receipts of a place that has a figure", () => {
    const ofBank = [order({ rail: BANK_RAIL }), order({ rail: BANK_RAIL })] as const;
    const rows = { ...rowsWith(ofBank), reservePlaces: [givenPlace("KCB 1234")] };
    const results = [
      [ofBank[0].id, "kcb-1234:FT1", 1_000],
      [ofBank[1].id, "kcb-123:FT2", 1_000],
    ] as const;
    expect(leftBy(rows, results).left).to.deep.equal([
      [undefined, "COMPLETED"],
      ["RECEIPT_OF_OTHER_RAIL", "PROCESSING"],
    ]);
  });

  it("completes an order once, and takes a receipt once", () => {
    const results = [
      [first.id, "r1", 1_000],
      [first.id, "r2", 1_000],
      [second.id, "r1", 1_000],
    ] as const;
    expect(leftBy(rowsWith([first, second]), results).left).to.deep.equal([
      [undefined, "COMPLETED"],
      ["TRANSACTION_ALREADY_ENDED", "COMPLETED"],
      ["RECEIPT_ALREADY_USED", "PROCESSING"],
    ]);
  });

  it("raises the flag of a mint that the account cannot take", () => {
    const mint = order({ type: "MINT", openFlags: [] });
    const head = givenHead();
    const books = [{ ...head, sums: { ...head.sums, available: MAX_SUM_CENTS } }];
    const command = resolveTransactions(ORGANIZATION, [[mint.id, "r1", 1_000]]);
    const effect = effectOf(decide({ ...rowsWith([mint]), books }, command));
    expect(effect.entries.map(({ kind, alone }) => [kind, alone?.cents])).to.deep.equal([
      ["transaction.completed", 1_000],
      ["transaction.flagged", undefined],
    ]);
  });

  it("leaves a transaction that is not there", () => {
    const results = [
      [newTransactionId(), "r2", 1_000],
      [first.id, "r1", 1_000],
    ] as const;
    const [missing] = leftBy(rowsWith([first]), results).left ?? [];
    expect(missing).to.deep.equal(["TRANSACTION_NOT_FOUND", undefined]);
  });
});

describe("who may resolve the transactions of a lost night", () => {
  const both = [
    [first.id, "r1", 1_000],
    [second.id, "r2", 1_000],
  ] as const;

  for (const [what, aloneMaxCents] of [
    ["above the amount of the account at the rail, together", 1_999],
    ["without the account at the rail", null],
  ] as const) {
    it(`needs a second person ${what}, and the rows name both`, () => {
      const rows = rowsWith([first, second], aloneMaxCents);
      const proposing = decide(rows, resolveTransactions(ORGANIZATION, both, { person: "amina" }));
      const content = proposedContent(proposing);
      expect(content).to.include('"name":"resolveTransactions"');
      const expiresAt = toUnixMillis(NOW + 1_000);
      const proposal = givenProposal({ content, person: "amina" as Decider, expiresAt });
      const authority = { ...ALONE, person: "brian" as Decider, approves: proposal.id };
      const command = asShown(resolveTransactions(ORGANIZATION, both, { authority }), content);
      const effect = effectOf(decide({ ...rows, proposals: [proposal] }, command));
      expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
        ["transaction.completed", '["","amina","brian"]'],
        ["transaction.completed", '["","amina","brian"]'],
        ["book.proposal_approved", JSON.stringify([proposal.id])],
      ]);
    });
  }
});
