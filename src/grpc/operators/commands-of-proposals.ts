import type { Command, OperatorCommand } from "../../domain/commands.js";
import type { Proposal } from "../../domain/proposal.js";
import { type Authority, contentFrom } from "../../domain/second-person.js";
import type { Actor } from "../../domain/values/actor.js";
import type { StatusReason } from "../../domain/values/text.js";

interface Approver {
  readonly authority: Authority;
  readonly actor: Actor;
  /** The approver's own words. */
  readonly note: StatusReason;
}

/**
 * Returns the command that carries a proposal out. Undefined for the content of another version:
 * two versions may serve one database.
 */
export function commandOf(proposal: Proposal, { authority, actor }: Approver): Command | undefined {
  const { content, organizationId } = proposal;
  const fields = contentFrom(content);
  // Only the service writes such a content: the `mac` of the row says so.
  return fields === undefined
    ? undefined
    : ({ ...fields, organizationId, actor, authority } as unknown as OperatorCommand);
}
