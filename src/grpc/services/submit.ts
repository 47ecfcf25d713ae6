import { typeidUnboxed } from "typeid-js";

import type { Authority } from "../../domain/authority.js";
import type { Command, ResourceOf } from "../../domain/operations.js";
import type { Decider } from "../../domain/proposal.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import { actorOf, type Caller } from "../calls/call-context.js";
import { resultOf, resultOfAct, type RpcResult } from "../calls/rpc-result.js";
import type { CellOf } from "./served-cell.js";

/** Returns the fields of a command that say whose it is, and who gives it. */
export function authorOf({ who, organization }: Caller): {
  readonly organizationId: OrganizationId;
  readonly actor: Actor;
} {
  return { organizationId: organization.id, actor: actorOf(who) };
}

/**
 * Returns what the ledger needs to know of a caller. A program needs no second person. Two keys of
 * one name are one person: they cannot approve each other.
 */
export function authorityOf({ who, authority }: Caller): Authority {
  if (authority !== undefined) return authority;
  if (who.kind !== "key") throw new Error("the gate has admitted an act without its authority");
  const newProposalId = typeidUnboxed("prp") as string as ProposalId;
  return { person: who.key.name as Decider, isOfKey: true, mayApprove: true, groups: [], newProposalId };
}

/**
 * Submits the command of a call, and makes the result of the call from its outcome. `responseOf`
 * makes the response without a resource, too, if an operator's act waits for a second person.
 */
export async function submit<Given extends Command, Response>(
  cellOf: CellOf,
  { who, organization, deadline, trace }: Caller,
  command: Given,
  responseOf: (resource: ResourceOf<Given>) => Response,
): Promise<RpcResult<Response>> {
  const isOfKey = who.kind === "key";
  const outcome = await cellOf(organization).ledger.submit(command, deadline, { trace, operator: !isOfKey });
  // To a program the response says that the act waits.
  return isOfKey ? resultOf(outcome, responseOf) : resultOfAct(outcome, responseOf);
}
