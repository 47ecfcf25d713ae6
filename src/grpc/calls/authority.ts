import { typeidUnboxed } from "typeid-js";

import type { Organization } from "../../domain/api-key.js";
import { type Authority, BOOK_GROUPS, WIDENS_ALONE } from "../../domain/authority.js";
import type { Decider } from "../../domain/proposal.js";
import { OPERATOR } from "../../domain/values/actor.js";
import type { ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { actorOf, hasRoleSince, type Operator, type Role } from "../../operators/operator.js";
import type { Administration } from "../../operators/ports.js";

const NOT_IN_SANDBOX: ReadonlySet<Authority["groups"][number]> = new Set(["write_keys", "rails", WIDENS_ALONE]);

/** What the ledger needs to know of a caller. A sandbox needs nobody for its keys and rails. */
export function authorityOfPerson(
  { fourEyes }: Pick<Administration, "fourEyes">,
  by: Operator | undefined,
  { isSandbox }: Pick<Organization, "isSandbox">,
): Authority {
  const groups: Authority["groups"] =
    by === undefined ? [] : [WIDENS_ALONE, ...BOOK_GROUPS.filter((group) => fourEyes.has(group))];
  return {
    person: actorOf(by) as string as Decider,
    mayApprove: by?.roles.some((role) => role === "approver" || role === "admin") ?? true,
    groups: isSandbox ? groups.filter((group) => !NOT_IN_SANDBOX.has(group)) : groups,
    newProposalId: typeidUnboxed("prp") as string as ProposalId,
  };
}

/**
 * Returns the authority for a command that can be equal to a proposal. It names those who may
 * propose the command, and since when they may.
 */
export async function authorityFor(
  administration: Pick<Administration, "fourEyes" | "operators">,
  by: Operator | undefined,
  { organization, roles }: { readonly organization: Pick<Organization, "isSandbox">; readonly roles: readonly Role[] },
): Promise<Authority> {
  const proposers = new Map([[OPERATOR as string as Decider, 0 as UnixMillis]]);
  for (const operator of await administration.operators()) {
    const since = hasRoleSince(operator, roles);
    if (since !== undefined) proposers.set(operator.id as string as Decider, since);
  }
  return { ...authorityOfPerson(administration, by, organization), proposers };
}
