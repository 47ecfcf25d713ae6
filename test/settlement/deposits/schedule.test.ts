import { expect } from "chai";

import type { RailAccountId } from "../../../src/domain/payment.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { causeOf, periodOf, waitAfter } from "../../../src/settlement/deposits/schedule.js";
import type { DueList } from "../../../src/settlement/ports/deposits.js";

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const NOON = Date.UTC(2026, 10, 22, 12);

/** Times are milliseconds from noon. */
function due(given: { read?: number; dueAt?: number; since?: number }): DueList {
  const at = (millis: number) => toUnixMillis(NOON + millis);
  return {
    railAccountId: "rail_1" as RailAccountId,
    organizationId: "org_1" as OrganizationId,
    since: at(given.since ?? -1_000 * HOUR),
    dueAt: at(given.dueAt ?? 0),
    readAt: given.read === undefined ? undefined : at(given.read),
  };
}

const hoursBack = (list: DueList): number => {
  const { from, to } = periodOf(list, toUnixMillis(NOON));
  expect(to).to.equal(NOON);
  return (to - from) / HOUR;
};

describe("the period of a list of received payments", () => {
  for (const [name, given, hours] of [
    ["is 4 hours longer than the time since the last reading", { read: -HOUR / 2 }, 4.5],
    ["is 48 hours for the first reading", {}, 48],
    ["is 48 hours for the first reading of a day", { read: -12 * HOUR - 1 }, 48],
    ["is as long as an outage on the same day", { read: -11 * HOUR }, 15],
    ["begins 4 hours before the registration at most", { since: -HOUR }, 5],
    ["does not end before it begins when a clock was set back", { read: HOUR }, 4],
  ] as const) {
    it(name, () => {
      expect(hoursBack(due(given))).to.equal(hours);
    });
  }
});

describe("the wait after a list of received payments", () => {
  for (const [name, given, cause, [fruitful, fruitless]] of [
    ["that was never read", {}, "a confirmation", [2 * MINUTE, 5 * SECOND]],
    ["that a confirmation asked for", { read: -MINUTE - 1 }, "a confirmation", [2 * MINUTE, 5 * SECOND]],
    ["that was read again after 5 s", { read: -5 * SECOND }, "a lag", [2 * MINUTE, 30 * SECOND]],
    ["that was read again after 30 s", { read: -30 * SECOND }, "a lag", [2 * MINUTE, 2 * MINUTE]],
    ["that was read again after 2 min", { read: -2 * MINUTE }, "a lag", [2 * MINUTE, 10 * MINUTE]],
    ["that was due", { read: -10 * MINUTE }, "the time", [10 * MINUTE, 10 * MINUTE]],
  ] as const) {
    it(`${name} is short if it brought something, or if it lags`, () => {
      const list = due(given);
      expect(causeOf(list)).to.equal(cause);
      expect([waitAfter(list, true), waitAfter(list, false)]).to.deep.equal([fruitful, fruitless]);
    });
  }
});
