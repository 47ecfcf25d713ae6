import { type Authority, BOOK_GROUPS, type NewIds, WIDENS_ALONE } from "../../src/domain/authority.js";
import type { Command } from "../../src/domain/operations.js";
import type { Decider } from "../../src/domain/proposal.js";
import { OPERATOR } from "../../src/domain/values/actor.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { type IdempotencyKey, NO_REASON, parseIdempotencyKey } from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { newDepositId, newProposalId, newTransactionId, TEST_ACTOR, valid } from "./names.js";

// What the builders of commands in test/support/operations share.

/** Persons who have always had the role of every act. */
const ALWAYS_PROPOSERS = ["operator", "amina", "Amina", "brian", "carol", "dan", "mallory", "opr_a", "opr_b", "opr_c"];

/** A person who decides alone. */
export const ALONE: Authority = {
  person: "amina" as Decider,
  mayApprove: true,
  groups: [],
  newProposalId: newProposalId(),
  proposers: new Map(ALWAYS_PROPOSERS.map((person) => [person as Decider, toUnixMillis(0)])),
};

/** The person of a command, whom no policy lets decide alone. */
export function by(person: string, more: Partial<Authority> = {}): { readonly authority: Authority } {
  const groups = [WIDENS_ALONE, ...BOOK_GROUPS] as const;
  return { authority: { ...ALONE, groups, newProposalId: newProposalId(), person: person as Decider, ...more } };
}

type Named<C, Name> = C extends { readonly name: infer Own } ? (Name extends Own ? C : never) : never;
/** The command with this name. */
export type CommandOf<Name extends Command["name"]> = Named<Command, Name>;
/** Fields in place of defaults. */
export type Given<Name extends Command["name"]> = Partial<Omit<CommandOf<Name>, "name" | "organizationId">>;
export type Keyed<Name extends Command["name"]> = Given<Name> & { readonly key?: string };

/** Returns the command by TEST_ACTOR, unless the fields name another actor. */
export function build<Name extends Command["name"]>(
  name: Name,
  organizationId: OrganizationId,
  fields: Omit<CommandOf<Name>, "name" | "organizationId" | "actor">,
): CommandOf<Name> {
  return { name, organizationId, actor: TEST_ACTOR, ...fields } as unknown as CommandOf<Name>;
}

export interface ByPerson {
  readonly person?: string | undefined;
}

/** Returns the command of a person, without a note. Without `by`, it is one who decides alone. */
export function buildByPerson<Name extends Command["name"]>(
  name: Name,
  organizationId: OrganizationId,
  fields: Omit<CommandOf<Name>, "name" | "organizationId" | "actor" | "authority" | "note">,
  by?: ByPerson,
): CommandOf<Name> {
  const authority = by === undefined ? ALONE : authorityOf(by);
  const given = { authority, note: NO_REASON, ...fields } as unknown as Parameters<typeof build<Name>>[2];
  return build(name, organizationId, given);
}

/** Each call has a proposal of its own. */
export function authorityOf({ person = "amina" }: ByPerson): Authority {
  return { ...ALONE, person: person as Decider, newProposalId: newProposalId() };
}

export function keyOf(key: string | undefined): IdempotencyKey | undefined {
  return key === undefined ? undefined : valid(parseIdempotencyKey(key));
}

export function newIds(): NewIds {
  return { newDepositId: newDepositId(), newTransactionId: newTransactionId() };
}

/** Returns an act on a deposit as the machine's: no API key has one. Any other command stays. */
export function asOperator<C extends Command>(command: C): C {
  if (!("authority" in command) || !/Deposits?$/.test(command.name)) return command;
  const { authority, actor } = command;
  const person = authority.person === ALONE.person ? (OPERATOR as string as Decider) : authority.person;
  return { ...command, actor: actor === TEST_ACTOR ? OPERATOR : actor, authority: { ...authority, person } };
}
