import { isWhole, type Organization } from "../../domain/api-key.js";
import type { ProposalId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { Administration } from "../../operators/ports.js";
import { type CallingOperator, isFresh } from "../../operators/session.js";
import type { RpcContract } from "../messages/contract.js";
import type { CheckedCall } from "./call-context.js";

/**
 * Returns whether a call must wait for a passkey: the rpc is one that needs a fresh session, and
 * that of the call is not. A call with a key needs none, and one about a sandbox organization, or a
 * proposal in its book, neither.
 */
export async function needsVerification(
  {
    administration,
    now,
  }: { readonly administration: Pick<Administration, "foundProposal">; readonly now: () => number },
  { contract, input, caller, takesPowerAway }: CheckedCall,
): Promise<boolean> {
  if (!isStale(contract, caller.who.operator, now) || takesPowerAway) return false;
  // The gate of operators reads the whole organization that a call names.
  const named = caller.organization as Organization | undefined;
  if (named !== undefined) return !named.isSandbox;
  const { proposalId } = input as { readonly proposalId?: ProposalId };
  if (proposalId === undefined) return true;
  const found = (await administration.foundProposal(proposalId))?.organization;
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
