import type { Authority } from "../../../domain/authority.js";
import type { OperatorCommand } from "../../../domain/operations.js";
import type { Proposal } from "../../../domain/proposal.js";
import { contentFrom } from "../../../domain/proposal-content.js";
import type { Actor } from "../../../domain/values/actor.js";
import type { StatusReason } from "../../../domain/values/text.js";
import { newIdsFor } from "../acts.js";

interface Approver {
  readonly authority: Authority;
  readonly actor: Actor;
  /** The approver's own words. */
  readonly note: StatusReason;
}

/**
 * Returns the command that carries a proposal out. Undefined for the content of a later version:
 * two versions may serve one database. Only the service writes such a content: the `mac` of the
 * row says so.
 */
export function commandOf(
  { content, organizationId }: Proposal,
  { note, ...by }: Approver,
): OperatorCommand | undefined {
  const fields = contentFrom(content);
  if (fields === undefined) return undefined;
  return { ...fields, organizationId, ...by, facts: { ...newIdsFor(fields), note } } as unknown as OperatorCommand;
}
