import type { Acted } from "../../domain/authority.js";
import type { FieldCode } from "../../domain/values/parsed.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import type { AnyRefusal } from "../errors/refusal.js";

/** The result of an rpc, before it is encoded. */
export type RpcResult<Response> =
  | (CallHead & { readonly kind: "done"; readonly response: Response; readonly items?: ItemTally })
  | { readonly kind: "refused"; readonly refusal: AnyRefusal };

/** What the head of a call tells beside its response. */
export interface CallHead {
  /** Whether it was so before. Then nothing was written. */
  readonly replayed: boolean;
  /** The proposal that waits for a second person. Then nothing was done. */
  readonly proposalId?: string | undefined;
}

/** The counts of a call with many items. The log shows them. */
export interface ItemTally {
  readonly items: number;
  readonly refused: number;
  /** The first error that our own code threw for an item. */
  readonly thrown: unknown;
}

/** Makes the result of a call that cannot be a replay, such as a read. */
export function done<Response>(response: Response): RpcResult<Response> {
  return { kind: "done", response, replayed: false };
}

/** Makes the result of a call that is refused. */
export function refuse(refusal: AnyRefusal): Extract<RpcResult<never>, { kind: "refused" }> {
  return { kind: "refused", refusal };
}

/** Makes the result of a call of which one field is bad. */
export function refuseField(field: string, message: string, code: FieldCode): ReturnType<typeof refuse> {
  return refuse({ reason: "INVALID_FIELD", fields: [{ field, message, code }] });
}

/** The refusal of the machine by an rpc that only a person can call. */
export const NEEDS_PERSON: RpcResult<never> = refuse({ reason: "MISSING_OPERATOR_KEY" });

/** Makes the result of a call from the outcome of its command. */
export function resultOf<Resource, Response>(
  outcome: Outcome<Resource>,
  responseOf: (resource: Resource) => Response,
): RpcResult<Response> {
  return outcome.kind === "done"
    ? { kind: "done", response: responseOf(outcome.resource), replayed: outcome.replayed }
    : outcome;
}

/**
 * Makes the result of an operator's act. If the act waits for a second person, there is no
 * resource: `responseOf` makes the response without it.
 */
export function resultOfAct<Resource, Response>(
  outcome: Outcome<Resource>,
  responseOf: (acted: Resource) => Response,
): RpcResult<Response> {
  if (outcome.kind === "refused") return outcome;
  const { resource, replayed } = outcome;
  const proposalId = (resource as Partial<Acted<unknown>>).proposal?.id;
  return { kind: "done", response: responseOf(resource), replayed: replayed && proposalId === undefined, proposalId };
}
