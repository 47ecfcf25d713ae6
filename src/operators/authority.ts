import { typeidUnboxed } from "typeid-js";

import type { Organization } from "../domain/api-key.js";
import { type Authority, type Authorized, FOUR_EYES_GROUPS, type NewIds, WIDENS_ALONE } from "../domain/authority.js";
import { actorOf, hasRoleSince, type Operator, type Role } from "../domain/operator.js";
import type { CreateOperator } from "../domain/people/create-operator.js";
import { HOUSE, PROPOSING_ROLES } from "../domain/people/people.js";
import type { Decider } from "../domain/proposal.js";
import { OPERATOR } from "../domain/values/actor.js";
import type { DepositId, OperatorId, ProposalId, TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { Administration } from "./ports.js";

const NOT_IN_SANDBOX: ReadonlySet<Authority["groups"][number]> = new Set(["write_keys", "rails", WIDENS_ALONE]);

/** For whom a command is decided. Undefined: for the house, whose people it is about. */
type DecidedFor = Pick<Organization, "isSandbox"> | undefined;

/** What a decision needs to know of a caller. A sandbox needs nobody for its keys and rails. */
export function authorityOfPerson(
  { fourEyes }: Pick<Administration, "fourEyes">,
  by: Operator | undefined,
  organization: DecidedFor,
): Authority {
  const groups: Authority["groups"] =
    by === undefined ? [] : [WIDENS_ALONE, ...FOUR_EYES_GROUPS.filter((group) => fourEyes.has(group))];
  return {
    person: actorOf(by) as string as Decider,
    mayApprove: by?.roles.some((role) => role === "approver" || role === "admin") ?? true,
    groups: organization?.isSandbox === true ? groups.filter((group) => !NOT_IN_SANDBOX.has(group)) : groups,
    newProposalId: typeidUnboxed("prp") as string as ProposalId,
  };
}

/**
 * Returns the authority for a command that can be equal to a proposal. It names those who may
 * propose the command, and since when they may.
 */
export async function authorityFor(
  administration: Pick<Administration, "fourEyes" | "operators">,
  by: Operator | undefined,
  { organization, roles }: { readonly organization: DecidedFor; readonly roles: readonly Role[] },
): Promise<Authority> {
  const proposers = new Map([[OPERATOR as string as Decider, 0 as UnixMillis]]);
  for (const operator of await administration.operators()) {
    const since = hasRoleSince(operator, roles);
    if (since !== undefined) proposers.set(operator.id as string as Decider, since);
  }
  return { ...authorityOfPerson(administration, by, organization), proposers };
}

/** What a command about people has beside its content. Without `by` it is the machine's. */
export async function ofHouse(
  administration: Pick<Administration, "fourEyes" | "operators">,
  by: Operator | undefined,
): Promise<Pick<Authorized, "organizationId" | "actor" | "authority"> & { readonly facts: CreateOperator["facts"] }> {
  const authority = await authorityFor(administration, by, { organization: undefined, roles: PROPOSING_ROLES });
  return { organizationId: HOUSE, actor: actorOf(by), authority, facts: newIds() };
}

/** The ids of what a command may make. They are no content of it, so an approval brings others. */
export function newIds(): NewIds & CreateOperator["facts"] {
  return {
    newDepositId: typeidUnboxed("dep") as string as DepositId,
    newOperatorId: typeidUnboxed("opr") as string as OperatorId,
    newTransactionId: typeidUnboxed("txn") as string as TransactionId,
  };
}
