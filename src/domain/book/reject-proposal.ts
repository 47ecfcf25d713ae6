import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { decidedProposal, type Decider, type Proposal } from "../proposal.js";
import { bookEntryOf, type Commanded, refusalToDecide } from "../second-person.js";
import type { ProposalId } from "../values/ids.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Ends a proposal. Nothing is done. */
export interface RejectProposal extends Commanded {
  readonly name: "rejectProposal";
  readonly proposalId: ProposalId;
  /** That of the proposal: it names the row. */
  readonly subject: string;
  readonly person: Decider;
  readonly note: StatusReason;
}

export const rejectProposal: Operation<RejectProposal, Proposal> = { lookup, decide, inSuspension: "always" };

function lookup({ subject }: RejectProposal, rows: Lookup): void {
  rows.need("proposal", subject);
}

/**
 * Ends a proposal without doing it. Its proposer may, too. The same again is a replay.
 *
 * Refuses, in this order: PROPOSAL_NOT_FOUND, PROPOSAL_CLOSED.
 */
function decide(book: Book, command: RejectProposal, now: UnixMillis): Decision<Proposal> {
  const { organizationId, proposalId, subject, person, note: reason } = command;
  const proposal = book.proposal(organizationId, subject);
  if (proposal?.id !== proposalId) return refuse({ reason: "PROPOSAL_NOT_FOUND", proposalId });
  const closed = refusalToDecide(proposal, { person, now, as: "REJECTED" });
  if (closed === "ALREADY_SO") return replay(proposal);
  if (closed !== undefined) return refuse(closed);
  const row = decidedProposal(proposal, "REJECTED", { by: person, at: now });
  const kind = "book.proposal_rejected";
  const entry = bookEntryOf({ ...command, now }, { kind, reason, detail: JSON.stringify([subject]) });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "proposals", row }] } };
}
