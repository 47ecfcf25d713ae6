import type { Submitted } from "../../../operators/ports.js";
import { refuse, type RpcResult } from "../../calls/rpc-result.js";

/** The refusal of the machine by an rpc that only a person can call. */
export const NEEDS_PERSON: RpcResult<never> = refuse({ reason: "MISSING_OPERATOR_KEY" });

/** Makes the result of an act. `responseOf` makes the response without a resource, too. */
export function resultOfSubmitted<Resource, Response>(
  submitted: Submitted<Resource>,
  responseOf: (resource: Resource | undefined) => Response,
): RpcResult<Response> {
  if (submitted.kind === "refused") return submitted;
  if (submitted.kind === "done") {
    return { kind: "done", response: responseOf(submitted.resource), replayed: !submitted.isNew };
  }
  return { kind: "done", response: responseOf(undefined), replayed: false, proposalId: submitted.proposal.id };
}
