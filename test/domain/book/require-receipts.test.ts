import { expect } from "chai";

import { requireReceipts } from "../../../src/domain/book/require-receipts.js";
import { ALONE } from "../../support/commands.js";
import { effectOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { NOW, ORGANIZATION } from "../../support/names.js";
import { requireReceipts as command } from "../../support/operations/book.js";

describe("requiring receipts", () => {
  for (const [isRequired, receiptsRequiredSeq, kind] of [
    [true, undefined, "organization.receipts_required"],
    [false, 1, "organization.receipts_optional"],
  ] as const) {
    it(`${kind} is a row of the book, and says how it is now`, () => {
      const book = givenBook({ books: [givenHead({ receiptsRequiredSeq })] });
      const decision = requireReceipts.decide(book, command(ORGANIZATION, isRequired), NOW, NOW);
      expect(effectOf(decision).entries.map((entry) => entry.kind)).to.deep.equal([kind]);
      expect(effectOf(decision).areReceiptsRequired).to.equal(isRequired);
      const after = decision.kind === "effect" ? decision.resource.resource : undefined;
      expect(after).to.include({ lastSeq: 2, receiptsRequiredSeq: isRequired ? 2 : undefined });
      book.apply(effectOf(decision));
      expect(wordOf(requireReceipts.decide(book, command(ORGANIZATION, isRequired), NOW, NOW))).to.equal("replay");
    });
  }

  it("needs a second person only to end it", () => {
    const authority = { ...ALONE, groups: ["rails"] } as const;
    const book = givenBook({ books: [givenHead({ receiptsRequiredSeq: 1 })] });
    const ended = requireReceipts.decide(book, { ...command(ORGANIZATION, false), authority }, NOW, NOW);
    expect(effectOf(ended).entries.map((entry) => entry.kind)).to.deep.equal(["book.proposed"]);
    const begun = requireReceipts.decide(
      givenBook({ books: [givenHead()] }),
      { ...command(ORGANIZATION), authority },
      NOW,
      NOW,
    );
    expect(effectOf(begun).areReceiptsRequired).to.equal(true);
  });
});
