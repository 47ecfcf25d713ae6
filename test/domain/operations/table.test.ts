import { expect } from "chai";

import type { Account } from "../../../src/domain/account.js";
import type { Command } from "../../../src/domain/commands.js";
import type { Book, Lookup } from "../../../src/domain/decision.js";
import { decide, lookUp } from "../../../src/domain/operations/table.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { NO_CENTS } from "../../../src/domain/values/cents.js";
import { cancel, changeStatus, createAccount, mint, redeem, SLOW_RAIL } from "../../support/commands.js";
import { effectOf, givenAccount, givenBook, givenTransaction, NOW, ORGANIZATION } from "../../support/given.js";

const active = givenAccount();
const frozen = givenAccount({ status: "FROZEN" });
const empty = givenAccount({ availableCents: NO_CENTS, heldCents: NO_CENTS });
const pending = givenTransaction({ accountId: active.id, status: "PENDING", rail: SLOW_RAIL, completedAt: undefined });
const movement = { organizationId: ORGANIZATION, accountId: active.id, amount: "1.00", reference: "new" };

// One of each operation: a command without a line here does not compile.
const COMMANDS = {
  createAccount: [createAccount(ORGANIZATION, "new"), createAccount(ORGANIZATION, "user", { key: "k" })],
  freezeAccount: [changeStatus("freezeAccount", ORGANIZATION, active.id)],
  unfreezeAccount: [changeStatus("unfreezeAccount", ORGANIZATION, frozen.id)],
  closeAccount: [changeStatus("closeAccount", ORGANIZATION, empty.id)],
  mint: [mint(movement), mint({ ...movement, reference: "earlier", key: "k" })],
  redeem: [redeem(movement), redeem({ ...movement, key: "k", rail: SLOW_RAIL })],
  cancelTransaction: [cancel(ORGANIZATION, pending.id)],
} as const satisfies Record<Command["name"], readonly Command[]>;

/** Names every row that the lookup names, as one text each. */
function namedBy(command: Command): Set<string> {
  const named = new Set<string>();
  const add =
    (kind: string) =>
    (...parts: readonly string[]): void => {
      named.add([kind, ...parts.filter((part) => part !== ORGANIZATION)].join(" "));
    };
  const rows: Lookup = {
    account: add("account"),
    accountOfUser: add("user"),
    transaction: add("transaction"),
    transactionWithReference: add("reference"),
    idempotencyKey: add("key"),
  };
  lookUp(command, rows);
  return named;
}

/**
 * Notes every row that a decision asks for. What a row leads to (the account of a transaction) is
 * loaded with it.
 */
class NotingBook implements Book {
  readonly asked: string[] = [];
  readonly #book = givenBook({ accounts: [active, frozen, empty], transactions: [pending] });

  account(...[organizationId, id]: Parameters<Book["account"]>): Account | undefined {
    if (id !== pending.accountId || !this.asked.includes(`transaction ${pending.id}`)) this.asked.push(`account ${id}`);
    return this.#book.account(organizationId, id);
  }
  accountOfUser(...[organizationId, userId]: Parameters<Book["accountOfUser"]>): Account | undefined {
    this.asked.push(`user ${userId}`);
    return this.#book.accountOfUser(organizationId, userId);
  }
  transaction(...[organizationId, id]: Parameters<Book["transaction"]>): Transaction | undefined {
    this.asked.push(`transaction ${id}`);
    return this.#book.transaction(organizationId, id);
  }
  transactionWithReference(
    ...[organizationId, reference]: Parameters<Book["transactionWithReference"]>
  ): Transaction | undefined {
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
      const named = namedBy(command);
      expect(book.asked.filter((row) => !named.has(row))).to.deep.equal([]);
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
    [mint(movement), "transaction.completed"],
    [redeem(movement), "transaction.completed"],
    [redeem({ ...movement, rail: SLOW_RAIL }), "transaction.pending"],
    [cancel(ORGANIZATION, pending.id), "transaction.canceled"],
  ] as const) {
    it(`on ${command.name} goes into the journal as ${kind}`, () => {
      const book = givenBook({ accounts: [active, frozen, empty], transactions: [pending] });
      expect(effectOf(decide(book, command, NOW)).entries[0]?.kind).to.equal(kind);
    });
  }
});
