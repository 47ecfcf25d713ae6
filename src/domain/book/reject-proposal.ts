import type { Commanded } from "../authority.js";
import { closedBy, detailOfEnd } from "../deciding-rows.js";
import { type Book, type Decide, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { decidedProposal, type Decider, type Proposal } from "../proposal.js";
import type { Proposals } from "../proposed.js";
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

/** The same for a proposal about an operator, which no book holds. */
export const rejectAboutOperator: { readonly decide: Decide<RejectProposal, Proposal, Proposals> } = { decide: end };

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
  const decision = end(book, command, now, clock);
  if (decision.kind !== "effect") return decision;
  const row = { ...decision.resource, seq: book.bookOf(command.organizationId).lastSeq + 1 };
  return { ...decision, resource: row, effect: { ...decision.effect, puts: [{ table: "proposals", row }] } };
}

function end(before: Proposals, command: RejectProposal, now: UnixMillis, clock: UnixMillis): Decision<Proposal> {
  const { organizationId, proposalId, subject, person, note: reason } = command;
  const proposal = before.proposal(organizationId, subject);
  if (proposal?.id !== proposalId) return refuse({ reason: "PROPOSAL_NOT_FOUND", proposalId });
  const closed = refusalToDecide(proposal, { person, now: clock, as: "REJECTED" });
  if (closed === "ALREADY_SO") return replay(proposal);
  if (closed !== undefined) return refuse(closed);
  const state = closedBy(before.decidingRows(organizationId, subject), proposal);
  if (state !== undefined) return refuse({ reason: "PROPOSAL_CLOSED", proposalId, state });
  const row = decidedProposal(proposal, "REJECTED", { by: person, at: now });
  const kind = "book.proposal_rejected";
  const entry = bookEntryOf({ ...command, now }, { kind, reason, detail: detailOfEnd(proposal) });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "proposals", row }] } };
}
