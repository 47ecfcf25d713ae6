import type { Commanded } from "../authority.js";
import { closedBy, detailOfEnd } from "../deciding-rows.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { decidedProposal, type Decider, type Proposal } from "../proposal.js";
import { bookEntryOf, refusalToDecide } from "../second-person.js";
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

function lookup({ organizationId, subject }: RejectProposal, rows: Lookup): void {
  rows.need("proposal", subject);
  rows.need("decidingRows", { organizationId, name: subject });
}

/**
 * Ends a proposal without doing it. Its proposer may, too. The same again is a replay.
 *
 * Refuses, in this order: PROPOSAL_NOT_FOUND, PROPOSAL_CLOSED.
 */
function decide(book: Book, command: RejectProposal, now: UnixMillis, clock: UnixMillis): Decision<Proposal> {
  const { organizationId, proposalId, subject, person, note: reason } = command;
  const proposal = book.proposal(organizationId, subject);
  if (proposal?.id !== proposalId) return refuse({ reason: "PROPOSAL_NOT_FOUND", proposalId });
  const closed = refusalToDecide(proposal, { person, now: clock, as: "REJECTED" });
  if (closed === "ALREADY_SO") return replay(proposal);
  if (closed !== undefined) return refuse(closed);
  const state = closedBy(book.decidingRows(organizationId, subject), proposal);
  if (state !== undefined) return refuse({ reason: "PROPOSAL_CLOSED", proposalId, state });
  const seq = book.bookOf(organizationId).lastSeq + 1;
  const row = { ...decidedProposal(proposal, "REJECTED", { by: person, at: now }), seq };
  const kind = "book.proposal_rejected";
  const entry = bookEntryOf({ ...command, now }, { kind, reason, detail: detailOfEnd(proposal) });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "proposals", row }] } };
}
