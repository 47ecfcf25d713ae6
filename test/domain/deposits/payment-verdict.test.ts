import { expect } from "chai";

import type { LedgerAccount } from "../../../src/domain/account.js";
import type { BookHead } from "../../../src/domain/book.js";
import { verdictOf } from "../../../src/domain/deposits/payment-verdict.js";
import { type AmountLimits, NO_LIMITS } from "../../../src/domain/limits/limits.js";
import { MAX_CENTS, toCents } from "../../../src/domain/values/cents.js";
import { givenAccount, givenHead } from "../../support/given.js";
import { EARLIER, NOW } from "../../support/names.js";

const AMOUNT = toCents(100_00);

function headWith(mints: AmountLimits): BookHead {
  const organization = { ...NO_LIMITS, MINT: mints };
  return givenHead({ limits: { organization, tiers: new Map(), since: EARLIER, usage: undefined } });
}

describe("the verdict on a payment by hand", () => {
  // The order of the rows is the order of the checks.
  for (const [name, account, head, amountCents, verdict] of [
    ["is no account without one", undefined, givenHead(), undefined, "no account"],
    ["is no account for a closed one", givenAccount({ status: "CLOSED" }), givenHead(), undefined, "no account"],
    ["is no account for a frozen one", givenAccount({ status: "FROZEN" }), givenHead(), AMOUNT, "no account"],
    ["is a wrong amount that nobody can read", givenAccount(), givenHead(), undefined, "wrong amount"],
    [
      "is a wrong amount above a balance",
      givenAccount({ availableCents: MAX_CENTS }),
      givenHead(),
      AMOUNT,
      "wrong amount",
    ],
    ["is a wrong amount above a limit", givenAccount(), headWith({ DAY: toCents(99_99) }), AMOUNT, "wrong amount"],
    ["lets a payment pass up to the limit", givenAccount(), headWith({ DAY: AMOUNT }), AMOUNT, "can be credited"],
    ["lets a payment pass without limits", givenAccount(), givenHead(), AMOUNT, "can be credited"],
  ] as const satisfies readonly (readonly [string, LedgerAccount | undefined, BookHead, unknown, string])[]) {
    it(name, () => {
      expect(verdictOf({ head, account }, { amountCents }, NOW)).to.equal(verdict);
    });
  }
});
