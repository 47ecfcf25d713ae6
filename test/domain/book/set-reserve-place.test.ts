import { expect } from "chai";

import { formText } from "../../../src/domain/statement-form.js";
import { formOf } from "../../support/bank-files.js";
import { decide, effectOf, expectRefused, putOf, wordOf } from "../../support/decided.js";
import { ORGANIZATION } from "../../support/names.js";
import { recordReserve, setReservePlace } from "../../support/operations/book.js";

const FORM = formOf({ columns: { date: "Date", amount: "Amount" }, dateOrder: "DAY_FIRST", referencePattern: "FT.*" });
const RECORDED = effectOf(decide({}, recordReserve(ORGANIZATION, "KCB")));

describe("setting how the statements of a place are read", () => {
  const place = putOf(RECORDED, "reservePlaces");
  if (place === undefined) throw new Error("a figure makes a place");

  it("keeps it beside the figure of the place, and in a row of the book", () => {
    const effect = effectOf(decide({ reservePlaces: [place] }, setReservePlace(ORGANIZATION, "KCB", { form: FORM })));
    expect(putOf(effect, "reservePlaces")).to.deep.equal({ ...place, statementForm: FORM });
    expect(effect.entries[0]).to.include({
      kind: "reserve.place_set",
      detail: JSON.stringify(["KCB", formText(FORM)]),
    });
  });

  for (const [what, form, expected] of [
    ["the same form", FORM, "replay"],
    ["another source", { ...FORM, source: "kcb-2" }, "effect"],
    ["an account", { ...FORM, account: "123" }, "effect"],
    ["other columns", { ...FORM, columns: undefined }, "effect"],
    ["another order of dates", { ...FORM, dateOrder: "MONTH_FIRST" }, "effect"],
    ["another pattern", { ...FORM, referencePattern: undefined }, "effect"],
  ] as const) {
    it(`decides ${expected} about ${what}`, () => {
      const known = [{ ...place, statementForm: FORM }];
      expect(wordOf(decide({ reservePlaces: known }, setReservePlace(ORGANIZATION, "KCB", { form })))).to.equal(
        expected,
      );
    });
  }

  for (const [what, other] of [
    ["by its form", { place: "Equity", statementForm: FORM }],
    ["by its name", { place: "K C B", statementForm: undefined }],
  ] as const) {
    it(`refuses a source that another place has ${what}`, () => {
      const form = { ...FORM, source: other.statementForm?.source ?? "k-c-b" };
      const reservePlaces = [{ ...place, place: "金庫" }, place, { ...place, ...other }];
      const decision = decide({ reservePlaces }, setReservePlace(ORGANIZATION, "KCB", { form }));
      expectRefused(decision, { reason: "RESERVE_SOURCE_TAKEN", place: other.place });
    });
  }

  it("refuses a place without a figure: its name may be misspelled", () => {
    expect(wordOf(decide({ reservePlaces: [place] }, setReservePlace(ORGANIZATION, "KBC")))).to.equal(
      "RESERVE_PLACE_NOT_FOUND",
    );
  });
});
