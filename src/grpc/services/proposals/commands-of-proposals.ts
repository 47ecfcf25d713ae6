import type { Organization } from "../../../domain/api-key.js";
import type { Authority } from "../../../domain/authority.js";
import type { OperatorCommand } from "../../../domain/operations.js";
import type { PersonAct } from "../../../domain/people/operations.js";
import type { Proposal } from "../../../domain/proposal.js";
import { contentFrom } from "../../../domain/proposal-content.js";
import type { Actor } from "../../../domain/values/actor.js";
import type { StatusReason } from "../../../domain/values/text.js";
import type { Outcome } from "../../../ledger/ports/outcome.js";
import type { Caller } from "../../calls/call-context.js";
import { newIdsFor, submitAct } from "../acts.js";
import type { HandlersOptions } from "../operator-options.js";

interface Approver {
  readonly authority: Authority;
  readonly actor: Actor;
  /** The approver's own words. */
  readonly note: StatusReason;
}

type ProposedCommand = OperatorCommand | PersonAct;

/**
 * Returns the command that carries a proposal out. Undefined for the content of a later version:
 * two versions may serve one database. Only the service writes such a content: the `mac` of the
 * row says so.
 */
export function commandOf(
  { content, organizationId }: Proposal,
  { note, ...by }: Approver,
): ProposedCommand | undefined {
  const fields = contentFrom(content);
  if (fields === undefined) return undefined;
  const facts = { ...newIdsFor(fields), note };
  return { ...fields, organizationId, ...by, facts } as unknown as ProposedCommand;
}

/** Gives such a command to the ledger of the organization, or to the people of the house. */
export function submitProposed(
  options: HandlersOptions,
  command: ProposedCommand,
  {
    organization,
    ...caller
  }: Pick<Caller<undefined>, "deadline" | "trace"> & {
    readonly organization: Organization | undefined;
  },
): Promise<Outcome<unknown>> {
  return organization === undefined
    ? options.administration.submit(command as PersonAct)
    : submitAct(options, command as OperatorCommand, { ...caller, organization });
}
