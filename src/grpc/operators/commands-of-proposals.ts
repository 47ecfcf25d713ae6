import type { OperatorCommand, ResolveTransaction } from "../../domain/commands.js";
import { resolutionFrom } from "../../domain/operations/resolve-transaction.js";
import type { Proposal } from "../../domain/proposal.js";
import { type Authority, contentFrom } from "../../domain/second-person.js";
import type { Actor } from "../../domain/values/actor.js";
import type { TransactionId } from "../../domain/values/ids.js";
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
  { content, organizationId, subject }: Proposal,
  { note, ...by }: Approver,
): OperatorCommand | ResolveTransaction | undefined {
  if (subject.startsWith("txn_")) {
    const resolution = resolutionFrom(content);
    if (resolution === undefined) return undefined;
    const { newTransactionId } = newIds();
    const transactionId = subject as TransactionId;
    return { name: "resolveTransaction", organizationId, ...by, transactionId, newTransactionId, resolution, note };
  }
  const fields = contentFrom(content);
  if (fields === undefined) return undefined;
  return { ...fields, organizationId, ...by, facts: newIds() } as unknown as OperatorCommand;
}
