import { typeidUnboxed } from "typeid-js";

import type { Organization } from "../../domain/api-key.js";
import type { ActedOf, OperatorCommand } from "../../domain/commands.js";
import type { Decider } from "../../domain/proposal.js";
import { type Authority, type Authorized, BOOK_GROUPS } from "../../domain/second-person.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import { actorOf, type Operator } from "../../operators/operator.js";
import type { Administration } from "../../operators/ports.js";
import type { Caller } from "../calls/call-context.js";
import { done, type RpcResult } from "../calls/rpc-result.js";
import type { ServedCell } from "../services/served-cell.js";
import type { HandlersOptions } from "./options.js";
import { proposalOfBook } from "./proposal-messages.js";
import type { ActResponse } from "./results.js";

export interface ActsOptions extends HandlersOptions {
  /** Returns the cell of an organization, whose ledger the server has for all calls. */
  readonly cellOf: (organization: Pick<Organization, "cell">) => Pick<ServedCell, "ledger" | "reads">;
}

/** Who calls. Undefined for the `kesc` command on the database. */
export type OperatorCaller = Caller<Operator | undefined>;

/** The fields of a command that an rpc gives. */
export type CommandFields<C extends OperatorCommand> = Omit<C, Exclude<keyof Authorized, "name" | "sealed">>;

/** What the ledger needs to know of a caller. A sandbox needs nobody for its keys and rails. */
export function authorityOf(
  { fourEyes }: Pick<Administration, "fourEyes">,
  by: Operator | undefined,
  { isSandbox }: Pick<Organization, "isSandbox">,
): Authority {
  const groups = by === undefined ? [] : BOOK_GROUPS.filter((group) => fourEyes.has(group));
  return {
    person: actorOf(by) as string as Decider,
    mayApprove: by?.roles.some((role) => role === "approver" || role === "admin") ?? true,
    groups: isSandbox ? groups.filter((group) => group !== "write_keys" && group !== "rails") : groups,
    newProposalId: typeidUnboxed("prp") as string as ProposalId,
  };
}

/**
 * Gives an act in the book of an organization to its ledger. `responseOf` makes the response of
 * what was done, or of the proposal.
 */
export async function act<C extends OperatorCommand, Response>(
  options: ActsOptions,
  { organizationId, fields }: { readonly organizationId: OrganizationId; readonly fields: CommandFields<C> },
  caller: OperatorCaller,
  responseOf: (resource: ActedOf<C> | undefined, rest: ActResponse, organization: Organization) => Response,
): Promise<RpcResult<Response>> {
  const { administration, cellOf } = options;
  const organization = await administration.organization(organizationId);
  if (organization === undefined) {
    return { kind: "refused", refusal: { reason: "ORGANIZATION_NOT_FOUND", organizationId } };
  }
  const authority = authorityOf(administration, caller.key, organization);
  const command = { ...fields, organizationId, actor: actorOf(caller.key), authority } as unknown as C;
  const { deadline, trace } = caller;
  const outcome = await cellOf(organization).ledger.submit<OperatorCommand>(command, deadline, {
    trace,
    operator: true,
  });
  if (outcome.kind === "refused") return outcome;
  const { resource, proposal } = outcome.resource;
  const unchanged = outcome.replayed && proposal === undefined;
  const message = proposal === undefined ? undefined : await proposalOfBook(options, { organization, proposal });
  return done(responseOf(resource as ActedOf<C> | undefined, { unchanged, proposal: message }, organization));
}
