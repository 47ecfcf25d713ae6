import { expect } from "chai";

import type { Acted } from "../../../src/domain/authority.js";
import { type Closing, readClosing } from "../../../src/domain/closing.js";
import type { Decision } from "../../../src/domain/decision.js";
import { contentOfRow } from "../../../src/domain/row-content.js";
import { decide, effectOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { closeMonth as command } from "../../support/operations/book.js";

describe("closing a month", () => {
  it("is a row of the book, which keeps what the pack needs", () => {
    const book = givenBook({ books: [givenHead(), givenHead({ organizationId: STRANGER })] });
    const decision = decide(book, command(ORGANIZATION)) as Decision<Acted<Closing>>;
    const { entries, puts } = effectOf(decision);
    const [entry] = entries;
    expect(entries).to.have.length(1);
    expect(puts).to.deep.equal([]);
    expect(entry).to.include({ kind: "month.closed", posting: undefined, recordedAt: NOW });
    expect(entry?.detail).to.match(/^\["2026-10",/);
    const closed = { month: "2026-10", lastSeq: 1, kept: { "manifest.json": "{}" } };
    expect(readClosing(entry?.detail ?? "")).to.deep.equal(closed);
    expect(contentOfRow({ kind: "month.closed", detail: entry?.detail })).to.deep.equal({
      detail: "2026-10, up to row 1",
    });
    const resource = decision.kind === "effect" ? decision.resource.resource : undefined;
    expect(resource).to.deep.equal({ ...closed, organizationId: ORGANIZATION, seq: 2, recordedAt: NOW });
  });

  it("happens once: a repeat returns the first closing, whatever it brings", () => {
    const book = givenBook({ books: [givenHead(), givenHead({ organizationId: STRANGER })] });
    book.apply(effectOf(decide(book, command(ORGANIZATION))));
    const other = command(ORGANIZATION);
    const again = { ...other, closed: { ...other.closed, lastSeq: 7, kept: {} } };
    const decision = decide(book, again) as Decision<Acted<Closing>>;
    expect(wordOf(decision)).to.equal("replay");
    expect(decision.kind === "replay" && decision.resource.resource).to.deep.include({ seq: 2, lastSeq: 1 });
    expect(wordOf(decide(book, command(STRANGER)))).to.equal("effect");
  });
});
