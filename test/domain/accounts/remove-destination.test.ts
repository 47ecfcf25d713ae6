import { expect } from "chai";

import { replay } from "../../../src/domain/decision.js";
import { decide, effectOf, wordOf } from "../../support/decided.js";
import { givenAccount, givenBook, givenDestination } from "../../support/given.js";
import { EARLIER, newDestinationId, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { removeDestination } from "../../support/operations/accounts.js";

const account = givenAccount({ status: "CLOSED" });
const standing = givenDestination({ accountId: account.id });
const removed = givenDestination({ accountId: account.id, number: undefined, removedAt: EARLIER });
const book = givenBook({ accounts: [account], destinations: [standing, removed] });

describe("removing a destination", () => {
  it("deletes its number, keeps the rest, and writes a row that names it, also on a closed account", () => {
    const row = { ...standing, number: undefined, removedAt: NOW };
    const decided = decide(book, removeDestination(ORGANIZATION, account.id, standing.id));
    expect(decided).to.deep.include({ kind: "effect", resource: row });
    const { entries, puts } = effectOf(decided);
    expect(entries).to.have.lengthOf(1);
    expect(entries[0]).to.include({ kind: "destination.removed", detail: standing.id, accountId: account.id });
    expect(puts).to.deep.equal([
      { table: "accounts", row: { ...account, updatedAt: NOW } },
      { table: "destinations", row },
    ]);
  });

  it("is a replay for one that is removed", () => {
    const command = removeDestination(ORGANIZATION, account.id, removed.id);
    expect(decide(book, command)).to.deep.equal(replay(removed));
  });

  const other = givenAccount();
  for (const [name, accounts, accountId, destinationId, reason] of [
    ["an account that does not exist", [], account.id, standing.id, "ACCOUNT_NOT_FOUND"],
    ["a destination that does not exist", [account], account.id, newDestinationId(), "DESTINATION_NOT_FOUND"],
    ["a destination of another account", [other], other.id, standing.id, "DESTINATION_NOT_FOUND"],
    [
      "an account of another organization",
      [{ ...account, organizationId: STRANGER }],
      account.id,
      standing.id,
      "ACCOUNT_NOT_FOUND",
    ],
  ] as const) {
    it(`refuses ${name}`, () => {
      const command = removeDestination(ORGANIZATION, accountId, destinationId);
      expect(wordOf(decide({ accounts, destinations: [standing] }, command))).to.equal(reason);
    });
  }
});
