import { expect } from "chai";

import {
  judgeRule,
  owedCents,
  type ReserveFigure,
  type ReserveRule,
  type RuleState,
  seenReserve,
} from "../../src/domain/reserve.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";

const day = (text: string): NairobiDay => text as NairobiDay;
const TODAY = day("2026-12-01");

function figure(amount: number, given: Partial<ReserveFigure> = {}): ReserveFigure {
  const terms = { kind: "treasury_bill", documentSha256: undefined, maturesOn: undefined } as const;
  return { place: "x", amountCents: toCents(amount), asOfDay: TODAY, evidence: "e", ...terms, ...given };
}

describe("what was seen of the reserve", () => {
  const owed = owedCents({ available: 700, held: 200, unallocated: 100 });
  const kes = { currency: "KES", availableCents: 600 };
  for (const [what, balances, places, seen] of [
    ["nothing, if nobody has seen any", [], [], undefined],
    ["nothing, if only other currencies were seen", [{ currency: "USD", availableCents: 9 }], [], undefined],
    ["what the rails have and what people recorded", [kes], [{ amountCents: toCents(300) }], [900n, -100n]],
    ["more than is owed", [kes, kes], [], [1_200n, 200n]],
  ] as const) {
    it(`is ${what}`, () => {
      const found = seenReserve(owed, { balances, places });
      expect(found && [found.seenCents, found.differenceCents]).to.deep.equal(seen);
    });
  }
});

describe("a rule of the reserve", () => {
  const cash = figure(900, { kind: "cash" });
  const cases: readonly (readonly [
    what: string,
    rule: Partial<ReserveRule>,
    figures: readonly ReserveFigure[],
    state: RuleState,
    reserveCents?: number,
  ])[] = [
    ["a share at its minimum", { shareMin: 30 }, [figure(300)], "HOLDS"],
    ["a cent less", { shareMin: 30 }, [figure(299), cash], "BROKEN"],
    ["a share at its maximum, of two places", { shareMax: 30 }, [figure(100), figure(200), cash], "HOLDS"],
    ["a cent more", { shareMax: 30 }, [figure(301)], "BROKEN"],
    ["a minimum kept and a maximum broken", { shareMin: 10, shareMax: 20 }, [figure(300)], "BROKEN"],
    ["a last day to mature", { daysMax: 30 }, [figure(1, { maturesOn: day("2026-12-31") })], "HOLDS"],
    ["a day more", { daysMax: 30 }, [figure(1, { maturesOn: day("2027-01-01") })], "BROKEN"],
    ["a bill that has matured", { daysMax: 0 }, [figure(1, { maturesOn: day("2026-11-30") })], "HOLDS"],
    ["a bill without its day", { daysMax: 30 }, [figure(1), figure(1, { maturesOn: TODAY })], "UNKNOWN"],
    ["a bill without its day, which no bound asks for", { shareMin: 0 }, [figure(1)], "HOLDS"],
    ["a figure of the last day", { shareMin: 1 }, [figure(300, { asOfDay: day("2026-11-24") })], "HOLDS"],
    [
      "an older one beside a new one",
      { shareMin: 1 },
      [figure(9), figure(9, { asOfDay: day("2026-11-23") })],
      "UNKNOWN",
    ],
    ["an old figure that would break it", { shareMax: 1 }, [figure(9, { asOfDay: day("2026-11-23") })], "UNKNOWN"],
    ["no figure of the kind", { shareMax: 30 }, [cash], "UNKNOWN"],
    ["a share of an empty reserve", { shareMax: 30 }, [figure(1)], "UNKNOWN", 0],
    ["a day of maturity beside an empty reserve", { daysMax: 1 }, [figure(1, { maturesOn: TODAY })], "HOLDS", -5],
  ];
  for (const [what, bounds, figures, state, reserveCents = 1_000] of cases) {
    it(`is ${state} with ${what}`, () => {
      const rule: ReserveRule = { kind: "treasury_bill", staleAfterDays: 7, ...bounds };
      const judged = judgeRule(rule, { figures, reserveCents, today: TODAY });
      expect(judged.state).to.equal(state);
      const own = figures.filter(({ kind }) => kind === "treasury_bill");
      expect(judged.amountCents).to.equal(own.reduce((sum, each) => sum + each.amountCents, 0));
      expect(judged.asOfDay).to.equal(own.map(({ asOfDay }) => asOfDay).sort()[0]);
    });
  }
});
