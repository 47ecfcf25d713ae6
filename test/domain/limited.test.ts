import { expect } from "chai";

import { type LimitSet, NO_LIMITS, type TierName } from "../../src/domain/limits/limits.js";
import type { LimitsInForce } from "../../src/domain/limits/usage.js";
import { counted, type Usage, usageAt } from "../../src/domain/limits/usage.js";
import { toCents } from "../../src/domain/values/cents.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { decide, effectOf, putOf } from "../support/decided.js";
import {
  givenAccount,
  givenBook,
  givenHead,
  givenPayment,
  givenPending,
  givenTransaction,
  railAccount,
} from "../support/given.js";
import { EARLIER, NOW, ORGANIZATION, receiptNamed, SLOW_RAIL } from "../support/names.js";
import {
  cancel,
  completePayment,
  failPayment,
  mint,
  redeem,
  resolve,
  reverse,
} from "../support/operations/transactions.js";

// What a command does to the limits, whichever operation decides it.

const USED = counted(usageAt(undefined, NOW), { type: "MINT", amountCents: toCents(1_000) });

function limited({
  organization = NO_LIMITS,
  tier = NO_LIMITS,
  ...given
}: {
  readonly organization?: LimitSet;
  readonly tier?: LimitSet;
  readonly usage?: Usage;
  readonly since?: typeof NOW;
}): LimitsInForce {
  return { organization, tiers: new Map([["small" as TierName, tier]]), since: EARLIER, usage: USED, ...given };
}

const account = givenAccount({ tier: "small" as TierName, usage: USED });
const movement = { organizationId: ORGANIZATION, accountId: account.id, amount: "5.00", reference: "new" };

function bookWith(limits: LimitsInForce, rows: Parameters<typeof givenBook>[0] = {}) {
  const railAccounts = [railAccount(ORGANIZATION)];
  return givenBook({ books: [givenHead({ limits })], accounts: [account], railAccounts, ...rows });
}

describe("a limit", () => {
  for (const [what, limits, expected] of [
    [
      "of the account for one transaction",
      { tier: { MINT: { TRANSACTION: toCents(499) }, REDEEM: {} } },
      "TRANSACTION account",
    ],
    ["of the account for a day", { tier: { MINT: { DAY: toCents(1_499) }, REDEEM: {} } }, "DAY account"],
    [
      "of the organization for a month",
      { organization: { MINT: { MONTH: toCents(1_499) }, REDEEM: {} } },
      "MONTH organization",
    ],
    [
      "of the account before that of the organization",
      { tier: { MINT: { MONTH: toCents(1) }, REDEEM: {} }, organization: { MINT: { DAY: toCents(1) }, REDEEM: {} } },
      "MONTH account",
    ],
  ] as const) {
    it(`refuses a mint beyond it, on any rail: ${what}`, () => {
      for (const command of [mint(movement), mint({ ...movement, rail: SLOW_RAIL })]) {
        const decision = decide(bookWith(limited(limits)), command);
        const refusal = decision.kind === "refusal" ? decision.refusal : undefined;
        if (refusal?.reason !== "LIMIT_EXCEEDED") throw new Error(JSON.stringify(decision));
        const whose = refusal.accountId === undefined ? "organization" : "account";
        expect(`${String(refusal.reached?.period)} ${whose}`).to.equal(expected);
      }
    });
  }

  it("of redemptions stops no mint, and one of mints no redemption", () => {
    const ofMints = limited({ tier: { MINT: { DAY: toCents(0) }, REDEEM: {} } });
    expect(decide(bookWith(ofMints), redeem(movement)).kind).to.equal("effect");
    const ofRedemptions = limited({ tier: { MINT: {}, REDEEM: { TRANSACTION: toCents(0) } } });
    expect(decide(bookWith(ofRedemptions), mint(movement)).kind).to.equal("effect");
    expect(decide(bookWith(ofRedemptions), redeem(movement)).kind).to.equal("refusal");
  });

  it("counts what is accepted, for the account and the organization", () => {
    for (const command of [mint(movement), mint({ ...movement, rail: SLOW_RAIL })]) {
      const effect = effectOf(decide(bookWith(limited({})), command));
      expect(putOf(effect, "accounts")?.usage?.day.MINT).to.equal(1_500);
      expect(effect.limits?.usage?.month.MINT).to.equal(1_500);
    }
  });

  it("counts nothing before the organization has limits", () => {
    const effect = effectOf(decide({ accounts: [givenAccount({ id: account.id })] }, mint(movement)));
    expect(putOf(effect, "accounts")?.usage).to.equal(undefined);
    expect(effect).not.to.have.property("limits");
  });
});

describe("what failed, was canceled or is reversed", () => {
  const order = givenPending({ accountId: account.id, createdAt: NOW, amountCents: toCents(300) });
  const processing = { ...order, status: "PROCESSING", openFlags: ["OUTCOME_UNKNOWN"] } as const;
  const orders = (transaction: typeof order) => ({
    accounts: [{ ...account, openPayments: 1 }],
    transactions: [transaction],
    payments: [givenPayment(transaction, transaction === order ? {} : { state: "SENDING", begunAt: EARLIER })],
  });
  const minted = givenTransaction({ accountId: account.id, createdAt: NOW, amountCents: toCents(300) });
  const receipt = receiptNamed("r1");
  const cases = [
    ["canceled", orders(order), cancel(ORGANIZATION, order.id), 700],
    ["failed", orders(processing), failPayment(ORGANIZATION, order.id), 700],
    ["resolved as failed", orders(processing), resolve(ORGANIZATION, order.id, { kind: "FAILED" }), 700],
    [
      "resolved as moved otherwise",
      orders(processing),
      resolve(ORGANIZATION, order.id, { kind: "MOVED", receipt, amountCents: toCents(7) }),
      700,
    ],
    ["reversed", { transactions: [minted] }, reverse(ORGANIZATION, minted.id), 700],
    ["completed", orders(processing), completePayment(ORGANIZATION, order.id, { movement: "m1" }), 1_000],
    [
      "resolved as completed",
      orders(processing),
      resolve(ORGANIZATION, order.id, { kind: "COMPLETED", receipt }),
      1_000,
    ],
  ] as const;
  for (const [what, rows, command, expected] of cases) {
    it(`counts ${expected === 1_000 ? "still" : "no longer"} if it is ${what}`, () => {
      const effect = effectOf(decide(bookWith(limited({}), rows), command));
      expect(putOf(effect, "accounts")?.usage?.day.MINT).to.equal(expected);
      expect((effect.limits?.usage ?? USED).day.MINT).to.equal(expected);
    });

    it(`never counted if it was accepted before the first limits: ${what}`, () => {
      const limits = limited({ since: toUnixMillis(NOW + 1) });
      const effect = effectOf(decide(bookWith(limits, rows), command, toUnixMillis(NOW + 2)));
      expect(putOf(effect, "accounts")?.usage?.day.MINT).to.equal(1_000);
      expect(effect).not.to.have.property("limits");
    });
  }

  it("is not refused by a limit, nor counted, when it is a reversal", () => {
    const redeemed = givenTransaction({ accountId: account.id, type: "REDEEM", createdAt: NOW });
    const none = { MINT: { TRANSACTION: toCents(0) }, REDEEM: {} };
    const book = bookWith(limited({ tier: none, organization: none }), { transactions: [redeemed] });
    const effect = effectOf(decide(book, reverse(ORGANIZATION, redeemed.id)));
    expect(effect.limits?.usage?.day).to.include({ MINT: 1_000, REDEEM: -5_000 });
  });
});
