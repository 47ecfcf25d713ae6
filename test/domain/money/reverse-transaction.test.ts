import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import { type BookSums, MAX_SUM_CENTS } from "../../../src/domain/book.js";
import { putIdempotencyKey, replay } from "../../../src/domain/decision.js";
import type { ReverseTransaction } from "../../../src/domain/money/reverse-transaction.js";
import type { Decider } from "../../../src/domain/proposal.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { type Cents, MAX_CENTS, NO_CENTS, subtractCents, toCents } from "../../../src/domain/values/cents.js";
import { parseDescription, parseReference } from "../../../src/domain/values/text.js";
import { decide, effectOf, expectRefused, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  entryOf,
  givenAccount,
  givenBook,
  givenHead,
  givenPending,
  givenTransaction,
  NO_PROOF,
  railAccount,
  usedKey,
} from "../../support/given.js";
import {
  newDepositId,
  newTransactionId,
  NOW,
  ORGANIZATION,
  receiptNamed,
  STRANGER,
  valid,
} from "../../support/names.js";
import { reverse, reverseByOperator } from "../../support/operations/transactions.js";

const account = givenAccount();
const minted = givenTransaction({ accountId: account.id });
const redeemed = givenTransaction({ accountId: account.id, type: "REDEEM" });

/** A completed reversal of the transaction, without words. */
function reversalOf(original: Transaction, given: Partial<Transaction> = {}): Transaction {
  return givenTransaction({
    accountId: original.accountId,
    type: original.type === "MINT" ? "REDEEM" : "MINT",
    reference: valid(parseReference(`kesc:reverse:${original.id}`)),
    corrects: { kind: "REVERSAL", transactionId: original.id },
    ...given,
  });
}

describe("reversing a transaction", () => {
  // Before: 100.00 available, 20.00 held.
  for (const [what, original, type, posting, availableCents] of [
    ["burns what a mint credited", minted, "REDEEM", { debit: "available", credit: "reserve" }, 5_000],
    ["credits what a redemption burned", redeemed, "MINT", { debit: "reserve", credit: "available" }, 15_000],
  ] as const) {
    it(`${what}, and links both transactions`, () => {
      const command = reverse(ORGANIZATION, original.id, { description: "twice", metadata: { till: "7" }, key: "k" });
      const reversal = {
        ...givenTransaction({ accountId: account.id }),
        id: command.newTransactionId,
        type,
        reference: `kesc:reverse:${original.id}`,
        description: "twice",
        metadata: new Map([["till", "7"]]),
        corrects: { kind: "REVERSAL", transactionId: original.id },
        availableAfterCents: availableCents,
        createdAt: NOW,
        updatedAt: NOW,
        completedAt: NOW,
      };
      expectWritten(decide({ accounts: [account], transactions: [original] }, command), {
        resource: reversal,
        entries: [
          entryOf({
            accountId: account.id,
            transactionId: reversal.id,
            kind: "transaction.completed",
            posting: { ...posting, amountCents: 5_000 },
            balancesAfter: { availableCents, heldCents: 2_000 },
            ...NO_PROOF,
          }),
        ],
        puts: [
          { table: "accounts", row: { ...account, availableCents, updatedAt: NOW } },
          { table: "transactions", row: reversal },
          { table: "idempotencyKeys", row: usedKey(reversal.id, NOW) },
          // The original keeps its status and its times: only the link is new.
          { table: "transactions", row: { ...original, reversedById: reversal.id } },
        ],
      });
    });
  }

  for (const [what, original, given] of [
    ["take the last cent that is available", minted, { availableCents: toCents(5_000) }],
    [
      "fill an account to the limit, what is held included",
      redeemed,
      { availableCents: subtractCents(MAX_CENTS, toCents(7_000)) },
    ],
  ] as const) {
    it(`may ${what}`, () => {
      const book = givenBook({ accounts: [{ ...account, ...given }], transactions: [original] });
      effectOf(decide(book, reverse(ORGANIZATION, original.id)));
    });
  }

  describe("that is reversed already", () => {
    const reversal = reversalOf(minted, { description: valid(parseDescription("twice")) });
    const reversed = { ...minted, reversedById: reversal.id };
    // The account of a replay may have any state.
    const closed = { ...account, status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS } as const;
    const used = usedKey(reversal.id);
    const rows = { accounts: [closed], transactions: [reversed, reversal] };
    const same = { description: "twice" };

    it("answers the same content with the first reversal", () => {
      const again = decide(rows, reverse(ORGANIZATION, minted.id, same));
      expect(again).to.deep.equal(replay(reversal));
    });

    it("compares the receipt only if the call has one", () => {
      const receipted = { ...reversal, railReceipt: receiptNamed("NLJ7RT61SV") };
      for (const given of [same, { ...same, receipt: "NLJ7RT61SV" }]) {
        const again = decide({ ...rows, transactions: [reversed, receipted] }, reverse(ORGANIZATION, minted.id, given));
        expect(again).to.deep.equal(replay(receipted));
      }
    });

    it("lets an idempotency key that comes with a replay name the reversal from then on", () => {
      const later = reverse(ORGANIZATION, minted.id, { ...same, key: "later" });
      expect(decide(rows, later)).to.deep.equal(
        replay(reversal, putIdempotencyKey(later.idempotencyKey, reversal, NOW)),
      );
    });

    it("answers the same content under the same idempotency key with the first reversal", () => {
      const again = reverse(ORGANIZATION, minted.id, { ...same, key: "k" });
      expect(decide({ ...rows, idempotencyKeys: [used] }, again)).to.deep.equal(replay(reversal));
    });

    for (const [what, given, differingFields] of [
      ["another description", {}, ["description"]],
      ["other metadata", { ...same, metadata: { till: "8" } }, ["metadata"]],
      ["a receipt that it had not", { ...same, receipt: "NLJ7RT61SV" }, ["receipt"]],
      ["nothing the same", { metadata: { till: "8" } }, ["description", "metadata"]],
    ] as const) {
      it(`refuses ${what}, and names the reversal and what differs`, () => {
        const again = decide(rows, reverse(ORGANIZATION, minted.id, given));
        expectRefused(again, {
          reason: "TRANSACTION_ALREADY_REVERSED",
          transactionId: minted.id,
          reversedById: reversal.id,
          differingFields,
        });
      });
    }
  });

  describe("under an idempotency key that was used", () => {
    const other = givenTransaction({ accountId: account.id, reference: valid(parseReference("other")) });
    const reversal = reversalOf(minted);
    for (const [what, resourceId, command] of [
      ["for another mint", other.id, reverse(ORGANIZATION, minted.id, { key: "k" })],
      ["for the mint itself", minted.id, reverse(ORGANIZATION, minted.id, { key: "k" })],
      ["for an account", account.id, reverse(ORGANIZATION, minted.id, { key: "k" })],
      ["for the reversal of another transaction", reversal.id, reverse(ORGANIZATION, other.id, { key: "k" })],
      [
        "for a reversal with another description",
        reversal.id,
        reverse(ORGANIZATION, minted.id, { key: "k", description: "twice" }),
      ],
    ] as const) {
      it(`refuses a key that was used ${what}`, () => {
        const idempotencyKeys = [usedKey(resourceId)];
        const book = givenBook({ accounts: [account], transactions: [minted, other, reversal], idempotencyKeys });
        expectRefused(decide(book, command), { reason: "IDEMPOTENCY_KEY_REUSED" });
      });
    }
  });

  const unknown = newTransactionId();
  const direct = minted.rail;
  const onRail = givenPending({ accountId: account.id, status: "COMPLETED" });
  const pending = givenPending({ accountId: account.id });
  const unfinished = givenPending({ accountId: account.id, rail: direct });
  const reversal = reversalOf(redeemed);
  const credit = givenPending({ accountId: account.id, status: "COMPLETED", depositId: newDepositId() });
  const receipted = { ...onRail, railReceipt: receiptNamed("NLJ7RT61SV") };
  const empty = { availableCents: NO_CENTS, heldCents: NO_CENTS };
  const full = { availableCents: subtractCents(MAX_CENTS, toCents(2_000)) };
  const sums = (given: Partial<BookSums>): BookSums => ({ ...givenHead().sums, ...given });
  const notReversible = { reason: "TRANSACTION_NOT_REVERSIBLE" } as const;

  // The order of rows is the order of checks.
  const refusals: readonly [
    name: string,
    command: ReverseTransaction,
    rows: { transactions?: Transaction[]; account?: Partial<LedgerAccount>; sums?: BookSums },
    facts: object,
  ][] = [
    [
      "refuses a transaction that does not exist",
      reverse(ORGANIZATION, unknown),
      {},
      { reason: "TRANSACTION_NOT_FOUND", transactionId: unknown },
    ],
    [
      "refuses another organization's transaction, whatever it is",
      reverse(ORGANIZATION, pending.id),
      { transactions: [{ ...pending, organizationId: STRANGER }] },
      { reason: "TRANSACTION_NOT_FOUND", transactionId: pending.id },
    ],
    [
      "refuses a reversal, before it looks at the account",
      reverse(ORGANIZATION, reversal.id),
      { transactions: [redeemed, reversal], account: { status: "CLOSED", ...empty } },
      { ...notReversible, transactionId: reversal.id, cause: "IS_REVERSAL" },
    ],
    [
      "refuses the credit of a deposit, before it looks at the rail",
      reverse(ORGANIZATION, credit.id),
      { transactions: [credit], account: { status: "CLOSED", ...empty } },
      { ...notReversible, transactionId: credit.id, cause: "DEPOSIT" },
    ],
    [
      "refuses a transaction of another rail",
      reverse(ORGANIZATION, onRail.id),
      { transactions: [onRail], account: { status: "FROZEN" } },
      { ...notReversible, transactionId: onRail.id, cause: "OTHER_RAIL" },
    ],
    [
      "refuses a transaction that is not completed, whatever its rail: a new one would move both",
      reverse(ORGANIZATION, pending.id),
      { transactions: [pending], account: { status: "FROZEN" } },
      { ...notReversible, transactionId: pending.id, cause: "NOT_COMPLETED" },
    ],
    [
      "refuses a transaction that is not completed",
      reverse(ORGANIZATION, unfinished.id),
      { transactions: [unfinished], account: { status: "FROZEN" } },
      { ...notReversible, transactionId: unfinished.id, cause: "NOT_COMPLETED" },
    ],
    [
      "refuses a closed account before looking at funds",
      reverse(ORGANIZATION, minted.id),
      { account: { status: "CLOSED", ...empty } },
      { reason: "ACCOUNT_CLOSED", accountId: account.id },
    ],
    [
      "refuses a frozen account before looking at funds",
      reverse(ORGANIZATION, minted.id),
      { account: { status: "FROZEN", ...empty } },
      { reason: "ACCOUNT_FROZEN", accountId: account.id },
    ],
    [
      "refuses a frozen account before looking at the limit",
      reverse(ORGANIZATION, redeemed.id),
      { account: { status: "FROZEN", ...full } },
      { reason: "ACCOUNT_FROZEN", accountId: account.id },
    ],
    [
      "refuses a receipt that another transaction has, before looking at funds",
      reverse(ORGANIZATION, minted.id, { receipt: "NLJ7RT61SV" }),
      { transactions: [minted, receipted], account: empty },
      { reason: "RECEIPT_ALREADY_USED", receipt: "NLJ7RT61SV", transactionId: receipted.id, depositId: undefined },
    ],
    [
      "refuses to take back a mint that was spent, though more is held",
      reverse(ORGANIZATION, minted.id),
      { account: { availableCents: toCents(4_999), heldCents: toCents(5_000) } },
      { reason: "INSUFFICIENT_FUNDS", availableCents: 4_999, requestedCents: 5_000 },
    ],
    [
      "refuses to give a redemption back past the limit of the account",
      reverse(ORGANIZATION, redeemed.id),
      { account: full },
      { reason: "LIMIT_EXCEEDED", accountId: account.id, limitCents: MAX_CENTS },
    ],
    [
      "refuses to give a redemption back past the limit of the organization",
      reverse(ORGANIZATION, redeemed.id),
      { sums: sums({ reserve: MAX_SUM_CENTS, available: MAX_SUM_CENTS }) },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
  ];
  for (const [name, command, rows, facts] of refusals) {
    it(name, () => {
      const { transactions = [minted, { ...redeemed, reference: valid(parseReference("out")) }], sums: given } = rows;
      const book = givenBook({
        books: [givenHead(given === undefined ? {} : { sums: given }), givenHead({ organizationId: STRANGER })],
        accounts: [{ ...account, ...rows.account }],
        transactions,
      });
      expectRefused(decide(book, command), facts);
    });
  }

  it("throws when the account of the transaction was not loaded: that is a bug", () => {
    const book = givenBook({ transactions: [minted] });
    expect(() => decide(book, reverse(ORGANIZATION, minted.id))).to.throw(account.id);
  });

  it("tells another organization nothing about a transaction that is reversed", () => {
    const command = reverse(STRANGER, minted.id);
    const book = givenBook({ accounts: [account], transactions: [minted, reversalOf(minted)] });
    expect(wordOf(decide(book, command))).to.equal("TRANSACTION_NOT_FOUND");
  });

  describe("by an operator", () => {
    const { amountCents } = minted;
    const bookWith = (resolveAloneMaxCents: number): ReturnType<typeof givenBook> =>
      givenBook({
        accounts: [account],
        transactions: [minted],
        railAccounts: [railAccount(ORGANIZATION, { resolveAloneMaxCents: resolveAloneMaxCents as Cents })],
      });

    it("takes one person up to what the accounts at rails let one person decide", () => {
      const decision = decide(bookWith(amountCents), reverseByOperator(ORGANIZATION, minted.id));
      const effect = effectOf(decision);
      expect(effect.entries.map(({ kind, actor }) => [kind, actor])).to.deep.equal([
        ["transaction.completed", "operator"],
      ]);
      expect(putOf(effect, "transactions")).to.include({ type: "REDEEM", amountCents, description: "paid twice" });
    });

    it("takes two above that, and an approval makes another new transaction", () => {
      const book = bookWith(amountCents - 1);
      const command = reverseByOperator(ORGANIZATION, minted.id);
      const proposed = decide(book, command);
      expect(effectOf(proposed).entries.map(({ kind }) => kind)).to.deep.equal(["book.proposed"]);
      book.apply(effectOf(proposed));
      const again = decide(book, reverseByOperator(ORGANIZATION, minted.id));
      expect(again.kind).to.equal("replay");
      const approval = reverseByOperator(ORGANIZATION, minted.id, { person: "brian" as Decider });
      const [entry] = effectOf(decide(book, approval)).entries;
      expect(entry).to.include({ kind: "transaction.completed", actor: "amina,brian" });
      expect(entry?.transactionId).to.equal(approval.facts.newTransactionId);
    });

    it("takes two for any amount without an account at a rail", () => {
      const book = givenBook({ accounts: [account], transactions: [minted] });
      const decision = decide(book, reverseByOperator(ORGANIZATION, minted.id));
      expect(effectOf(decision).entries[0]?.kind).to.equal("book.proposed");
    });

    it("refuses what an API key is refused, and notes nothing", () => {
      const book = givenBook({ accounts: [account], transactions: [] });
      expect(wordOf(decide(book, reverseByOperator(ORGANIZATION, minted.id)))).to.equal("TRANSACTION_NOT_FOUND");
    });
  });
});
