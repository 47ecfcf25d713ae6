import { expect } from "chai";

import type { BookHead } from "../../../src/domain/book.js";
import type { Command } from "../../../src/domain/commands.js";
import type { Book, Lookup, UsedIdempotencyKey } from "../../../src/domain/decision.js";
import { decide, lookUp } from "../../../src/domain/operations/table.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { parseIdempotencyKey, parseReference, parseUserId } from "../../../src/domain/values/text.js";
import {
  cancel,
  changeStatus,
  createAccount,
  eraseAccount,
  mint,
  redeem,
  reverse,
  SLOW_RAIL,
  updateAccount,
  valid,
} from "../../support/commands.js";
import {
  EARLIER,
  effectOf,
  givenAccount,
  givenBook,
  givenHolder,
  givenPending,
  givenTransaction,
  NOW,
  ORGANIZATION,
} from "../../support/given.js";

const active = givenAccount();
const frozen = givenAccount({ status: "FROZEN" });
const empty = givenAccount({ availableCents: NO_CENTS, heldCents: NO_CENTS });
const pending = givenPending({ accountId: active.id });
const minted = givenTransaction({ accountId: active.id, reference: valid(parseReference("minted")) });
const rows = {
  accounts: [active, frozen, empty],
  // The user "user" has one account.
  accountHolders: [active, frozen, empty].map((account, index) =>
    givenHolder(account, index === 0 ? {} : { userId: valid(parseUserId(`user${String(index)}`)) }),
  ),
  transactions: [pending, minted],
  idempotencyKeys: [usedKey("account", active.id), usedKey("transaction", pending.id)],
};
const movement = { organizationId: ORGANIZATION, accountId: active.id, amount: "1.00", reference: "new" };

function usedKey(key: string, resourceId: AccountId | TransactionId): UsedIdempotencyKey {
  return { organizationId: ORGANIZATION, key: valid(parseIdempotencyKey(key)), resourceId, createdAt: EARLIER };
}

// One of each operation: a command without a line here does not compile.
const COMMANDS = {
  createAccount: [
    createAccount(ORGANIZATION, "new"),
    createAccount(ORGANIZATION, "user", { key: "k" }),
    createAccount(ORGANIZATION, "user", { key: "account" }),
  ],
  freezeAccount: [changeStatus("freezeAccount", ORGANIZATION, active.id)],
  unfreezeAccount: [changeStatus("unfreezeAccount", ORGANIZATION, frozen.id)],
  closeAccount: [changeStatus("closeAccount", ORGANIZATION, empty.id)],
  updateAccount: [updateAccount(ORGANIZATION, empty.id)],
  eraseAccount: [eraseAccount(ORGANIZATION, empty.id)],
  mint: [
    mint(movement),
    mint({ ...movement, reference: "earlier", key: "k" }),
    mint({ ...movement, key: "account" }),
    mint({ ...movement, rail: SLOW_RAIL }),
  ],
  redeem: [redeem(movement), redeem({ ...movement, key: "transaction", rail: SLOW_RAIL })],
  reverseTransaction: [
    reverse(ORGANIZATION, minted.id),
    reverse(ORGANIZATION, pending.id),
    reverse(ORGANIZATION, minted.id, { key: "transaction" }),
  ],
  cancelTransaction: [cancel(ORGANIZATION, pending.id)],
} as const satisfies Record<Command["name"], readonly Command[]>;

/** Every row that the lookup loads: those that it names, and those to which they lead. */
function loadedFor(command: Command): Set<string> {
  const loaded = new Set<string>();
  const add = (kind: string, id: string): void => {
    loaded.add(`${kind} ${id}`);
  };
  const resourceOf = (key: string): string[] =>
    rows.idempotencyKeys.filter((used) => used.key === key).map(({ resourceId }) => resourceId);
  const lookup: Lookup = {
    account: (id) => {
      add("account", id);
    },
    accountHolder: (id) => {
      add("account", id);
      add("holder", id);
    },
    accountOfUser: (_, userId) => {
      add("user", userId);
      for (const { accountId, person } of rows.accountHolders) {
        if (person?.userId === userId) lookup.accountHolder(accountId);
      }
    },
    transaction: (id) => {
      add("transaction", id);
      for (const { accountId } of rows.transactions.filter((row) => row.id === id)) lookup.account(accountId);
    },
    transactionWithReference: (_, reference) => {
      add("reference", reference);
    },
    idempotencyKey: (_, key) => {
      add("key", key);
      for (const id of resourceOf(key)) {
        add("account", id);
        add("transaction", id);
      }
    },
    idempotencyKeyOfAccount: (organizationId, key) => {
      lookup.idempotencyKey(organizationId, key);
      for (const id of resourceOf(key)) add("holder", id);
    },
  };
  lookUp(command, lookup);
  return loaded;
}

/** Notes every row that a decision asks for. The organization's book is loaded with every batch. */
class NotingBook implements Book {
  readonly asked: string[] = [];
  readonly #book = givenBook(rows);

  bookOf(organizationId: OrganizationId): BookHead {
    return this.#book.bookOf(organizationId);
  }
  account(...[organizationId, id]: Parameters<Book["account"]>): ReturnType<Book["account"]> {
    this.asked.push(`account ${id}`);
    return this.#book.account(organizationId, id);
  }
  accountHolder(...[organizationId, id]: Parameters<Book["accountHolder"]>): ReturnType<Book["accountHolder"]> {
    this.asked.push(`holder ${id}`);
    return this.#book.accountHolder(organizationId, id);
  }
  accountHolderOfUser(
    ...[organizationId, userId]: Parameters<Book["accountHolderOfUser"]>
  ): ReturnType<Book["accountHolderOfUser"]> {
    this.asked.push(`user ${userId}`);
    return this.#book.accountHolderOfUser(organizationId, userId);
  }
  transaction(...[organizationId, id]: Parameters<Book["transaction"]>): ReturnType<Book["transaction"]> {
    this.asked.push(`transaction ${id}`);
    return this.#book.transaction(organizationId, id);
  }
  transactionWithReference(
    ...[organizationId, reference]: Parameters<Book["transactionWithReference"]>
  ): ReturnType<Book["transactionWithReference"]> {
    this.asked.push(`reference ${reference}`);
    return this.#book.transactionWithReference(organizationId, reference);
  }
  resourceOfIdempotencyKey(
    ...[organizationId, key]: Parameters<Book["resourceOfIdempotencyKey"]>
  ): ReturnType<Book["resourceOfIdempotencyKey"]> {
    this.asked.push(`key ${key}`);
    return this.#book.resourceOfIdempotencyKey(organizationId, key);
  }
}

describe("a lookup", () => {
  for (const command of Object.values(COMMANDS).flat()) {
    it(`for ${command.name} names every row that the decision reads`, () => {
      const book = new NotingBook();
      decide(book, command, NOW);
      const loaded = loadedFor(command);
      expect(book.asked.filter((row) => !loaded.has(row))).to.deep.equal([]);
      expect(book.asked).not.to.deep.equal([]);
    });
  }
});

describe("a decision", () => {
  for (const [command, kind] of [
    [createAccount(ORGANIZATION, "new"), "account.created"],
    [changeStatus("freezeAccount", ORGANIZATION, active.id), "account.frozen"],
    [changeStatus("unfreezeAccount", ORGANIZATION, frozen.id), "account.unfrozen"],
    [changeStatus("closeAccount", ORGANIZATION, empty.id), "account.closed"],
    [updateAccount(ORGANIZATION, empty.id), "account.updated"],
    [eraseAccount(ORGANIZATION, empty.id), "account.erased"],
    [mint(movement), "transaction.completed"],
    [redeem(movement), "transaction.completed"],
    [redeem({ ...movement, rail: SLOW_RAIL }), "transaction.pending"],
    [reverse(ORGANIZATION, minted.id), "transaction.completed"],
    [cancel(ORGANIZATION, pending.id), "transaction.canceled"],
  ] as const) {
    it(`on ${command.name} goes into the journal as ${kind}`, () => {
      const book = givenBook(rows);
      expect(effectOf(decide(book, command, NOW)).entries[0]?.kind).to.equal(kind);
    });
  }
});
