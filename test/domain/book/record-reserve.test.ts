import { expect } from "chai";

import { toCents } from "../../../src/domain/values/cents.js";
import { formOf } from "../../support/bank-files.js";
import { ALONE } from "../../support/commands.js";
import { decide, effectOf, putOf, wordOf } from "../../support/decided.js";
import { givenPlace } from "../../support/given.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { recordReserve } from "../../support/operations/book.js";

const { asOfDay } = recordReserve(ORGANIZATION, "bank");
const place = givenPlace("bank", { asOfDay });

describe("recording the reserve", () => {
  for (const [what, reservePlaces] of [
    ["a new place", []],
    ["a known place", [{ ...place, amountCents: toCents(99) }]],
  ] as const) {
    it(`notes the figure of ${what} in the book`, () => {
      const effect = effectOf(decide({ reservePlaces }, recordReserve(ORGANIZATION, "bank")));
      expect(putOf(effect, "reservePlaces")).to.deep.equal({ ...place, recordedAt: NOW, seq: 2 });
      expect(effect.entries[0]).to.include({
        kind: "reserve.recorded",
        detail: JSON.stringify(["bank", 100, "2026-11-01", "statement", "other", null, null]),
      });
    });
  }

  it("is a row alone, if the place has a figure of a later day", () => {
    const earlier = recordReserve(ORGANIZATION, "bank", { asOfDay: "2026-10-31" as never });
    const decision = decide({ reservePlaces: [place] }, earlier);
    expect(effectOf(decision).puts).to.deep.equal([]);
    expect(effectOf(decision).entries[0]?.detail).to.include('"bank",100,"2026-10-31"');
  });

  it("keeps the kind of the place, unless it names another", () => {
    const bank = { ...place, kind: "bank_kenya" as const };
    const kindAfter = (kind: "cash" | undefined, reservePlaces = [bank]): unknown => {
      const command = recordReserve(ORGANIZATION, "bank", { kind, evidence: "x" });
      return putOf(effectOf(decide({ reservePlaces }, command)), "reservePlaces")?.kind;
    };
    const kinds = [kindAfter(undefined), kindAfter("cash"), kindAfter(undefined, [])];
    expect(kinds).to.deep.equal(["bank_kenya", "cash", "other"]);
  });

  it("keeps how the statements of the place are read", () => {
    const known = { ...place, statementForm: formOf({}) };
    const effect = effectOf(decide({ reservePlaces: [known] }, recordReserve(ORGANIZATION, "bank", { evidence: "x" })));
    expect(putOf(effect, "reservePlaces")?.statementForm).to.equal(known.statementForm);
  });

  for (const [what, given, expected] of [
    ["the same figure", {}, "replay"],
    ["another amount", { amountCents: toCents(0) }, "effect"],
    ["another day", { asOfDay: "2026-11-02" as never }, "effect"],
    ["other evidence", { evidence: "a letter" }, "effect"],
    ["another kind", { kind: "cash" }, "effect"],
    ["a document", { documentSha256: "a".repeat(64) }, "effect"],
    ["a day on which it matures", { maturesOn: asOfDay }, "effect"],
  ] as const) {
    it(`decides ${expected} about ${what}`, () => {
      const command = recordReserve(ORGANIZATION, "bank", given);
      expect(wordOf(decide({ reservePlaces: [place] }, command))).to.equal(expected);
    });
  }

  it("refuses one place more than an organization can have, and still takes figures of the others", () => {
    const reservePlaces = Array.from({ length: 50 }, (_, index) => ({ ...place, place: String(index) }));
    const decisions = ["bank", "7"].map((name) =>
      wordOf(decide({ reservePlaces }, recordReserve(ORGANIZATION, name, { evidence: "x" }))),
    );
    expect(decisions).to.deep.equal(["TOO_MANY_RESERVE_PLACES", "effect"]);
  });

  it("needs a second person if the policy says so", () => {
    const command = recordReserve(ORGANIZATION, "bank", { authority: { ...ALONE, groups: ["reserve"] } });
    expect(putOf(effectOf(decide({}, command)), "proposals")?.person).to.equal("amina");
  });
});
