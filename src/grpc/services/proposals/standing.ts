import { FOUR_EYES_GROUPS, WIDENS_ALONE } from "../../../domain/authority.js";
import type { Change } from "../../../domain/change.js";
import type { Decider, Proposal } from "../../../domain/proposal.js";
import { changesIn } from "../../../domain/proposal-content.js";
import type { Actor } from "../../../domain/values/actor.js";
import type { ProposalId } from "../../../domain/values/ids.js";
import { NO_REASON } from "../../../domain/values/text.js";
import type { Caller } from "../../calls/call-context.js";
import { unlessChanged } from "../../calls/named-organization.js";
import { messageOf } from "../../errors/status.js";
import type { HandlersOptions } from "../operator-options.js";
import { commandOf, submitProposed } from "./commands-of-proposals.js";

/** What a proposal would change now, or why an approval would be refused. Both can be missing. */
export interface Standing {
  readonly standing: readonly Change[];
  readonly refusal: string | undefined;
}

const NOBODY = "";
const ALREADY_SO = "It is so already: an approval changes nothing. Reject the proposal.";

/** Decides a proposal that waits as if somebody proposed it now, and does nothing. */
export async function standingOf(
  options: HandlersOptions,
  id: ProposalId,
  caller: Caller<undefined>,
): Promise<Standing> {
  const { administration } = options;
  const found = await administration.foundProposal(id);
  if (found === undefined) return { standing: [], refusal: undefined };
  const { proposal } = found;
  const organization = found.organization && unlessChanged(found.organization);
  if (organization !== undefined && "reason" in organization) return { standing: [], refusal: messageOf(organization) };
  const authority = {
    person: NOBODY as Decider,
    mayApprove: false,
    groups: [...FOUR_EYES_GROUPS, WIDENS_ALONE],
    newProposalId: id,
  } as const;
  const command = commandOf(proposal, { authority, actor: NOBODY as Actor, note: NO_REASON });
  if (command === undefined) return { standing: [], refusal: undefined };
  const { sealed } = proposal;
  const dry = { ...command, shown: undefined, dryRun: true, ...(sealed === undefined ? {} : { sealed }) } as const;
  const outcome = await submitProposed(options, dry, { ...caller, organization });
  if (outcome.kind === "refused") return { standing: [], refusal: messageOf(outcome.refusal) };
  const proposed = (outcome.resource as { readonly proposal?: Proposal }).proposal;
  if (proposed !== undefined) return { standing: changesIn(proposed.content), refusal: undefined };
  return { standing: [], refusal: outcome.replayed ? ALREADY_SO : undefined };
}
