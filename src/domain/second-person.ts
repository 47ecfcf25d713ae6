import { type AloneSum, sumAfter } from "./alone.js";
import type { Acted, Authority, Authorized } from "./authority.js";
import { type Change, changes, outdatedIn } from "./change.js";
import { closedBy, detailOfEnd, touching } from "./deciding-rows.js";
import { type Decide, type Decision, type Effect, type Operation, type Put, refuse, replay } from "./decision.js";
import type { DecidingRow, JournalEntry } from "./journal.js";
import {
  alonePersonOf,
  decidedProposal,
  type Decider,
  detailOf,
  isSamePerson,
  newProposal,
  type Proposal,
  PROPOSALS_WAITING_MAX,
  stateOfProposal,
} from "./proposal.js";
import { changesIn, contentOf } from "./proposal-content.js";
import type { ByParts, Proposals, Proposed } from "./proposed.js";
import type { Refusal } from "./refusal.js";
import type { Actor } from "./values/actor.js";
import type { OrganizationId, ProposalId } from "./values/ids.js";
import { NO_REASON } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/**
 * Lets an operation need a second person: a command of a group that the policy names is carried out
 * if an equal one of another person waits, and is noted as a proposal otherwise. A command that the
 * operation refuses is not noted. A preview is a dry run of what both would do.
 *
 * A proposal whose proposer has lost the role since does not count: the equal command is a proposal
 * of its own.
 *
 * A command with `approves` carries out exactly that proposal. If it is refused, the proposal waits
 * on. What is so already is a replay. A proposal stores what it changes. If something else stands
 * when it is to be done, the act would undo a later decision: it is refused.
 *
 * Refuses, in this order: PROPOSAL_NOT_FOUND, PROPOSAL_CLOSED, OWN_PROPOSAL, the refusals of the
 * operation, PROPOSAL_OUTDATED, TOO_MANY_PROPOSALS.
 */
export function withSecondPerson<C extends Authorized, Resource>(
  operation: Operation<C, Resource>,
  proposed: Proposed<C>,
): Operation<C, Acted<Resource>> {
  return {
    ...operation,
    inSuspension: operation.inSuspension ?? "always",
    lookup: (command, rows) => {
      operation.lookup(command, rows);
      const { organizationId } = command;
      if (proposed.groupOf === undefined) {
        rows.need("railAccounts", organizationId);
        rows.need("aloneSum", { organizationId, name: alonePersonOf(command.authority.person) });
      }
      const name = subjectOf(proposed, command);
      rows.need("proposal", name);
      rows.need("decidingRows", { organizationId, name });
      if (command.authority.approves === undefined) rows.need("waitingProposals", command.organizationId);
    },
    decide: decideBySecondPerson(operation.decide, proposed),
  };
}

/** Decides as `withSecondPerson` does, on a state that needs no lookup. */
export function decideBySecondPerson<C extends Authorized, Resource, State extends Proposals>(
  decide: Decide<C, Resource, State>,
  proposed: Proposed<C, State>,
): Decide<C, Acted<Resource>, State> {
  return (state, command, now, clock) => {
    const { organizationId, authority } = command;
    const deciding = { decide, proposed, state, command, now, clock };
    if (authority.approves !== undefined) return approve(deciding);
    const decision = decide(state, command, now, clock);
    if (decision.kind !== "effect") return acted(decision);
    const alone = aloneBy(deciding, decision.effect);
    if (command.isPreview === true && command.dryRun === true) {
      return { ...decision, resource: { resource: decision.resource, needsSecondPerson: alone === undefined } };
    }
    if (alone !== undefined) return acted({ ...decision, effect: withSum(decision.effect, alone, proposed) });
    if (proposed.groupOf !== undefined) {
      const groups = [proposed.groupOf(command, state) ?? []].flat();
      if (!groups.some((group) => authority.groups.includes(group))) return acted(decision);
    }
    const asked = { ...command, shown: changesBy(deciding) };
    const about = state.proposal(organizationId, subjectOf(proposed, command));
    const candidates =
      about === undefined ? waiting(state.undecidedProposals(organizationId), clock) : waiting([about], clock);
    const rows = decidingRowsOf(deciding);
    const equal = candidates.find(
      (each) =>
        each.content === contentOf(asked) &&
        mayStillPropose(each, authority) &&
        closedBy(rows, each) === undefined &&
        touching(proposed.touchedBy, { command, state, rows }, each) === undefined,
    );
    if (equal === undefined) return propose({ ...deciding, command: asked });
    return authority.mayApprove && !isOwn(equal, deciding) ? carryOut(deciding, equal) : replay({ proposal: equal });
  };
}

/** Lets an operation be an act of one person: it only takes power away, or decides nothing. */
export function byOnePerson<C extends Authorized, Resource>(
  operation: Operation<C, Resource>,
): Operation<C, Acted<Resource>> {
  return {
    ...operation,
    inSuspension: operation.inSuspension ?? "always",
    decide: decideByOnePerson(operation.decide),
  };
}

export function decideByOnePerson<C, Resource, State>(
  decide: Decide<C, Resource, State>,
): Decide<C, Acted<Resource>, State> {
  return (state, command, now, clock) => acted(decide(state, command, now, clock));
}

/** A command, and what it is decided by. */
interface Deciding<C, State, Resource = unknown> {
  readonly decide: Decide<C, Resource, State>;
  readonly proposed: Proposed<C, State>;
  readonly state: State;
  readonly command: C;
  readonly now: UnixMillis;
  readonly clock: UnixMillis;
}

function decidingRowsOf<C extends Authorized, State extends Proposals>({
  proposed,
  state,
  command,
}: Deciding<C, State>): readonly DecidingRow[] {
  return state.decidingRows(command.organizationId, subjectOf(proposed, command));
}

function subjectOf<C extends Authorized, State>({ subjectOf }: Proposed<C, State>, command: C): string {
  const { approves, newProposalId } = command.authority;
  return subjectOf?.(command) ?? approves ?? newProposalId;
}

/** The words of the person who asks are part of what is decided. */
function changesBy<C extends Authorized, State>({ proposed, command, state }: Deciding<C, State>): readonly Change[] {
  const note = "note" in command && typeof command.note === "string" ? command.note : "";
  return [...proposed.changesOf(command, state), ...changes(["reason", "", note])];
}

function approve<C extends Authorized, Resource, State extends Proposals>(
  deciding: Deciding<C, State, Resource>,
): Decision<Acted<Resource>> {
  const { proposed, state: before, command } = deciding;
  const named = before.proposal(command.organizationId, subjectOf(proposed, command));
  const refusal = refusalToApprove(named, deciding);
  if (refusal !== undefined) return refuse(refusal);
  // `refusalToApprove` has refused one that is not there.
  const proposal = named as Proposal;
  // Only an approval by the same person is left.
  if (proposal.decided !== undefined) return replay({ proposal });
  const rows = decidingRowsOf(deciding);
  const state = closedBy(rows, proposal);
  if (state !== undefined) return refuse({ reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state });
  const decision = carryOut(deciding, proposal);
  const outdated =
    decision.kind === "effect"
      ? (refusalIfOutdated(command, changesBy(deciding)) ??
        refusalIfTouched(proposal, touching(proposed.touchedBy, { command, state: before, rows }, proposal)))
      : undefined;
  return outdated === undefined ? decision : refuse(outdated);
}

/**
 * Returns PROPOSAL_OUTDATED if the changes that the approver has seen are not those of now. A
 * command that approves nothing is about what stands.
 */
function refusalIfOutdated(
  { authority: { approves: proposalId }, shown = [] }: Pick<Authorized, "authority" | "shown">,
  current: readonly Change[],
): Refusal | undefined {
  const outdated = outdatedIn(shown, current);
  return outdated && proposalId && { reason: "PROPOSAL_OUTDATED", proposalId, ...outdated };
}

/** Returns PROPOSAL_OUTDATED if a later row has touched what the proposal changes. */
function refusalIfTouched({ id: proposalId, seq }: Proposal, row: DecidingRow | undefined): Refusal | undefined {
  if (row === undefined) return undefined;
  const [before, now] = [seq, row.seq].map((each) => `row ${String(each)}`) as [string, string];
  return { reason: "PROPOSAL_OUTDATED", proposalId, what: row.kind, before, now };
}

/**
 * Returns why a command cannot carry out the proposal that it names: PROPOSAL_NOT_FOUND,
 * PROPOSAL_CLOSED, OWN_PROPOSAL. Undefined if it can, and if the same person has approved it.
 */
function refusalToApprove<C extends Authorized, State>(
  proposal: Proposal | undefined,
  deciding: Deciding<C, State>,
): Refusal | undefined {
  const { command, clock } = deciding;
  const { approves, person } = command.authority;
  // Only a command that names a proposal comes here.
  const proposalId = approves as ProposalId;
  if (proposal === undefined) return { reason: "PROPOSAL_NOT_FOUND", proposalId };
  const closed = refusalToDecide(proposal, { person, now: clock });
  if (closed !== undefined) return closed === "ALREADY_SO" ? undefined : closed;
  if (isOwn(proposal, deciding)) return { reason: "OWN_PROPOSAL", proposalId };
  // Another proposal has replaced it, or the row has changed since the approver has read it.
  const isSame = proposal.id === proposalId && proposal.content === contentOf(command);
  return isSame ? undefined : { reason: "PROPOSAL_CLOSED", proposalId, state: "LAPSED" };
}

/** Whether the person of the command has made the proposal, or is whom it is about. */
function isOwn<C extends Authorized, State>(proposal: Proposal, { proposed, command }: Deciding<C, State>): boolean {
  const { person } = command.authority;
  return isSamePerson(proposal.person, person) || proposed.concerns?.(command) === person;
}

/** Returns TOO_MANY_PROPOSALS if the person has as many as may wait in one book. */
function refusalToPropose(
  state: Proposals,
  { organizationId, authority }: Authorized,
  clock: UnixMillis,
): Refusal | undefined {
  const own = state.undecidedProposals(organizationId).filter(({ person }) => person === authority.person);
  const limit = PROPOSALS_WAITING_MAX;
  return waiting(own, clock).length < limit ? undefined : { reason: "TOO_MANY_PROPOSALS", limit };
}

function waiting(proposals: readonly Proposal[], clock: UnixMillis): readonly Proposal[] {
  return proposals.filter((each) => stateOfProposal(each, clock) === "PENDING");
}

/**
 * Returns why nobody can decide a proposal any more, or "ALREADY_SO" if this person has approved
 * it. Undefined if it waits.
 */
export function refusalToDecide(
  proposal: Proposal,
  { person, now, as = "APPROVED" }: { readonly person: Decider; readonly now: UnixMillis; readonly as?: string },
): Extract<Refusal, { readonly reason: "PROPOSAL_CLOSED" }> | "ALREADY_SO" | undefined {
  const state = stateOfProposal(proposal, now);
  if (state === "PENDING") return undefined;
  if (state === as && proposal.decided?.by === person) return "ALREADY_SO";
  return { reason: "PROPOSAL_CLOSED", proposalId: proposal.id, state } as const;
}

/** Does what another person has proposed. The rows name both. */
function carryOut<C extends Authorized, Resource, State>(
  { decide, proposed, state, command, now, clock }: Deciding<C, State, Resource>,
  proposal: Proposal,
): Decision<Acted<Resource>> {
  const [{ person }, { person: proposer, content }] = [command.authority, proposal];
  const authority = { ...command.authority, proposer };
  const actor = proposed.namesPersons ? command.actor : (`${proposer},${person}` as Actor);
  // Who wants the same has sent the same secret. Who approves takes that of the proposal.
  const sealed = command.sealed ?? proposal.sealed;
  const both = { ...command, actor, authority, sealed, shown: changesIn(content) };
  const decision = decide(state, both, now, clock);
  if (decision.kind !== "effect") return acted(decision);
  const { entries } = decision.effect;
  // Some rows are later than the command.
  const at = Math.max(now, ...entries.map(({ recordedAt }) => recordedAt)) as UnixMillis;
  const row = decidedProposal(proposal, "APPROVED", { by: person, at });
  const about = { organizationId: command.organizationId, actor, now: at };
  const end = bookEntryOf(about, { kind: "book.proposal_approved", detail: detailOfEnd(proposal) });
  const effect = { ...withPuts(decision.effect, [{ table: "proposals", row }]), entries: [...entries, end] };
  return acted({ ...decision, effect });
}

function propose<C extends Authorized, State extends Proposals>({
  proposed,
  state,
  command,
  now,
  clock,
}: Deciding<C, State>): Decision<{ readonly proposal: Proposal }> {
  const refusal = refusalToPropose(state, command, clock);
  if (refusal !== undefined) return refuse(refusal);
  const { organizationId, sealed, authority } = command;
  const intent = { organizationId, subject: subjectOf(proposed, command), content: contentOf(command), ...authority };
  const proposal = newProposal({ ...intent, lapses: !authority.isOfKey }, { now, clock }, sealed);
  const undecided = state.undecidedProposals(organizationId);
  const lapsed = undecided.filter((each) => stateOfProposal(each, clock) === "LAPSED");
  const puts = [...lapsed.map((each) => decidedProposal(each, "LAPSED", { by: undefined, at: now })), proposal].map(
    (row): Put => ({ table: "proposals", row }),
  );
  const given = { detail: detailOf(intent), now };
  const effect = proposed.noted?.(state, command, given) ?? noted(command, given);
  return { kind: "effect", resource: { proposal }, effect: withPuts(effect, puts) };
}

function noted(
  { organizationId, actor }: Authorized,
  { detail, now }: { readonly detail: string; readonly now: UnixMillis },
): Effect {
  return { entries: [bookEntryOf({ organizationId, actor, now }, { kind: "book.proposed", detail })], puts: [] };
}

/** A proposal of an API key does not lapse, and no role of an operator is behind it. */
function mayStillPropose({ person, proposedAt, expiresAt }: Proposal, { proposers }: Authority): boolean {
  return expiresAt === undefined || (proposers?.get(person) ?? Number.POSITIVE_INFINITY) <= proposedAt;
}

/** Undefined if the amount does not let the person do it alone, or judges nothing. */
function aloneBy<C extends Authorized, State extends Proposals>(
  { proposed, state, command, now }: Deciding<C, State>,
  effect: Effect,
): AloneSum | undefined {
  if (proposed.groupOf !== undefined) return undefined;
  const person = alonePersonOf(command.authority.person);
  const before = state.aloneSum?.(command.organizationId, person);
  const judged =
    proposed.partCents === undefined
      ? proposed.judged(command, state)
      : { amountCents: sumOfParts(effect, proposed.partCents), maxCents: proposed.maxCents(command, state) };
  return sumAfter(judged, { person, before, now });
}

/** The first row of the act, or of each of its parts, has the person's sum after it. */
function withSum<C, State>(effect: Effect, alone: AloneSum, { partCents }: Proposed<C, State>): Effect {
  let cents = alone.cents - (partCents === undefined ? 0 : sumOfParts(effect, partCents));
  const entries = effect.entries.map((entry, index): JournalEntry => {
    const part = partCents === undefined ? (index === 0 ? 0 : undefined) : partCents(entry);
    if (part === undefined) return entry;
    cents += part;
    return { ...entry, alone: { ...alone, cents } };
  });
  return { ...effect, entries };
}

function sumOfParts({ entries }: Effect, partCents: ByParts<never, never>["partCents"]): number {
  return entries.reduce((sum, entry) => sum + (partCents(entry) ?? 0), 0);
}

function acted<Resource>(decision: Decision<Resource>): Decision<Acted<Resource>> {
  return decision.kind === "refusal" ? decision : { ...decision, resource: { resource: decision.resource } };
}

function withPuts(effect: Effect, puts: readonly Put[]): Effect {
  return { ...effect, puts: [...effect.puts, ...puts] };
}

/** Makes an entry about the organization itself. It moves no money. */
export function bookEntryOf(
  { organizationId, actor, now }: { organizationId: OrganizationId; actor: Actor; now: UnixMillis },
  { kind, reason = NO_REASON, detail }: Pick<JournalEntry, "kind"> & Partial<Pick<JournalEntry, "reason" | "detail">>,
): JournalEntry {
  return {
    organizationId,
    accountId: undefined,
    transactionId: undefined,
    freezeId: undefined,
    kind,
    posting: undefined,
    balancesAfter: undefined,
    ...(detail === undefined ? {} : { detail }),
    actor,
    reason,
    recordedAt: now,
  };
}
