import type { Organization } from "../../domain/api-key.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { Administration, OperatorProposal, Submitted } from "../../operators/ports.js";
import { done, type RpcResult } from "../calls/rpc-result.js";
import { namesOf, toProposal } from "./messages.js";

/** What the handlers need. */
export interface HandlersOptions {
  readonly administration: Administration;
  readonly now: () => number;
}

type ProposalMessage = ReturnType<typeof toProposal>;

/** Makes the result of an act: of what was done, or of its proposal. */
export async function resultOfAct<Resource, Response>(
  { administration }: Pick<HandlersOptions, "administration">,
  submitted: Submitted<Resource>,
  responseOf: (resource: Resource | undefined, rest: ActResponse) => Response,
): Promise<RpcResult<Response>> {
  if (submitted.kind === "refused") return submitted;
  if (submitted.kind === "done") {
    return done(responseOf(submitted.resource, { unchanged: !submitted.isNew, proposal: undefined }));
  }
  const proposal = await proposalMessage(administration, submitted.proposal);
  return done(responseOf(undefined, { unchanged: false, proposal }));
}

interface ActResponse {
  readonly unchanged: boolean;
  readonly proposal: ProposalMessage | undefined;
}

export async function proposalMessage(
  administration: Pick<Administration, "operators">,
  proposal: OperatorProposal,
): Promise<ProposalMessage> {
  return toProposal(proposal, namesOf(await administration.operators()));
}

/** Makes the result of a read of one organization. */
export async function ofOrganization<Response>(
  { administration }: Pick<HandlersOptions, "administration">,
  organizationId: OrganizationId,
  read: (organization: Organization) => Promise<Response>,
): Promise<RpcResult<Response>> {
  const organization = await administration.organization(organizationId);
  return organization === undefined
    ? { kind: "refused", refusal: { reason: "ORGANIZATION_NOT_FOUND", organizationId } }
    : done(await read(organization));
}
