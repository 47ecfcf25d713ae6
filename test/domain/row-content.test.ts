import { expect } from "chai";

import type { JournalKind } from "../../src/domain/journal.js";
import { detailOf } from "../../src/domain/proposal.js";
import { contentOf } from "../../src/domain/proposal-content.js";
import { detailOfFigure, type ReserveFigure } from "../../src/domain/reserve.js";
import { contentOfRow } from "../../src/domain/row-content.js";
import { toCents } from "../../src/domain/values/cents.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import { ORGANIZATION } from "../support/names.js";
import { correctBook } from "../support/operations/corrections.js";

const FIGURE: ReserveFigure = {
  place: "KCB 1234",
  amountCents: toCents(75_000),
  asOfDay: "2026-11-30" as NairobiDay,
  evidence: "statement 11/2026",
  kind: "treasury_bill",
  documentSha256: undefined,
  maturesOn: undefined,
};

/** The detail of a row about a correction of 0.50. */
function detailOfAct(name: Parameters<typeof correctBook>[0], target: string): string {
  const command = correctBook(name, ORGANIZATION, { amountCents: 50, key: "c", target, direction: "in" });
  return detailOf({ subject: "s", person: command.authority.person, content: contentOf(command) });
}

describe("what a row says besides its posting", () => {
  const terms = { documentSha256: "9f".repeat(32), maturesOn: "2027-01-31" as NairobiDay };
  const figure = { place: "KCB 1234", statedCents: 75_000, asOfDay: "2026-11-30", evidence: "statement 11/2026" };
  for (const [kind, detail, said] of [
    ["account.frozen", undefined, {}],
    ["account.tiered", "gold", { detail: "gold" }],
    ["limits.set", '["amina","{\\"organization\\":{}}"]', { detail: '{"organization":{}}' }],
    ["reserve.recorded", detailOfFigure(FIGURE), { ...figure, detail: "treasury_bill" }],
    [
      "reserve.recorded",
      detailOfFigure({ ...FIGURE, ...terms }),
      { ...figure, detail: `treasury_bill, document ${terms.documentSha256}, matures 2027-01-31` },
    ],
    ["reserve.place_set", '["KCB 1234","{}"]', { place: "KCB 1234", detail: "{}" }],
    ["charge.recorded", "in 2300", { direction: "in" }],
    ["charge.recorded", "out 2300", { direction: "out" }],
    ["book.transferred", detailOfAct("explainTransfer", "r1"), { direction: "in", statedCents: 50 }],
    ["book.adjusted", detailOfAct("adjustMovement", "r1"), { direction: "in", movement: "r1" }],
    ["book.received", detailOfAct("bookReceipt", "r1"), {}],
    [
      "book.proposed",
      detailOfAct("adjustMovement", "r1"),
      { direction: "in", movement: "r1", statedCents: 50, detail: "adjustMovement" },
    ],
    ["book.proposal_approved", '["prp_1"]', { detail: '["prp_1"]' }],
  ] as const satisfies readonly (readonly [JournalKind, string | undefined, object])[]) {
    it(`${kind}: ${JSON.stringify(said)}`, () => {
      const content = contentOfRow({ kind, detail });
      expect(Object.fromEntries(Object.entries(content).filter(([, value]) => value !== undefined))).to.deep.equal(
        said,
      );
    });
  }
});
