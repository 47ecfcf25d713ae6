import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import type { StoredPayment } from "../../src/settlement/ports/payments.js";
import type { RailAccount } from "../../src/settlement/ports/rail-accounts.js";
import { isExpired, isUnknownTooLong, maySendAgain } from "../../src/settlement/schedule.js";

const NOW = toUnixMillis(1_800_000_000_000);
const account = { beginWithinMillis: 120_000 } as RailAccount;

/** A payment that was accepted and begun so many milliseconds before the clock. */
function payment(direction: StoredPayment["direction"], agoMillis: number): StoredPayment {
  const at = toUnixMillis(NOW - agoMillis);
  return { direction, numberKind: "PHONE", acceptedAt: at, begunAt: at, checks: 1, advances: 0 } as StoredPayment;
}

describe("how long ago a payment was begun", () => {
  for (const [agoMillis, expired, unknown, again] of [
    // A clock of another server may be a little ahead.
    [-30_000, false, false, true],
    [0, false, false, true],
    [599_999, true, false, true],
    [600_000, true, false, false],
    [2 * 86_400_000, true, true, false],
    // Nobody knows how long ago a wrong clock has begun it: it is never sent again.
    [-60_001, true, true, false],
    [-86_400_000, true, true, false],
  ] as const) {
    it(`decides what may be done after ${String(agoMillis)} ms`, () => {
      expect(isExpired(payment("MINT", agoMillis), account, NOW)).to.equal(expired);
      expect(isUnknownTooLong(payment("REDEEM", agoMillis), NOW)).to.equal(unknown);
      expect(maySendAgain(payment("REDEEM", agoMillis), NOW)).to.equal(again);
    });
  }
});
