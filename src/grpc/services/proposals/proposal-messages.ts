import type { Operator } from "../../../domain/operator.js";
import { HOUSE, unlessLapsed } from "../../../domain/people/people.js";
import type { Proposal } from "../../../domain/proposal.js";
import { nameIn } from "../../../domain/proposal-content.js";
import { parseOperatorId, type ProposalId } from "../../../domain/values/ids.js";
import type { Proposal as ProposalMessage } from "../../../gen/kesc/admin/v1/resources.js";
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
export function lapsedIfRoleIsLost(proposal: Proposal, operators: readonly Operator[]): Proposal {
  const { organizationId, person, content } = proposal;
  const isOfOperator = organizationId !== HOUSE && parseOperatorId(person).ok;
  return isOfOperator ? unlessLapsed(proposal, operators, rolesOfCommand(nameIn(content))) : proposal;
}

/** Returns whether the operator may approve the proposal: it is neither by nor about that one. */
export function isFor({ decided, person, content }: Proposal, operator: Operator | undefined): boolean {
  if (decided !== undefined || operator === undefined || (operator.id as string) === person) return false;
  if ((JSON.parse(content) as { readonly operatorId?: unknown }).operatorId === operator.id) return false;
  const deciding = rolesOfCommand("approveProposal");
  return operator.roles.some((role) => deciding.includes(role));
}
