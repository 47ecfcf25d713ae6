import type { Submitted } from "../../operators/ports.js";
import { done, refuse, type RpcResult } from "../calls/rpc-result.js";
import type { HandlersOptions } from "./options.js";
import { type ProposalMessage, proposalMessage } from "./proposal-messages.js";

/** The refusal of the machine by an rpc that only a person can call. */
export const NEEDS_PERSON: RpcResult<never> = refuse({ reason: "MISSING_OPERATOR_KEY" });

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
  const proposal = await proposalMessage({ administration }, submitted.proposal);
  return done(responseOf(undefined, { unchanged: false, proposal }));
}

/** What the response of an act has beside its resource. */
export interface ActResponse {
  /** Whether it was so before. Then nothing was written. */
  readonly unchanged: boolean;
  readonly proposal: ProposalMessage | undefined;
}
