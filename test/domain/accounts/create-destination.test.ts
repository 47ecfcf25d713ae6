import { expect } from "chai";

import { replay, type ResourceId } from "../../../src/domain/decision.js";
import { type DestinationNumber, DESTINATIONS_MAX } from "../../../src/domain/destination.js";
import { type Description } from "../../../src/domain/values/text.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import type { BatchBook } from "../../../src/ledger/batch-book.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { decide, effectOf, expectWritten, putOf, wordOf } from "../../support/decided.js";
import {
  balancesOf,
  entryOf,
  erasedHolder,
  givenAccount,
  givenBook,
  givenDestination,
  usedKey,
} from "../../support/given.js";
import { EARLIER, newAccountId, newDestinationId, NOW, ORGANIZATION, STRANGER } from "../../support/names.js";
import { createDestination } from "../../support/operations/accounts.js";

const account = givenAccount();
const standing = givenDestination({ accountId: account.id });
const removed = givenDestination({ accountId: account.id, number: undefined, removedAt: EARLIER });
const [PHONE, PAYBILL] = ["+254712345678", "247247 0123456789"] as DestinationNumber[];

/** A book in which the key "k" names a resource. */
function bookWithKey(resourceId: ResourceId, rows: Partial<Loaded> = {}): BatchBook {
  return givenBook({ accounts: [account], ...rows, idempotencyKeys: [usedKey(resourceId)] });
}

describe("adding a destination to an account", () => {
  it("makes one that can be used after the time for cooling, and a row without its number", () => {
    const command = createDestination(ORGANIZATION, account.id, { coolingMillis: 60_000, key: "k" });
    const destination = givenDestination({
      id: command.newDestinationId,
      accountId: account.id,
      usableAt: toUnixMillis(NOW + 60_000),
      createdAt: NOW,
    });
    expectWritten(decide({ accounts: [account] }, command), {
      resource: destination,
      entries: [
        entryOf({
          accountId: account.id,
          kind: "destination.created",
          balancesAfter: balancesOf(account),
          detail: destination.id,
        }),
      ],
      puts: [
        { table: "accounts", row: { ...account, updatedAt: NOW } },
        { table: "destinations", row: destination },
        { table: "idempotencyKeys", row: usedKey(destination.id, NOW) },
      ],
    });
  });

  for (const [kind, number, masked] of [
    ["PHONE", PHONE, "254******678"],
    ["TILL", "5432321", "****321"],
    ["TILL", "54323", "*****"],
    ["PAYBILL", PAYBILL, "247247 *******789"],
    ["PAYBILL", "247247 A12", "247247 ***"],
  ] as const) {
    it(`keeps ${masked} for people, of the ${kind} ${String(number)}`, () => {
      const command = createDestination(ORGANIZATION, account.id, { kind, number: number as DestinationNumber });
      const effect = effectOf(decide({ accounts: [account] }, command));
      expect(putOf(effect, "destinations")?.maskedNumber).to.equal(masked);
    });
  }

  it("is a replay for the same kind and number, whatever the label, with a key that is new", () => {
    const command = createDestination(ORGANIZATION, account.id, { label: "other" as Description, key: "k" });
    const decided = decide({ accounts: [account], destinations: [standing] }, command);
    expect(decided).to.deep.include({ kind: "replay", resource: standing });
    const row = usedKey(standing.id, NOW);
    expect(decided).to.have.deep.nested.property("effect.puts", [{ table: "idempotencyKeys", row }]);
  });

  for (const [what, given] of [
    ["another number", { number: "5432322" as DestinationNumber }],
    ["another kind", { kind: "PAYBILL" }],
  ] as const) {
    it(`makes a second one for ${what}`, () => {
      const book = givenBook({ accounts: [account], destinations: [standing] });
      expect(wordOf(decide(book, createDestination(ORGANIZATION, account.id, given)))).to.equal("effect");
    });
  }

  it("makes a new one after the same number was removed, which cools again", () => {
    const book = givenBook({ accounts: [account], destinations: [removed] });
    const effect = effectOf(decide(book, createDestination(ORGANIZATION, account.id)));
    expect(putOf(effect, "destinations")?.usableAt).to.be.greaterThan(NOW);
  });

  for (const earlier of [standing, removed]) {
    it(`is a replay for the key of one that is ${earlier === removed ? "removed" : "not removed"}`, () => {
      const command = createDestination(ORGANIZATION, account.id, { key: "k" });
      const book = bookWithKey(earlier.id, { destinations: [earlier] });
      expect(decide(book, command)).to.deep.equal(replay(earlier));
    });
  }

  for (const [what, given] of [
    ["account", { accountId: newAccountId() }],
    ["kind", { kind: "PHONE" }],
    ["label", { label: "food" as Description }],
    ["number", { number: "5432322" as DestinationNumber }],
  ] as const) {
    it(`refuses the key with another ${what}`, () => {
      const command = createDestination(ORGANIZATION, account.id, { key: "k", ...given });
      const book = bookWithKey(standing.id, { destinations: [standing] });
      expect(wordOf(decide(book, command))).to.equal("IDEMPOTENCY_KEY_REUSED");
    });
  }

  it("refuses the key of a removed one with a number that it cannot have had", () => {
    const command = createDestination(ORGANIZATION, account.id, { key: "k", number: "5432999" as DestinationNumber });
    const book = bookWithKey(removed.id, { destinations: [removed] });
    expect(wordOf(decide(book, command))).to.equal("IDEMPOTENCY_KEY_REUSED");
  });

  it("refuses the key of something else", () => {
    const command = createDestination(ORGANIZATION, account.id, { key: "k" });
    expect(wordOf(decide(bookWithKey(newDestinationId()), command))).to.equal("IDEMPOTENCY_KEY_REUSED");
  });

  const closed = givenAccount({ status: "CLOSED" });
  const full = Array.from({ length: DESTINATIONS_MAX }, (_, index) =>
    givenDestination({ accountId: account.id, number: String(60_000 + index) as DestinationNumber }),
  );
  for (const [name, rows, accountId, reason] of [
    ["an account that does not exist", {}, account.id, "ACCOUNT_NOT_FOUND"],
    [
      "an account of another organization",
      { accounts: [{ ...account, organizationId: STRANGER }] },
      account.id,
      "ACCOUNT_NOT_FOUND",
    ],
    [
      "an account whose person was erased, before it looks at the status",
      { accounts: [closed], accountHolders: [erasedHolder(closed)] },
      closed.id,
      "ACCOUNT_ERASED",
    ],
    ["a closed account", { accounts: [closed] }, closed.id, "ACCOUNT_CLOSED"],
    [
      "one more than an account can have",
      { accounts: [account], destinations: [...full, removed] },
      account.id,
      "TOO_MANY_DESTINATIONS",
    ],
  ] as const) {
    it(`refuses ${name}`, () => {
      const decided = decide(rows, createDestination(ORGANIZATION, accountId));
      expect(wordOf(decided)).to.equal(reason);
    });
  }
});
