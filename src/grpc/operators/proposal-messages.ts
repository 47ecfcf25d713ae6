import { stateOfProposal } from "../../domain/proposal.js";
import { nameIn } from "../../domain/second-person.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { BookProposal, OperatorProposal } from "../../operators/ports.js";
import { namesOf, toProposal } from "./messages.js";
import type { HandlersOptions } from "./options.js";

export type ProposalMessage = ReturnType<typeof toProposal>;

/** Makes the message of a proposal, with the names of its people. */
export async function proposalMessage(
  { administration }: Pick<HandlersOptions, "administration">,
  proposal: OperatorProposal,
): Promise<ProposalMessage> {
  return toProposal(proposal, namesOf(await administration.operators()));
}

/** The same of a proposal that lies in a book. */
export function proposalOfBook(options: HandlersOptions, found: BookProposal): Promise<ProposalMessage> {
  return proposalMessage(options, shownOfBook(found, options));
}

/** Returns a proposal of a book as operators see it. */
export function shownOfBook(
  { organization, proposal }: BookProposal,
  { now }: Pick<HandlersOptions, "now">,
): OperatorProposal {
  const { id, content, person, proposedAt, expiresAt, decided } = proposal;
  return {
    id,
    type: nameIn(proposal),
    content,
    organizationId: organization.id,
    proposedBy: person,
    proposedAt,
    expiresAt,
    state: stateOfProposal(proposal, toUnixMillis(now())),
    decidedBy: decided?.by,
    decidedAt: decided?.at,
  };
}
