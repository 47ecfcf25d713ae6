import { parseOperatorId, type ProposalId } from "../../../domain/values/ids.js";
import type { Proposal as ProposalMessage } from "../../../gen/kesc/admin/v1/resources.js";
import { isConcerned } from "../../../operators/act.js";
import { hasKeptRole, type Operator } from "../../../operators/operator.js";
import type { OperatorProposal } from "../../../operators/ports.js";
import { rolesOfCommand } from "../../messages/contract.js";
import { namesOf, toProposal } from "../../messages/operators/messages.js";
import type { HandlersOptions } from "../operator-options.js";

/** Reads a proposal as it is now, with the names of its people. Undefined: there is none. */
export async function proposalNow(
  { administration }: Pick<HandlersOptions, "administration">,
  id: ProposalId,
): Promise<ProposalMessage | undefined> {
  const [found, operators] = await Promise.all([administration.proposal(id), administration.operators()]);
  return found && toProposal(lapsedIfRoleIsLost(found, operators), namesOf(operators));
}

/**
 * A proposal in a book lapses for ever when its operator is revoked, or loses the role of the act.
 */
export function lapsedIfRoleIsLost(proposal: OperatorProposal, operators: readonly Operator[]): OperatorProposal {
  const { state, organizationId, proposedBy, proposedAt, type } = proposal;
  if (state !== "PENDING" || organizationId === undefined || !parseOperatorId(proposedBy).ok) return proposal;
  const roles = rolesOfCommand(type);
  const operator = operators.find(({ id }) => id === proposedBy);
  const isPossible = operator !== undefined && hasKeptRole(operator, roles, proposedAt);
  return isPossible ? proposal : { ...proposal, state: "LAPSED" };
}

/** Returns whether the operator may approve the proposal: it is neither by nor about that one. */
export function isFor({ state, proposedBy, content }: OperatorProposal, operator: Operator | undefined): boolean {
  if (state !== "PENDING" || operator === undefined || operator.id === proposedBy) return false;
  if (isConcerned(operator, JSON.parse(content) as object)) return false;
  const deciding = rolesOfCommand("approveProposal");
  return operator.roles.some((role) => deciding.includes(role));
}
