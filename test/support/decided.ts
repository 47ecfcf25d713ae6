import { expect } from "chai";

import type { Decision, Effect, TableName, Tables } from "../../src/domain/decision.js";
import { type Command, decide as decideCommand, type Resource } from "../../src/domain/operations.js";
import { changesIn } from "../../src/domain/proposal-content.js";
import type { Refusal } from "../../src/domain/refusal.js";
import type { BatchBook } from "../../src/ledger/batch-book.js";
import type { Loaded } from "../../src/ledger/ports/store.js";
import { givenBook } from "./given.js";
import { asLookedUp } from "./looked-up.js";
import { NOW } from "./names.js";
import { mustBeModelled } from "./operations/table.js";
import { mustBeStorable } from "./stored.js";

// Decisions, and what tests expect of them.

/** The content that the proposal of a command has: the command, and what it changes. */
export function proposedContent(decision: Decision<unknown>): string {
  return putOf(effectOf(decision), "proposals")?.content ?? "";
}

/** The same command as an approver sends it: with what the proposal has shown. */
export function asShown<C>(command: C, content: string): C {
  return { ...command, shown: changesIn(content) };
}

/**
 * Decides the command over these rows, or over a book that has decided before. Throws if the ledger
 * would not have loaded what the decision reads, or would not store what it changes, or if it moves
 * money and the models of test/attack do not know the command.
 */
export function decide(
  given: BatchBook | Partial<Loaded>,
  command: Command,
  now = NOW,
  clock = now,
): Decision<Resource> {
  const book = "bookOf" in given ? given : givenBook(given);
  const decision = decideCommand(asLookedUp(book, command), command, now, clock);
  if (decision.kind === "effect") {
    mustBeStorable(book, decision.effect);
    mustBeModelled(command, decision.effect.entries);
  }
  return decision;
}

/** Expects the decision to write these rows of journal and tables, and to return the resource. */
export function expectWritten(
  decision: Decision<unknown>,
  { resource, ...effect }: Record<"resource" | "entries" | "puts", unknown>,
): void {
  expect(decision).to.deep.equal({ kind: "effect", resource, effect });
}

/** Expects the decision to refuse with this reason and these facts. */
export function expectRefused(decision: Decision<unknown>, refusal: object): void {
  expect(decision).to.deep.equal({ kind: "refusal", refusal });
}

/** A decision in one word: the reason of a refusal, or the decision's kind. */
export function wordOf(decision: Decision<unknown>): Refusal["reason"] | "effect" | "replay" {
  return decision.kind === "refusal" ? decision.refusal.reason : decision.kind;
}

/** The effect of a decision that must have one. */
export function effectOf(decision: Decision<unknown>): Effect {
  if (decision.kind !== "effect") throw new Error(`${wordOf(decision)}, where an effect was expected`);
  return decision.effect;
}

/** The row that the effect puts into the table; undefined when it puts none. */
export function putOf<Name extends TableName>(effect: Effect, table: Name): Tables[Name] | undefined {
  return putsOf(effect, table)[0];
}

/** The rows that the effect puts into the table. */
export function putsOf<Name extends TableName>(effect: Effect, table: Name): readonly Tables[Name][] {
  return effect.puts.filter((put) => put.table === table).map(({ row }) => row as Tables[Name]);
}
