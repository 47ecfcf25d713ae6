import fc from "fast-check";

import type { Command } from "../../../src/domain/operations.js";
import type { Decider } from "../../../src/domain/proposal.js";
import { MAX_CENTS } from "../../../src/domain/values/cents.js";
import type { AccountId, FreezeId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { newAccountId, newFreezeId, newProposalId, newTransactionId } from "../../support/names.js";
import type { Model } from "./model.js";

// What random steps are about: as the model knows it, and not by an id.

export const FULL = "full" as OrganizationId;
export const ORGANIZATIONS = ["first", "second", FULL] as OrganizationId[];

// There are few values of each kind, so that commands meet again.
export const organizationId = fc.constantFrom(
  "first",
  "first",
  "second",
  "second",
  FULL,
) as fc.Arbitrary<OrganizationId>;
export const user = fc.constantFrom("ann", "ben");
export const rarely = fc.integer({ min: 1, max: 16 }).map((dice) => dice === 16);
export const key = fc.oneof(
  { weight: 5, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom("k1", "k2", "k3", "k4", "k5", "k6") },
);
export const amountCents = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: MAX_CENTS - 300, max: MAX_CENTS }) },
);

/** Steps of one kind, and how often they are among all. */
export function weighted<Step>(
  weight: number,
  fields: { [Name in keyof Step]: fc.Arbitrary<Step[Name]> },
): { readonly weight: number; readonly arbitrary: fc.Arbitrary<Step> } {
  return { weight, arbitrary: fc.record(fields) };
}

/** The caller, and whether it names a thing of another organization. */
export interface Whose {
  readonly organizationId: OrganizationId;
  readonly ofStranger: boolean;
}

/** The command of another person, or of the one who has proposed it. */
export function agreeing(command: ReturnType<Model["waiting"]>[number], person: string): Command {
  const authority = { ...command.authority, person: person as Decider, newProposalId: newProposalId() };
  return command.name === "resolveTransaction"
    ? { ...command, authority, facts: { ...command.facts, newTransactionId: newTransactionId() } }
    : { ...command, authority };
}

export function accountIdOf({ user: userId, ...given }: Whose & { user: string }, model: Model): AccountId {
  const owned = ownedBy(given, model.accounts.values());
  // The accounts that were erased are no user's. A step about "ben" takes the newest of them, too.
  const isMeant = ({ person }: (typeof owned)[number]) => (person?.userId ?? "ben") === userId;
  return owned.findLast(isMeant)?.id ?? newAccountId();
}

/** A freeze of the account, standing or lifted; or one of another account. */
export function freezeIdOf(
  id: AccountId,
  { ofOtherAccount, age }: { readonly ofOtherAccount: boolean; readonly age: number },
  model: Model,
): FreezeId {
  const freezes = [...model.freezes.values()].filter(({ accountId }) => (accountId === id) !== ofOtherAccount);
  return freezes.at(-1 - age)?.id ?? newFreezeId();
}

export function transactionIdOf({ age, ...given }: Whose & { age: number }, model: Model): TransactionId {
  return ownedBy(given, model.transactions.values()).at(-1 - age)?.id ?? newTransactionId();
}

export function ownedBy<Row extends { organizationId: OrganizationId }>(
  { organizationId: caller, ofStranger }: Whose,
  rows: Iterable<Row>,
): Row[] {
  return [...rows].filter((row) => (row.organizationId === caller) !== ofStranger);
}
