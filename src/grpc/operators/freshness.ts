import { isWhole } from "../../domain/api-key.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { type CallingOperator, isFresh } from "../../operators/session.js";
import type { RpcContract } from "../messages/contract.js";
import type { HandlersOptions } from "./options.js";

/** What decides whether a call needs a fresh session. */
export interface CheckedCall<Input> {
  readonly contract: Pick<RpcContract, "needsFresh">;
  readonly input: Input;
  readonly caller: CallingOperator | undefined;
  /** Whether this call only takes power away, although the rpc can give it. */
  readonly takesPowerAway?: ((input: Input) => boolean) | undefined;
}

/**
 * Returns whether a call must wait for a passkey: the rpc is one that needs a fresh session, and
 * that of the call is not. A call with a key needs none, and one about a sandbox organization, or a
 * proposal in its book, neither.
 */
export async function needsVerification<Input>(
  { administration, now }: HandlersOptions,
  { contract, input, caller, takesPowerAway }: CheckedCall<Input>,
): Promise<boolean> {
  if (!isStale(contract, caller, now) || takesPowerAway?.(input) === true) return false;
  const { organizationId, proposalId } = input as { organizationId?: OrganizationId; proposalId?: ProposalId };
  if (organizationId === undefined && proposalId === undefined) return true;
  const found =
    organizationId === undefined
      ? (await administration.bookProposal(proposalId as ProposalId))?.organization
      : await administration.organization(organizationId);
  return found === undefined || !isWhole(found) || !found.isSandbox;
}

/** Whether the rpc needs a fresh session, and the caller has one that is not. A key has none. */
export function isStale(
  { needsFresh }: Pick<RpcContract, "needsFresh">,
  caller: CallingOperator | undefined,
  now: () => number,
): boolean {
  const session = caller?.session;
  return needsFresh && session !== undefined && !isFresh(session, toUnixMillis(now()));
}
