import { expect } from "chai";

import {
  MONTH_ROWS_MAX,
  type MonthFacts,
  obstaclesOf,
  type StatementOfMonth,
} from "../../src/domain/month-obstacles.js";
import type { ReserveFigure } from "../../src/domain/reserve.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { Month } from "../../src/domain/values/month.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";

const LAST_DAY = "2026-10-31" as NairobiDay;
const EARLIER = "2026-10-30" as NairobiDay;
const RECORD = "kesc reserve record org_1 --place 'KCB 1' --amount";

const FIGURE: ReserveFigure = {
  place: "KCB 1",
  amountCents: toCents(100),
  asOfDay: LAST_DAY,
  evidence: "statement 10",
  kind: "bank_kenya",
  documentSha256: undefined,
  maturesOn: undefined,
};
const OF_RAIL: StatementOfMonth = {
  of: "mpesa",
  isOfRail: true,
  problem: undefined,
  breaks: 0,
  doubts: [],
  unexplainedCents: 0n,
  lastDay: undefined,
  closing: undefined,
};
const OF_PLACE: StatementOfMonth = {
  ...OF_RAIL,
  of: "KCB 1",
  isOfRail: false,
  unexplainedCents: undefined,
  lastDay: LAST_DAY,
  closing: { cents: 100, day: LAST_DAY },
};
const READY: MonthFacts = {
  organizationId: "org_1",
  month: "2026-10" as Month,
  rows: 10,
  lastSeq: 12,
  sealedSize: 12,
  hasSealKey: true,
  isAlarmed: false,
  rails: ["mpesa"],
  figures: [FIGURE],
  places: ["KCB 1"],
  statements: [OF_RAIL, OF_PLACE],
};
const cash = { ...FIGURE, kind: "cash" } as const;

describe("what keeps a month from being closed", () => {
  for (const [what, given] of [
    ["all agrees", {}],
    ["the tie needs no statement of a rail without accounts", { rails: [], statements: [OF_PLACE] }],
    ["a place that is no bank has no statement", { figures: [cash], statements: [OF_RAIL] }],
    ["a rail has told no balance yet", { statements: [{ ...OF_RAIL, unexplainedCents: undefined }, OF_PLACE] }],
    [
      "the bank's file ends early, and closes with the figure",
      { statements: [OF_RAIL, { ...OF_PLACE, lastDay: EARLIER, closing: { cents: 100, day: EARLIER } }] },
    ],
    ["the bank's file tells no balance", { statements: [OF_RAIL, { ...OF_PLACE, closing: undefined }] }],
    [
      "the bank's file goes on",
      {
        statements: [
          OF_RAIL,
          { ...OF_PLACE, lastDay: "2026-11-02" as NairobiDay, closing: { cents: 1, day: "2026-11-02" as NairobiDay } },
        ],
      },
    ],
  ] as const satisfies readonly (readonly [string, Partial<MonthFacts>])[]) {
    it(`is nothing if ${what}`, () => {
      expect(obstaclesOf({ ...READY, ...given })).to.deep.equal([]);
    });
  }

  for (const [given, obstacle] of [
    [{ lastSeq: 0, figures: [], statements: [] }, "the book has no row of this month or before: name a later month"],
    [{ rows: MONTH_ROWS_MAX + 1 }, "it has 2000001 rows, and a pack takes 2000000: use kesc export ledger org_1"],
    [{ isAlarmed: true }, "sealed rows of the book were changed: kesc seal list shows the alarm, kesc verify the row"],
    [{ hasSealKey: false }, "there is no seal key: run kesc seal rotate, and restart the servers"],
    [{ sealedSize: 11 }, "its last row 12 is not sealed, but row 11 is: wait some minutes, and look at kesc seal list"],
    [{ statements: [OF_PLACE] }, "mpesa has no statement: add --statement 'mpesa=FILE'"],
    [{ statements: [OF_RAIL] }, "KCB 1 has no statement: add --statement 'KCB 1=FILE'"],
    [
      { statements: [{ ...OF_RAIL, breaks: 2 }, OF_PLACE] },
      "mpesa has 2 breaks: kesc reconcile mpesa FILE prints the act that ends each",
    ],
    [
      { statements: [OF_RAIL, { ...OF_PLACE, breaks: 1 }] },
      "KCB 1 has 1 breaks: kesc reconcile --place 'KCB 1' FILE prints the act that ends each",
    ],
    [
      { statements: [{ ...OF_RAIL, doubts: ["A row is missing."] }, OF_PLACE] },
      "the statement of mpesa is doubtful: A row is missing",
    ],
    [
      { statements: [{ ...OF_RAIL, problem: "it is no statement" }, OF_PLACE] },
      "the statement of mpesa cannot be compared: it is no statement",
    ],
    [
      { statements: [OF_RAIL, { ...OF_PLACE, problem: "it is no statement" }] },
      "the statement of KCB 1 cannot be compared: it is no statement",
    ],
    [
      { statements: [{ ...OF_RAIL, unexplainedCents: -150n }, OF_PLACE] },
      "the tie of mpesa leaves -1.50 unexplained: kesc reconcile mpesa FILE shows the tie",
    ],
    [
      { statements: [{ ...OF_RAIL, unexplainedCents: 150n }, OF_PLACE] },
      "the tie of mpesa leaves 1.50 unexplained: kesc reconcile mpesa FILE shows the tie",
    ],
    [
      { figures: [{ ...cash, asOfDay: EARLIER }], statements: [OF_RAIL] },
      `KCB 1 has no figure for 2026-10-31: ${RECORD} AMOUNT --as-of 2026-10-31 --kind cash --evidence TEXT`,
    ],
    [
      { figures: [], statements: [OF_RAIL] },
      `KCB 1 has no figure for 2026-10-31: ${RECORD} AMOUNT --as-of 2026-10-31 --kind bank_kenya --evidence TEXT`,
    ],
    [
      { statements: [OF_RAIL, { ...OF_PLACE, lastDay: EARLIER, closing: undefined }] },
      "the statement of KCB 1 ends on 2026-10-30: export it up to 2026-10-31 or later",
    ],
    [
      { statements: [OF_RAIL, { ...OF_PLACE, lastDay: undefined, closing: undefined }] },
      "the statement of KCB 1 ends on no day: export it up to 2026-10-31 or later",
    ],
    [
      { statements: [OF_RAIL, { ...OF_PLACE, closing: { cents: 101, day: LAST_DAY } }] },
      `the statement of KCB 1 closes otherwise: ${RECORD} 1.01 --as-of 2026-10-31 --kind bank_kenya --evidence TEXT`,
    ],
  ] as const satisfies readonly (readonly [Partial<MonthFacts>, string])[]) {
    it(`names an obstacle with its act: ${obstacle}`, () => {
      expect(obstaclesOf({ ...READY, ...given })).to.deep.equal([obstacle]);
    });
  }

  it("names all obstacles at once, in the order of the book, the rails and the places", () => {
    const facts = { ...READY, hasSealKey: false, sealedSize: 0, statements: [], figures: [FIGURE] };
    expect(obstaclesOf(facts).map((each) => each.split(" ").slice(0, 2).join(" "))).to.deep.equal([
      "there is",
      "its last",
      "mpesa has",
      "KCB 1",
    ]);
  });

  it("wants the figure 0.00 of an account that is overdrawn: nobody records less than nothing", () => {
    const statements = [OF_RAIL, { ...OF_PLACE, closing: { cents: -1, day: LAST_DAY } }];
    expect(obstaclesOf({ ...READY, statements })).to.have.length(1);
    expect(obstaclesOf({ ...READY, statements }).join()).to.include("--amount 0.00");
    expect(obstaclesOf({ ...READY, statements, figures: [{ ...FIGURE, amountCents: toCents(0) }] })).to.deep.equal([]);
  });
});
