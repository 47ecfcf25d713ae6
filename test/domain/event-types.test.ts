import { expect } from "chai";

import { type EventPattern, matchesType, parseEventTypes, typesOf } from "../../src/domain/event-types.js";
import { JOURNAL_KINDS } from "../../src/domain/journal.js";

describe("parseEventTypes", () => {
  it("takes types, groups of types, and * for all, each once and in one order", () => {
    const patterns = ["transaction.*", "account.created", "transaction.*"];
    expect(parseEventTypes(patterns)).to.deep.equal({
      ok: true,
      value: { only: ["account.created", "transaction.*"] },
    });
    for (const all of [["*"], ["account.created", "*"]]) {
      expect(parseEventTypes(all)).to.deep.equal({ ok: true, value: { only: undefined } });
    }
    expect(parseEventTypes([])).to.deep.equal({ ok: true, value: undefined });
  });

  it("refuses what no event has, so that a typing error does not look like silence", () => {
    for (const pattern of ["transaction.complete", "transactions.*", "trans*", "*.completed", ".*", "**", ""]) {
      expect(parseEventTypes(["account.created", pattern]), pattern).to.include({ ok: false, code: "UNKNOWN_VALUE" });
    }
  });
});

describe("the types that a filter selects", () => {
  const pattern = (text: string): EventPattern => text as EventPattern;

  it("are those of its groups, and no others that only begin alike", () => {
    expect(matchesType(pattern("rail.*"), "rail.changed")).to.equal(true);
    expect(matchesType(pattern("rail.*"), "railway.built")).to.equal(false);
    expect(matchesType(pattern("rail.changed"), "rail.changed")).to.equal(true);
    expect(matchesType(pattern("rail.changed"), "rail.changed.again")).to.equal(false);
    const only = [pattern("key.*"), pattern("limits.set")];
    expect(typesOf({ only })).to.deep.equal(["key.created", "key.revoked", "limits.set"]);
  });

  it("are all of this version by their groups, and undefined for all", () => {
    const groups = new Set(JOURNAL_KINDS.map((kind) => `${kind.slice(0, kind.indexOf("."))}.*`));
    expect(typesOf({ only: [...groups].map(pattern) })).to.deep.equal(JOURNAL_KINDS);
    expect(typesOf({ only: undefined })).to.equal(undefined);
  });
});
