import { expect } from "chai";

import { decide, effectOf, wordOf } from "../../support/decided.js";
import { givenBook, givenHead } from "../../support/given.js";
import { ORGANIZATION } from "../../support/names.js";
import { suspension } from "../../support/operations/book.js";

describe("suspending an organization", () => {
  for (const [name, suspendedSeq, kind] of [
    ["suspendOrganization", undefined, "organization.suspended"],
    ["resumeOrganization", 1, "organization.resumed"],
  ] as const) {
    const command = suspension(name, ORGANIZATION);

    it(`${name} is a row of the book, and says how it is now`, () => {
      const decision = decide({ books: [givenHead({ suspendedSeq })] }, command);
      expect(effectOf(decision).entries.map((entry) => entry.kind)).to.deep.equal([kind]);
      expect(effectOf(decision).isSuspended).to.equal(suspendedSeq === undefined);
      const after = { lastSeq: 2, suspendedSeq: suspendedSeq === undefined ? 2 : undefined };
      expect(decision).to.have.nested.property("resource.resource").that.includes(after);
    });

    it(`${name} is a replay if it is so already`, () => {
      const book = givenBook({ books: [givenHead({ suspendedSeq: suspendedSeq === undefined ? 1 : undefined })] });
      expect(wordOf(decide(book, command))).to.equal("replay");
    });
  }
});
