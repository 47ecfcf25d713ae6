import { expect } from "chai";

import type { AccountHolder, LedgerAccount } from "../../../src/domain/account.js";
import { type BookSums, MAX_SUM_CENTS } from "../../../src/domain/book.js";
import { putIdempotencyKey, replay } from "../../../src/domain/decision.js";
import type { Deposit, TypedReference } from "../../../src/domain/deposit.js";
import type { DestinationNumber } from "../../../src/domain/destination.js";
import { type AmountLimits, DEFAULT_TIER } from "../../../src/domain/limits/limits.js";
import { counted, type LimitsInForce, usageAt } from "../../../src/domain/limits/usage.js";
import type { MoveMoney } from "../../../src/domain/money/move-money.js";
import { NEVER_DUE, type Payment } from "../../../src/domain/payment.js";
import { payoutListText } from "../../../src/domain/payout-list.js";
import { DIRECT_RAIL, type Transaction } from "../../../src/domain/transaction.js";
import { MAX_CENTS, NO_CENTS, subtractCents, toCents } from "../../../src/domain/values/cents.js";
import type { AccountId, DestinationId } from "../../../src/domain/values/ids.js";
import { maskPhone } from "../../../src/domain/values/masked-phone.js";
import type { PhoneNumber } from "../../../src/domain/values/phone-number.js";
import { parseDescription, parseMetadata, parseReference } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { decide, effectOf, expectRefused, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  entryOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenDeposit,
  givenDestination,
  givenHead,
  givenHolder,
  givenPayment,
  givenPending,
  givenPerson,
  givenTransaction,
  NO_PROOF,
  usedKey,
} from "../../support/given.js";
import {
  EARLIER,
  newAccountId,
  NOW,
  ORGANIZATION,
  receiptNamed,
  SLOW_RAIL,
  STRANGER,
  valid,
} from "../../support/names.js";
import { STANDING_CHECK } from "../../support/operations/payouts.js";
import { mint, type Movement, redeem } from "../../support/operations/transactions.js";

const accountId = newAccountId();

/** 50.00 of the account, unless told otherwise. */
const movement = (given: Partial<Movement> = {}): Movement => ({
  organizationId: ORGANIZATION,
  accountId,
  amount: "50.00",
  reference: "new",
  ...given,
});

/** The terms of a rail that cannot pay a number that was changed at EARLIER. */
const COOLING = { phoneCoolingMillis: NOW - EARLIER + 1 };
/** The terms of a rail that reaches Tanzanian numbers only. */
const ABROAD = { phoneNumbers: /^\+255/ };
const WHOLE_SHILLINGS = { minCents: toCents(1_000), maxCents: toCents(25_000_000), stepCents: toCents(100) };

/** The payment of a transaction that was just accepted. */
function readyPayment(transaction: Pick<Transaction, "id" | "organizationId" | "type">): Payment {
  return { ...givenPayment(transaction), dueAt: NOW, updatedAt: NOW };
}

const bookOf = (given: Partial<LedgerAccount> = {}): ReturnType<typeof givenBook> =>
  givenBook({ accounts: [givenAccount({ id: accountId, ...given })] });

describe("moving money", () => {
  // Before: 100.00 available, 20.00 held.
  for (const [what, move, rail, expected] of [
    [
      "a mint on the direct rail completes at once, and credits",
      mint,
      DIRECT_RAIL,
      { type: "MINT", status: "COMPLETED", posting: ["reserve", "available"], available: 15_000, held: 2_000 },
    ],
    [
      "a redemption on the direct rail completes at once, and burns",
      redeem,
      DIRECT_RAIL,
      { type: "REDEEM", status: "COMPLETED", posting: ["available", "reserve"], available: 5_000, held: 2_000 },
    ],
    [
      "a mint on another rail is pending, and moves nothing yet",
      mint,
      SLOW_RAIL,
      { type: "MINT", status: "PENDING", posting: undefined, available: 10_000, held: 2_000 },
    ],
    [
      "a redemption on another rail is pending, and holds",
      redeem,
      SLOW_RAIL,
      { type: "REDEEM", status: "PENDING", posting: ["available", "held"], available: 5_000, held: 7_000 },
    ],
  ] as const) {
    it(what, () => {
      const account = givenAccount({ id: accountId });
      const command = move(movement({ rail, key: "k", description: "café", metadata: { till: "7" } }));
      const decision = decide({ accounts: [account] }, command);
      const { type, status, posting, available, held } = expected;
      const transaction = {
        ...givenTransaction({ accountId }),
        id: command.newTransactionId,
        type,
        status,
        reference: "new",
        description: "café",
        metadata: new Map([["till", "7"]]),
        rail,
        availableAfterCents: status === "COMPLETED" ? available : undefined,
        createdAt: NOW,
        updatedAt: NOW,
        completedAt: status === "COMPLETED" ? NOW : undefined,
      };
      expectWritten(decision, {
        resource: transaction,
        entries: [
          entryOf({
            accountId,
            transactionId: command.newTransactionId,
            kind: status === "COMPLETED" ? "transaction.completed" : "transaction.pending",
            posting: posting && { debit: posting[0], credit: posting[1], amountCents: 5_000 },
            balancesAfter: { availableCents: available, heldCents: held },
            ...NO_PROOF,
          }),
        ],
        puts: [
          {
            table: "accounts",
            row: {
              ...account,
              availableCents: available,
              heldCents: held,
              openPayments: status === "PENDING" ? 1 : 0,
              updatedAt: posting === undefined ? account.updatedAt : NOW,
            },
          },
          { table: "transactions", row: transaction },
          { table: "idempotencyKeys", row: usedKey(transaction.id, NOW) },
          ...(status === "COMPLETED" ? [] : [{ table: "payments", row: readyPayment(transaction) }]),
        ],
      });
    });
  }

  for (const move of [mint, redeem]) {
    it(`a ${move.name} keeps the receipt that the caller gives, in its row and in its summary`, () => {
      const effect = effectOf(decide(bookOf(), move(movement({ receipt: "NLJ7RT61SV" }))));
      expect(effect.entries.map(({ receipt }) => receipt)).to.deep.equal(["NLJ7RT61SV"]);
      expect(putOf(effect, "transactions")?.railReceipt).to.equal("NLJ7RT61SV");
    });
  }

  for (const [what, command, given, availableCents] of [
    ["a redemption may take the last cent that is available", redeem(movement({ amount: "100.00" })), {}, 0],
    [
      "a mint may fill an account to the limit, what is held included",
      mint(movement({ amount: "0.01" })),
      { availableCents: subtractCents(MAX_CENTS, toCents(2_001)), heldCents: toCents(2_000) },
      MAX_CENTS - 2_000,
    ],
    [
      "a mint may be of the whole limit",
      mint(movement({ amount: "9999999999999.99" })),
      { availableCents: NO_CENTS, heldCents: NO_CENTS },
      MAX_CENTS,
    ],
  ] as const) {
    it(what, () => {
      const effect = effectOf(decide(bookOf(given), command));
      expect(putOf(effect, "accounts")?.availableCents).to.equal(availableCents);
    });
  }

  for (const rail of [DIRECT_RAIL, SLOW_RAIL]) {
    it(`a mint may fill the organization's sums to the last cent, on the rail ${rail}`, () => {
      const before = MAX_SUM_CENTS - 5_000;
      const sums = { ...givenHead().sums, reserve: before, available: before };
      const accounts = [givenAccount({ id: accountId })];
      expect(wordOf(decide({ books: [givenHead({ sums })], accounts }, mint(movement({ rail }))))).to.equal("effect");
    });
  }

  it("a redemption looks at no limit of the organization's sums", () => {
    const sums = { ...givenHead().sums, reserve: MAX_SUM_CENTS, available: MAX_SUM_CENTS };
    const book = givenBook({ books: [givenHead({ sums })], accounts: [givenAccount({ id: accountId })] });
    expect(wordOf(decide(book, redeem(movement())))).to.equal("effect");
  });

  // The direct rail sends nobody anything.
  for (const move of [mint, redeem]) {
    it(`a ${move.name} on the direct rail needs no phone number`, () => {
      const accountHolders = [erasedHolder({ id: accountId, organizationId: ORGANIZATION })];
      const book = givenBook({ accounts: [givenAccount({ id: accountId })], accountHolders });
      expect(wordOf(decide(book, move(movement())))).to.equal("effect");
    });
  }

  describe("with the receipt of a deposit", () => {
    const deposit = givenDeposit({ rail: SLOW_RAIL, typedReference: "rent" as TypedReference, credits: 1 });
    const holding = (row: Deposit): ReturnType<typeof givenBook> =>
      givenBook({
        accounts: [givenAccount({ id: accountId })],
        deposits: [row],
        receipts: [{ organizationId: ORGANIZATION, receipt: row.receipt, transactionId: undefined, depositId: row.id }],
      });
    const claim = mint(movement({ amount: "5.00", receipt: "d1" }));

    it("a mint of the same amount credits that deposit: the receipt stays where it is", () => {
      const effect = effectOf(decide(holding(deposit), claim));
      expect(effect.entries).to.have.length(1);
      expect(effect.entries[0]).to.deep.include({
        kind: "transaction.completed",
        posting: { debit: "unallocated", credit: "available", amountCents: 500 },
        receipt: undefined,
      });
      const facts = { rail: DIRECT_RAIL, reference: "new", railReceipt: "d1", depositId: deposit.id };
      expect(putOf(effect, "transactions")).to.include(facts);
      const credited = { status: "CREDITED", reason: undefined, accountId, transactionId: claim.newTransactionId };
      expect(putOf(effect, "deposits")).to.deep.equal({ ...deposit, ...credited, credits: 2, updatedAt: NOW });
      expect(putOf(effect, "accounts")?.availableCents).to.equal(10_500);
    });

    it("refuses a deposit that waits since the book had its number from another source: a person decides", () => {
      const sameNumber = { receipt: receiptNamed("kcb:d1"), id: undefined };
      const waiting = givenDeposit({ reason: "RECEIPT_ALREADY_USED", sameNumber });
      const facts = { receipt: "d1", transactionId: undefined, depositId: waiting.id };
      expectRefused(decide(holding(waiting), claim), { reason: "RECEIPT_ALREADY_USED", ...facts });
    });

    for (const [number, of] of [
      ["SKQ7XH2M4P", "kcb:SKQ7XH2M4P"],
      ["SKQ7XH2M4P", "kcb:skq7xh2m4p"],
      ["kcb:skq7xh2m4p", "SKQ7XH2M4P"],
      ["kcb:sb1", "sandbox:sb1"],
      ["sandbox:sb1", "kcb:sb1"],
    ] as const) {
      it(`refuses ${number} after ${of}, and names what has it`, () => {
        const earlier = givenTransaction({ accountId, railReceipt: receiptNamed(of) });
        const book = givenBook({ accounts: [givenAccount({ id: accountId })], transactions: [earlier] });
        const facts = { receipt: of, transactionId: earlier.id, depositId: undefined };
        const command = mint(movement({ receipt: number }));
        expectRefused(decide(book, command), { reason: "RECEIPT_ALREADY_USED", ...facts });
      });
    }

    for (const [what, command, row] of [
      ["a mint of another amount", mint(movement({ amount: "5.01", receipt: "d1" })), deposit],
      ["a redemption", redeem(movement({ amount: "5.00", receipt: "d1" })), deposit],
      ["a mint after the deposit was credited", claim, { ...deposit, status: "CREDITED" }],
      ["a mint after the deposit went back", claim, { ...deposit, status: "RETURNED" }],
    ] as const) {
      it(`refuses ${what}, also with its number from another source, and names the deposit`, () => {
        const other = { ...command, receipt: receiptNamed("kcb:UKT3EICD00") };
        const ofRail = { ...row, receipt: receiptNamed("UKT3EICD00") };
        expect(wordOf(decide(holding(ofRail), other))).to.equal("RECEIPT_ALREADY_USED");
        const facts = { receipt: "d1", transactionId: undefined, depositId: deposit.id };
        expectRefused(decide(holding(row), command), { reason: "RECEIPT_ALREADY_USED", ...facts });
      });
    }
  });

  describe("with a reference that was used", () => {
    const used = givenTransaction({
      accountId,
      description: valid(parseDescription("rent")),
      metadata: valid(
        parseMetadata(
          new Map([
            ["till", "7"],
            ["shop", "2"],
          ]),
        ),
      ),
    });
    const same = movement({ reference: "earlier", description: "rent", metadata: { shop: "2", till: "7" } });
    const book = givenBook({ accounts: [givenAccount({ id: accountId })], transactions: [used] });

    it("answers the same content with the first transaction", () => {
      expect(decide(book, mint(same))).to.deep.equal(replay(used));
    });

    it("lets an idempotency key that comes with a replay name that transaction from then on", () => {
      const later = mint({ ...same, key: "later" });
      expect(decide(book, later)).to.deep.equal(replay(used, putIdempotencyKey(later.idempotencyKey, used, NOW)));
    });

    it("compares the receipt only if the call has one", () => {
      const receipted = { ...used, railReceipt: receiptNamed("NLJ7RT61SV") };
      const rows = givenBook({ accounts: [givenAccount({ id: accountId })], transactions: [receipted] });
      expect(decide(rows, mint(same))).to.deep.equal(replay(receipted));
      expect(decide(rows, mint({ ...same, receipt: "NLJ7RT61SV" }))).to.deep.equal(replay(receipted));
    });

    it("answers with the first transaction on whatever rail it went", () => {
      expect(wordOf(decide(book, mint({ ...same, rail: SLOW_RAIL })))).to.equal("replay");
    });

    for (const [what, command, differingFields] of [
      ["another type", redeem(same), ["type"]],
      ["another account", mint({ ...same, accountId: newAccountId() }), ["account_id"]],
      ["another amount", mint({ ...same, amount: "50.01" }), ["amount"]],
      ["another description", mint({ ...same, description: "" }), ["description"]],
      ["other metadata", mint({ ...same, metadata: { till: "8", shop: "2" } }), ["metadata"]],
      ["a receipt that it had not", mint({ ...same, receipt: "NLJ7RT61SV" }), ["receipt"]],
      [
        "nothing the same",
        redeem(movement({ reference: "earlier", accountId: newAccountId(), amount: "1" })),
        ["type", "account_id", "amount", "description", "metadata"],
      ],
    ] as const) {
      it(`refuses ${what}, and names the transaction and what differs`, () => {
        expectRefused(decide(book, command), {
          reason: "REFERENCE_ALREADY_USED",
          transactionId: used.id,
          differingFields,
        });
      });
    }

    it("takes the reference in another organization", () => {
      const stranger = givenAccount({ organizationId: STRANGER });
      const command = redeem({ ...same, organizationId: STRANGER, accountId: stranger.id });
      expect(wordOf(decide({ accounts: [stranger], transactions: [used] }, command))).to.equal("effect");
    });
  });

  describe("with an idempotency key that was used", () => {
    const account = givenAccount({ id: accountId });
    const first = givenTransaction({ accountId });
    const second = givenTransaction({ accountId, reference: valid(parseReference("second")) });
    const book = (resourceId: LedgerAccount["id"] | Transaction["id"]): ReturnType<typeof givenBook> =>
      givenBook({
        accounts: [account],
        transactions: [first, second],
        idempotencyKeys: [usedKey(resourceId)],
      });

    const same = { reference: "earlier", key: "k" };

    it("answers the same content with the transaction that it made", () => {
      expect(decide(book(first.id), mint(movement(same)))).to.deep.equal(replay(first));
    });

    for (const [what, command] of [
      ["with a new reference", mint(movement({ ...same, reference: "new" }))],
      ["with a reference that has another transaction", mint(movement({ ...same, reference: "second" }))],
      ["with another type", redeem(movement(same))],
      ["with another account", mint(movement({ ...same, accountId: newAccountId() }))],
      ["with another amount", mint(movement({ ...same, amount: "50.01" }))],
      ["with another description", mint(movement({ ...same, description: "rent" }))],
      ["with other metadata", mint(movement({ ...same, metadata: { till: "7" } }))],
    ] as const) {
      it(`refuses it ${what}`, () => {
        expectRefused(decide(book(first.id), command), { reason: "IDEMPOTENCY_KEY_REUSED" });
      });
    }

    it("refuses it when it made an account", () => {
      const reused = decide(book(accountId), mint(movement(same)));
      expect(wordOf(reused)).to.equal("IDEMPOTENCY_KEY_REUSED");
    });

    it("does as if there were none when it is a new one", () => {
      const moved = decide(book(first.id), mint(movement({ key: "fresh" })));
      expect(putOf(effectOf(moved), "idempotencyKeys")?.key).to.equal("fresh");
    });
  });

  // What was done before is answered, whatever became of the account since.
  for (const given of [
    { status: "FROZEN" },
    { status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS },
    { availableCents: NO_CENTS },
  ] as const) {
    it(`replays before it looks at the account: ${JSON.stringify(given)}`, () => {
      const redeemed = givenTransaction({ accountId, type: "REDEEM" });
      const book = givenBook({ accounts: [givenAccount({ id: accountId, ...given })], transactions: [redeemed] });
      const again = decide(book, redeem(movement({ reference: "earlier" })));
      expect(again).to.deep.equal(replay(redeemed));
    });
  }

  const used = givenTransaction({ accountId: newAccountId() });
  const keyed = [usedKey(used.id)];
  const empty = { availableCents: NO_CENTS, heldCents: NO_CENTS };
  const full = { availableCents: subtractCents(MAX_CENTS, toCents(2_000)), heldCents: toCents(2_000) };
  const stranger = { organizationId: STRANGER };
  const erased = erasedHolder({ id: accountId, organizationId: ORGANIZATION });
  const receipted = { ...givenTransaction({ accountId }), railReceipt: receiptNamed("NLJ7RT61SV") };
  const sums = (given: Partial<BookSums>): BookSums => ({ ...givenHead().sums, ...given });

  // The order of rows is the order of checks.
  const refusals: readonly [
    name: string,
    command: MoveMoney,
    rows: {
      keys?: typeof keyed;
      transactions?: Transaction[];
      account?: Partial<LedgerAccount>;
      holder?: AccountHolder;
      sums?: BookSums;
      receiptsRequiredSeq?: number;
    },
    facts: object,
  ][] = [
    [
      "refuses a used idempotency key before looking at the reference",
      redeem(movement({ key: "k", reference: "earlier" })),
      { keys: keyed, transactions: [used] },
      { reason: "IDEMPOTENCY_KEY_REUSED" },
    ],
    [
      "refuses a used reference before looking for the account",
      redeem(movement({ key: "k", reference: "earlier" })),
      { transactions: [used], account: stranger },
      { reason: "REFERENCE_ALREADY_USED", transactionId: used.id, differingFields: ["type", "account_id"] },
    ],
    [
      "refuses another organization's account, whatever its status",
      redeem(movement()),
      { account: { ...stranger, status: "CLOSED", ...empty } },
      { reason: "ACCOUNT_NOT_FOUND", accountId },
    ],
    [
      "refuses an account that does not exist",
      redeem(movement({ accountId: used.accountId })),
      {},
      { reason: "ACCOUNT_NOT_FOUND", accountId: used.accountId },
    ],
    [
      "refuses to redeem from a closed account before looking at funds",
      redeem(movement()),
      { account: { status: "CLOSED", ...empty } },
      { reason: "ACCOUNT_CLOSED", accountId },
    ],
    [
      "refuses to mint to a closed account",
      mint(movement()),
      { account: { status: "CLOSED", ...empty } },
      { reason: "ACCOUNT_CLOSED", accountId },
    ],
    [
      "refuses to redeem from a frozen account before looking at funds",
      redeem(movement()),
      { account: { status: "FROZEN", ...empty } },
      { reason: "ACCOUNT_FROZEN", accountId },
    ],
    [
      "refuses to mint to a frozen account before looking at the limit",
      mint(movement()),
      { account: { status: "FROZEN", ...full } },
      { reason: "ACCOUNT_FROZEN", accountId },
    ],
    [
      "refuses a frozen account before looking for the receipt",
      mint(movement({ receipt: "NLJ7RT61SV" })),
      { account: { status: "FROZEN" }, transactions: [receipted] },
      { reason: "ACCOUNT_FROZEN", accountId },
    ],
    [
      "refuses a frozen account before asking for a receipt",
      mint(movement()),
      { account: { status: "FROZEN" }, receiptsRequiredSeq: 1 },
      { reason: "ACCOUNT_FROZEN", accountId },
    ],
    [
      "asks for a receipt where receipts are required, before looking at the limit",
      mint(movement()),
      { account: full, receiptsRequiredSeq: 1 },
      { reason: "RECEIPT_REQUIRED" },
    ],
    [
      "asks for no receipt of a redemption",
      redeem(movement()),
      { account: empty, receiptsRequiredSeq: 1 },
      { reason: "INSUFFICIENT_FUNDS", availableCents: 0, requestedCents: 5_000 },
    ],
    [
      "refuses to mint with a receipt that the book has before looking at the limit",
      mint(movement({ receipt: "NLJ7RT61SV" })),
      { account: full, transactions: [receipted] },
      { reason: "RECEIPT_ALREADY_USED", receipt: "NLJ7RT61SV", transactionId: receipted.id, depositId: undefined },
    ],
    [
      "refuses to redeem with a receipt that the book has before looking at funds",
      redeem(movement({ receipt: "NLJ7RT61SV" })),
      { account: empty, transactions: [receipted] },
      { reason: "RECEIPT_ALREADY_USED", receipt: "NLJ7RT61SV", transactionId: receipted.id, depositId: undefined },
    ],
    [
      "refuses a frozen account before looking for a phone number",
      redeem(movement({ rail: SLOW_RAIL })),
      { account: { status: "FROZEN" }, holder: erased },
      { reason: "ACCOUNT_FROZEN", accountId },
    ],
    [
      "refuses to mint on a slow rail without a phone number before looking at the limit",
      mint(movement({ rail: SLOW_RAIL })),
      { account: full, holder: erased },
      { reason: "PHONE_NUMBER_MISSING", accountId },
    ],
    [
      "refuses to redeem on a slow rail without a phone number before looking at funds",
      redeem(movement({ rail: SLOW_RAIL })),
      { account: empty, holder: erased },
      { reason: "PHONE_NUMBER_MISSING", accountId },
    ],
    [
      "refuses to mint one cent past the limit, what is held included",
      mint(movement({ amount: "0.01" })),
      { account: full },
      { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS },
    ],
    [
      "refuses a mint past the limit on a slow rail too, before any money moves",
      mint(movement({ amount: "0.01", rail: SLOW_RAIL })),
      { account: full },
      { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS },
    ],
    [
      "refuses to mint past the limit of the account before looking at the organization's",
      mint(movement({ amount: "0.01" })),
      { account: full, sums: sums({ reserve: MAX_SUM_CENTS, available: MAX_SUM_CENTS }) },
      { reason: "LIMIT_EXCEEDED", accountId, limitCents: MAX_CENTS },
    ],
    [
      "refuses to mint one cent past the limit of the organization's reserve",
      mint(movement({ amount: "0.01" })),
      { sums: sums({ reserve: MAX_SUM_CENTS, unallocated: MAX_SUM_CENTS }) },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
    [
      "refuses to mint one cent past the limit of what the organization owes, though its reserve is smaller",
      mint(movement({ amount: "0.01", rail: SLOW_RAIL })),
      { sums: sums({ shortfall: MAX_SUM_CENTS, available: MAX_SUM_CENTS }) },
      { reason: "LIMIT_EXCEEDED", accountId: undefined, limitCents: MAX_SUM_CENTS },
    ],
    [
      "refuses to redeem one cent more than is available, though more is held",
      redeem(movement({ amount: "100.01" })),
      { account: { heldCents: toCents(10_000) } },
      { reason: "INSUFFICIENT_FUNDS", availableCents: 10_000, requestedCents: 10_001 },
    ],
    [
      "refuses to hold one cent more than is available",
      redeem(movement({ amount: "100.01", rail: SLOW_RAIL })),
      {},
      { reason: "INSUFFICIENT_FUNDS", availableCents: 10_000, requestedCents: 10_001 },
    ],
    [
      "refuses a redemption of more than is available before looking at what the rail can pay",
      redeem(movement({ amount: "100.01", rail: SLOW_RAIL, terms: { payable: WHOLE_SHILLINGS } })),
      {},
      { reason: "INSUFFICIENT_FUNDS", availableCents: 10_000, requestedCents: 10_001 },
    ],
    [
      "refuses an amount that the rail cannot pay, before looking at the age of the phone number",
      redeem(movement({ amount: "50.50", rail: SLOW_RAIL, terms: { payable: WHOLE_SHILLINGS, ...COOLING } })),
      { holder: { ...givenHolder(givenAccount({ id: accountId })), phoneNumberChangedAt: EARLIER } },
      {
        reason: "AMOUNT_NOT_PAYABLE",
        payable: WHOLE_SHILLINGS,
        nearest: { belowCents: 5_000, aboveCents: 5_100 },
      },
    ],
    [
      "refuses a rail that the organization cannot use, before looking for a phone number",
      { ...redeem(movement({ rail: SLOW_RAIL })), railTerms: undefined },
      { holder: erased },
      { reason: "RAIL_NOT_CONFIGURED", rail: SLOW_RAIL },
    ],
    [
      "refuses a frozen account before looking at the rail",
      { ...redeem(movement({ rail: SLOW_RAIL })), railTerms: undefined },
      { account: { status: "FROZEN" } },
      { reason: "ACCOUNT_FROZEN", accountId },
    ],
    [
      "refuses an amount that the rail cannot pay, before looking at whom it can reach",
      redeem(movement({ amount: "50.50", rail: SLOW_RAIL, terms: { payable: WHOLE_SHILLINGS, ...ABROAD } })),
      {},
      {
        reason: "AMOUNT_NOT_PAYABLE",
        payable: WHOLE_SHILLINGS,
        nearest: { belowCents: 5_000, aboveCents: 5_100 },
      },
    ],
    [
      "refuses a phone number that the rail cannot reach, before looking at its age",
      redeem(movement({ rail: SLOW_RAIL, terms: { ...ABROAD, ...COOLING } })),
      { holder: { ...givenHolder(givenAccount({ id: accountId })), phoneNumberChangedAt: EARLIER } },
      { reason: "PHONE_NUMBER_NOT_PAYABLE", rail: SLOW_RAIL },
    ],
    [
      "refuses to pay out to a phone number that was changed one millisecond too late",
      redeem(movement({ rail: SLOW_RAIL, terms: COOLING })),
      { holder: { ...givenHolder(givenAccount({ id: accountId })), phoneNumberChangedAt: EARLIER } },
      { reason: "PHONE_NUMBER_COOLING", accountId, until: NOW + 1 },
    ],
  ];
  for (const [name, command, rows, facts] of refusals) {
    it(name, () => {
      const { keys: idempotencyKeys = [], transactions = [], account: given, holder, ...head } = rows;
      const account = givenAccount({ id: accountId, ...given });
      const book = givenBook({
        books: [givenHead(head)],
        accounts: [account],
        accountHolders: [holder ?? givenHolder(account)],
        transactions,
        idempotencyKeys,
      });
      const decision = decide(book, command);
      expectRefused(decision, facts);
    });
  }

  describe("on a rail", () => {
    const payer = "+254733111222" as PhoneNumber;
    const account = givenAccount({ id: accountId });
    const paidBy = (payerPhoneNumber: PhoneNumber | undefined): MoveMoney =>
      mint(movement({ rail: SLOW_RAIL, key: "k", terms: { payerPhoneNumber } }));

    it("asks the payer of a mint, and pays a redemption to the account's own phone", () => {
      for (const [move, expected] of [
        [mint, payer],
        [redeem, givenPerson().phoneNumber],
      ] as const) {
        const command = move(movement({ rail: SLOW_RAIL, terms: { payerPhoneNumber: payer } }));
        const effect = effectOf(decide({ accounts: [account] }, command));
        expect(putOf(effect, "payments")?.number).to.equal(expected);
      }
    });

    const number = "+254733444555" as DestinationNumber;
    const standing = givenDestination({ accountId, kind: "PHONE", number });
    const cooling = givenDestination({ accountId, kind: "PHONE", number, usableAt: toUnixMillis(NOW + 1) });
    const toPay = [
      standing,
      cooling,
      givenDestination({ accountId, id: "dst_till" as DestinationId }),
      givenDestination({ accountId, id: "dst_gone" as DestinationId, number: undefined, removedAt: EARLIER }),
      givenDestination({ accountId: newAccountId(), id: "dst_other" as DestinationId }),
    ];
    const payTo = (destinationId: string, given: Partial<MoveMoney> = {}): MoveMoney => ({
      ...redeem(movement({ rail: SLOW_RAIL, terms: { ...COOLING, destinations: { PHONE: WHOLE_SHILLINGS } } })),
      destinationId: destinationId as DestinationId,
      ...given,
    });

    it("pays a redemption to the destination that it names, also while the account's own phone cools", () => {
      const holder = { ...givenHolder(account), phoneNumberChangedAt: NOW };
      const book = givenBook({ accounts: [account], accountHolders: [holder], destinations: toPay });
      const effect = effectOf(decide(book, payTo(standing.id)));
      expect(putOf(effect, "payments")).to.include({ numberKind: "PHONE", number, maskedNumber: "254******555" });
      expect(putOf(effect, "transactions")?.destinationId).to.equal(standing.id);
    });

    it("pays a till within the limits of tills, and not of phones", () => {
      const book = givenBook({ accounts: [account], destinations: toPay });
      const destinations = { TILL: { ...WHOLE_SHILLINGS, minCents: toCents(5) } };
      const { railTerms } = redeem(movement({ rail: SLOW_RAIL, terms: { phoneNumbers: /^$/, destinations } }));
      const effect = effectOf(decide(book, payTo("dst_till", { railTerms })));
      expect(putOf(effect, "payments")).to.include({ numberKind: "TILL", number: "5432321", maskedNumber: "****321" });
      const small = { TILL: { ...WHOLE_SHILLINGS, maxCents: toCents(100) } };
      const { railTerms: narrow } = redeem(movement({ rail: SLOW_RAIL, terms: { destinations: small } }));
      expect(wordOf(decide(book, payTo("dst_till", { railTerms: narrow })))).to.equal("AMOUNT_NOT_PAYABLE");
    });

    it("counts the cooling by the clock, whatever time the rows get", () => {
      const book = { accounts: [account], destinations: toPay };
      const tomorrow = toUnixMillis(NOW + 86_400_000);
      expect(wordOf(decide(book, payTo(cooling.id), tomorrow, NOW))).to.equal("DESTINATION_COOLING");
      expect(wordOf(decide(book, payTo(cooling.id), tomorrow, tomorrow))).to.equal("effect");
    });

    for (const [what, destinationId, reason] of [
      ["a destination that does not exist", "dst_none", "DESTINATION_NOT_FOUND"],
      ["a destination of another account", "dst_other", "DESTINATION_NOT_FOUND"],
      ["a destination that was removed", "dst_gone", "DESTINATION_NOT_FOUND"],
      ["a kind that the rail account does not pay", "dst_till", "DESTINATION_NOT_PAYABLE"],
      ["a destination that cools", cooling.id, "DESTINATION_COOLING"],
    ] as const) {
      it(`refuses ${what}`, () => {
        expect(wordOf(decide({ accounts: [account], destinations: toPay }, payTo(destinationId)))).to.equal(reason);
      });
    }

    it("pays no destination where the rail account allows no kind", () => {
      const book = givenBook({ accounts: [account], destinations: toPay });
      const { railTerms } = redeem(movement({ rail: SLOW_RAIL }));
      expect(wordOf(decide(book, payTo(standing.id, { railTerms })))).to.equal("DESTINATION_NOT_PAYABLE");
    });

    it("is another content with another destination, and with none", () => {
      const paid = givenPending({
        accountId,
        type: "REDEEM",
        reference: valid(parseReference("new")),
        destinationId: standing.id,
      });
      const book = givenBook({ accounts: [account], destinations: toPay, transactions: [paid] });
      expect(wordOf(decide(book, payTo(standing.id)))).to.equal("replay");
      for (const destinationId of [cooling.id, undefined]) {
        const decided = decide(book, payTo("", { destinationId })) as { refusal?: object };
        expect(decided.refusal).to.deep.include({ differingFields: ["destination_id"] });
      }
    });

    it("needs no phone number of the account where another payer is named", () => {
      const book = givenBook({ accounts: [account], accountHolders: [erasedHolder(account)] });
      const paidOut = redeem(movement({ rail: SLOW_RAIL, terms: { payerPhoneNumber: payer } }));
      expect(wordOf(decide(book, paidBy(payer)))).to.equal("effect");
      expect(wordOf(decide(book, paidOut))).to.equal("PHONE_NUMBER_MISSING");
    });

    for (const [what, move, changedAt, terms] of [
      ["pays out to a phone number whose change is old enough", redeem, EARLIER, { phoneCoolingMillis: NOW - EARLIER }],
      ["asks a new phone number of a mint at once", mint, NOW, COOLING],
    ] as const) {
      it(what, () => {
        const holder = { ...givenHolder(account), phoneNumberChangedAt: changedAt };
        const book = givenBook({ accounts: [account], accountHolders: [holder] });
        expect(wordOf(decide(book, move(movement({ rail: SLOW_RAIL, terms }))))).to.equal("effect");
      });
    }

    it("is the same content with the same payer, and another content with another one", () => {
      const paid = givenPending({ accountId, reference: valid(parseReference("new")) });
      const book = givenBook({
        accounts: [account],
        transactions: [paid],
        payments: [givenPayment(paid, { number: payer })],
        idempotencyKeys: [usedKey(paid.id)],
      });
      const other = paidBy("+254733111223" as PhoneNumber);
      expect(wordOf(decide(book, paidBy(payer)))).to.equal("replay");
      expect(wordOf(decide(book, paidBy(undefined)))).to.equal("replay");
      expect(wordOf(decide(book, other))).to.equal("IDEMPOTENCY_KEY_REUSED");
      const { refusal } = decide(book, { ...other, idempotencyKey: undefined }) as { refusal?: object };
      expect(refusal).to.deep.include({ differingFields: ["payer_phone_number"] });
    });

    it("compares the masked number once the payment has ended, and nothing without a payment", () => {
      const paid = givenPending({ accountId, reference: valid(parseReference("new")), status: "FAILED" });
      const masked = givenPayment(paid, { state: "ENDED", maskedNumber: maskPhone(payer) });
      for (const [payments, given, word] of [
        [[masked], payer, "replay"],
        [[masked], "+254733999222", "replay"],
        [[masked], "+254733111223", "REFERENCE_ALREADY_USED"],
        [[], "+254733111223", "replay"],
      ] as const) {
        const command = { ...paidBy(given as PhoneNumber), idempotencyKey: undefined };
        expect(wordOf(decide({ accounts: [account], transactions: [paid], payments }, command)), given).to.equal(word);
      }
    });

    it("compares the rail only if the command names it", () => {
      const paid = givenPending({ accountId, reference: valid(parseReference("new")), rail: SLOW_RAIL });
      const book = givenBook({ accounts: [account], transactions: [paid] });
      for (const [rail, isRailNamed, word] of [
        [SLOW_RAIL, true, "replay"],
        [DIRECT_RAIL, false, "replay"],
        [DIRECT_RAIL, undefined, "replay"],
        [DIRECT_RAIL, true, "REFERENCE_ALREADY_USED"],
      ] as const) {
        const command = { ...mint(movement({ rail })), ...(isRailNamed === undefined ? {} : { isRailNamed }) };
        expect(wordOf(decide(book, command)), `${rail} ${String(isRailNamed)}`).to.equal(word);
      }
      const { refusal } = decide(book, { ...mint(movement()), isRailNamed: true }) as {
        refusal?: object;
      };
      expect(refusal).to.deep.include({ differingFields: ["rail"] });
    });

    it("repeats a transaction on a rail that the organization can no longer use", () => {
      const paid = givenPending({ accountId, reference: valid(parseReference("new")), rail: SLOW_RAIL });
      const command = { ...mint(movement({ rail: SLOW_RAIL })), isRailNamed: true, railTerms: undefined };
      expect(wordOf(decide({ accounts: [account], transactions: [paid] }, command))).to.equal("replay");
    });

    it("reaches the payer's phone number in place of the account's", () => {
      const terms = { payerPhoneNumber: payer, phoneNumbers: /^\+254733/ };
      const book = givenBook({ accounts: [account] });
      const command = mint(movement({ rail: SLOW_RAIL, terms }));
      expect(wordOf(decide(book, command))).to.equal("effect");
      const other = { ...terms, payerPhoneNumber: "+255712345678" as PhoneNumber };
      const unreached = decide(book, mint(movement({ rail: SLOW_RAIL, terms: other })));
      expect(wordOf(unreached)).to.equal("PHONE_NUMBER_NOT_PAYABLE");
    });
  });
});

describe("a redemption beyond what is paid without a person", () => {
  const limits = (own: AmountLimits, ofTier: AmountLimits = {}): LimitsInForce => ({
    organization: { MINT: {}, REDEEM: own },
    tiers: new Map([[DEFAULT_TIER, { MINT: {}, REDEEM: ofTier }]]),
    since: EARLIER,
    usage: undefined,
  });
  const held = (inForce: LimitsInForce, given: Partial<Loaded> = {}, of: Partial<Movement> = {}) => {
    const usage = counted(usageAt(undefined, NOW), { type: "REDEEM", amountCents: toCents(3_000) });
    const book = givenBook({
      accounts: [givenAccount({ id: accountId, usage })],
      books: [givenHead({ limits: inForce })],
      ...given,
    });
    return effectOf(decide(book, redeem(movement({ rail: SLOW_RAIL, ...of }))));
  };
  const heldFor = (...given: Parameters<typeof held>): readonly string[] =>
    putOf(held(...given), "transactions")?.heldFor ?? [];
  const fifty = toCents(5_000);
  const less = toCents(4_999);

  it("is accepted, with its KESC held, and its rail is never due", () => {
    const effect = held(limits({}, { HELD_AMOUNT: less, HELD_DAY: less }));
    expect(effect.entries.map(({ kind, detail }) => [kind, detail])).to.deep.equal([
      ["transaction.pending", undefined],
      ["transaction.held", "AMOUNT,DAY"],
    ]);
    expect(effect.entries[1]?.posting).to.equal(undefined);
    expect(putOf(effect, "transactions")).to.deep.include({ status: "PENDING", heldFor: ["AMOUNT", "DAY"] });
    expect(putOf(effect, "payments")).to.include({ state: "READY", dueAt: NEVER_DUE });
    expect(putOf(effect, "accounts")).to.include({ availableCents: 5_000, heldCents: 7_000, openPayments: 1 });
    // It counts, so that many small ones are held, too.
    expect(putOf(effect, "accounts")?.usage?.day.REDEEM).to.equal(8_000);
  });

  for (const [what, own, ofTier, expected] of [
    ["of just the amount", {}, { HELD_AMOUNT: fifty }, []],
    ["of a cent more than the amount", {}, { HELD_AMOUNT: less }, ["AMOUNT"]],
    ["beyond that of the organization", { HELD_AMOUNT: less }, {}, ["AMOUNT"]],
    ["of just the sum of the day", {}, { HELD_DAY: toCents(8_000) }, []],
    ["of a cent more than the sum of the day", {}, { HELD_DAY: toCents(7_999) }, ["DAY"]],
    ["to a new number", {}, { HELD_NEW_DESTINATION: NO_CENTS }, ["NEW_DESTINATION"]],
    ["of a little to a new number", {}, { HELD_NEW_DESTINATION: fifty }, []],
  ] as const) {
    it(`is held for ${expected.join() || "nothing"} if it is one ${what}`, () => {
      expect(heldFor(limits(own, ofTier))).to.deep.equal(expected);
    });
  }

  it("pays a number that was paid since it was set, and a destination that was paid, without a person", () => {
    const first = limits({}, { HELD_NEW_DESTINATION: NO_CENTS });
    const paid = (paidTo: AccountId | DestinationId, acceptedAt = EARLIER) => ({
      paidTo: [{ organizationId: ORGANIZATION, paidTo, acceptedAt }],
    });
    const holder = {
      accountHolders: [{ ...givenHolder(givenAccount({ id: accountId })), phoneNumberChangedAt: EARLIER }],
    };
    expect(heldFor(first, paid(accountId))).to.deep.equal([]);
    expect(heldFor(first, { ...paid(accountId), ...holder })).to.deep.equal([]);
    const before = toUnixMillis(EARLIER - 1);
    expect(heldFor(first, { ...paid(accountId, before), ...holder })).to.deep.equal(["NEW_DESTINATION"]);
  });

  for (const [what, changed, expected] of [
    ["its phone number", { phoneNumberChangedAt: NOW }, ["CHANGED"]],
    ["its e-mail address", { emailChangedAt: NOW }, ["CHANGED"]],
    [
      "neither for a week",
      { phoneNumberChangedAt: toUnixMillis(NOW - 7 * 86_400_000), emailChangedAt: toUnixMillis(0) },
      [],
    ],
  ] as const) {
    it(`is held for ${expected.join() || "nothing"} if the account has changed ${what}`, () => {
      const holder = { ...givenHolder(givenAccount({ id: accountId })), ...changed };
      const given = { accountHolders: [holder] };
      expect(heldFor(limits({ HELD_CHANGED: NO_CENTS }), given)).to.deep.equal(expected);
    });
  }

  it("waits for the check of the organization beside that, also within all amounts", () => {
    const checked = { payoutChecks: [STANDING_CHECK] };
    expect(heldFor(limits({}), checked)).to.deep.equal(["CHECK"]);
    expect(heldFor(limits({ HELD_AMOUNT: less }), checked)).to.deep.equal(["AMOUNT", "CHECK"]);
    const effect = held(limits({}), checked);
    expect(effect.entries[1]).to.include({ kind: "transaction.held", detail: "CHECK" });
    expect(putOf(effect, "payments")).to.include({ dueAt: NEVER_DUE });
    expect(heldFor(limits({}), checked, { rail: DIRECT_RAIL })).to.deep.equal([]);
  });

  it("is held, beside other reasons, if the list that holds has its account, its number or its destination", () => {
    const hash = "a".repeat(64);
    const list = (of: string) =>
      payoutListText({ hash: of, counts: { account: 1, number: 0, name: 0 }, by: "opr_a", since: EARLIER });
    const account = givenAccount({ id: accountId });
    const till = givenDestination({ accountId, kind: "TILL", number: "543232" as never });
    const number = `number ${givenHolder(account).person?.phoneNumber ?? ""}`;
    const all = [`account ${accountId}`, number, "number 543232"] as const;
    const listedFor = (
      texts: readonly string[],
      destinationId?: DestinationId,
      standing: string | undefined = list(hash),
    ): readonly string[] => {
      const book = givenBook({
        accounts: [account],
        books: [
          givenHead({
            limits: limits({ HELD_AMOUNT: less }),
            ...(standing === "" ? {} : { payoutList: standing }),
          }),
        ],
        destinations: [till],
        listed: all.map((text) => {
          return { organizationId: ORGANIZATION, text: text as never, lists: texts.includes(text) ? [hash] : [] };
        }),
      });
      const terms = { destinations: { TILL: WHOLE_SHILLINGS } };
      const command = { ...redeem(movement({ rail: SLOW_RAIL, terms })), destinationId };
      return putOf(effectOf(decide(book, command)), "transactions")?.heldFor ?? [];
    };
    expect(listedFor([])).to.deep.equal(["AMOUNT"]);
    for (const text of all) {
      expect(listedFor([text], till.id)).to.deep.equal(["AMOUNT", "LISTED"]);
    }
    expect(listedFor([number])).to.deep.equal(["AMOUNT", "LISTED"]);
    expect(listedFor(["number 543232"])).to.deep.equal(["AMOUNT"]);
    // A list that was stored holds nothing until it is set.
    expect(listedFor(all, undefined, list("b".repeat(64)))).to.deep.equal(["AMOUNT"]);
    expect(listedFor(all, undefined, "")).to.deep.equal(["AMOUNT"]);
  });

  it("is held if its number was not looked up: the same batch has changed it", () => {
    const payoutList = payoutListText({
      hash: "a".repeat(64),
      counts: { account: 0, number: 0, name: 1 },
      by: "opr_a",
      since: EARLIER,
    });
    const books = [givenHead({ payoutList })];
    expect(heldFor(limits({}), { books })).to.deep.equal(["LISTED"]);
  });

  it("is none on the direct rail, and no mint is", () => {
    const all = limits({ HELD_AMOUNT: NO_CENTS, HELD_DAY: NO_CENTS });
    expect(heldFor(all, {}, { rail: DIRECT_RAIL })).to.deep.equal([]);
    const book = givenBook({ accounts: [givenAccount({ id: accountId })], books: [givenHead({ limits: all })] });
    const minted = effectOf(decide(book, mint(movement({ rail: SLOW_RAIL }))));
    expect(putOf(minted, "transactions")?.heldFor).to.deep.equal([]);
  });
});
