import type { OperatorCommand } from "../../domain/operations.js";
import type { ResolveTransaction } from "../../domain/orders/resolve-transaction.js";
import type { Proposal } from "../../domain/proposal.js";
import { type Authority, contentFrom } from "../../domain/second-person.js";
import type { Actor } from "../../domain/values/actor.js";
import type { StatusReason } from "../../domain/values/text.js";
import { newIds } from "./acts.js";

interface Approver {
  readonly authority: Authority;
  readonly actor: Actor;
  /** The approver's own words. */
  readonly note: StatusReason;
}

/**
 * Returns the command that carries a proposal out. Undefined for the content of another version:
 * two versions may serve one database. Only the service writes such a content: the `mac` of the row
 * says so.
 */
export function commandOf(
  { content, organizationId }: Proposal,
  { note, ...by }: Approver,
): OperatorCommand | ResolveTransaction | undefined {
  const fields = contentFrom(content);
  if (fields === undefined) return undefined;
  const facts = newIds();
  // That of a resolution has no note: each person has an own one.
  const own = fields.name === "resolveTransaction" ? { note, newTransactionId: facts.newTransactionId } : { facts };
  return { ...fields, organizationId, ...by, ...own } as unknown as OperatorCommand | ResolveTransaction;
}
