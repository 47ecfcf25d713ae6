import { expect } from "chai";

import { resumeOrganization, suspendOrganization } from "../../../src/domain/operations/suspend-organization.js";
import { suspension } from "../../support/commands.js";
import { effectOf, givenBook, givenHead, NOW, ORGANIZATION, wordOf } from "../../support/given.js";

describe("suspending an organization", () => {
  for (const [name, operation, suspendedSeq, kind] of [
    ["suspendOrganization", suspendOrganization, undefined, "organization.suspended"],
    ["resumeOrganization", resumeOrganization, 1, "organization.resumed"],
  ] as const) {
    const command = suspension(name, ORGANIZATION) as never;

    it(`${name} is a row of the book, and says how it is now`, () => {
      const book = givenBook({ books: [givenHead({ suspendedSeq })] });
      const decision = operation.decide(book, command, NOW);
      expect(effectOf(decision).entries.map((entry) => entry.kind)).to.deep.equal([kind]);
      expect(effectOf(decision).isSuspended).to.equal(suspendedSeq === undefined);
      const after = decision.kind === "effect" ? decision.resource.resource : undefined;
      expect(after).to.include({ lastSeq: 2, suspendedSeq: suspendedSeq === undefined ? 2 : undefined });
    });

    it(`${name} is a replay if it is so already`, () => {
      const book = givenBook({ books: [givenHead({ suspendedSeq: suspendedSeq === undefined ? 1 : undefined })] });
      expect(wordOf(operation.decide(book, command, NOW))).to.equal("replay");
    });
  }
});
