import type { BookHead } from "./book.js";
import { type Change, changes, outdatedIn } from "./change.js";
import { type Book, type Decision, type Effect, type Operation, type Put, refuse, replay } from "./decision.js";
import type { JournalEntry } from "./journal.js";
import {
  decidedProposal,
  type Decider,
  detailOf,
  newProposal,
  type Proposal,
  PROPOSALS_WAITING_MAX,
  stateOfProposal,
} from "./proposal.js";
import type { Refusal } from "./refusal.js";
import type { Actor } from "./values/actor.js";
import type { DepositId, OrganizationId, ProposalId, TransactionId } from "./values/ids.js";
import type { Sealed } from "./values/sealed.js";
import { NO_REASON } from "./values/text.js";
import type { UnixMillis } from "./values/time.js";

/** New ids of a command that can wait for a second person. They are no content. */
export interface NewIds {
  readonly newDepositId: DepositId;
  readonly newTransactionId: TransactionId;
}

/**
 * The groups of commands that can need a second person:
 *
 * - `resume`: to end the suspension of an organization.
 * - `write_keys`: a key of a live organization that may do more than read.
 * - `limits`: a limit that rises or ends.
 * - `rails`: an account at a rail, the default rail, and that payouts begin.
 * - `erase`: a person's data, for ever.
 * - `unfreeze`: to lift a freeze of an account.
 * - `reserve`: what lies in a place.
 */
export const BOOK_GROUPS = ["resume", "write_keys", "limits", "rails", "erase", "unfreeze", "reserve"] as const;

export type BookGroup = (typeof BOOK_GROUPS)[number];

/** In place of a group: no policy lets one person decide. */
export const IN_EVERY_POLICY = "in every policy";

/**
 * In place of a group: the act widens what one person may do alone. The same would happen if one
 * person did it alone, so no policy lets it, but in a sandbox.
 */
export const WIDENS_ALONE = "widens alone";

/** Who commands, and what that person may do. The ledger cannot read who the operators are. */
export interface Authority {
  /** The operator, or "operator" for the machine. */
  readonly person: Decider;
  /** Whether the person may approve what another one has proposed. */
  readonly mayApprove: boolean;
  /** The groups of which no person decides alone. None for the machine. */
  readonly groups: readonly (BookGroup | typeof WIDENS_ALONE)[];
  readonly newProposalId: ProposalId;
  /** The proposal that the command carries out. Its content is that of the command. */
  readonly approves?: ProposalId | undefined;
}

/** The organization of a command, and who sent it. */
export interface Commanded {
  readonly organizationId: OrganizationId;
  readonly actor: Actor;
  /** Whether the ledger only decides. Then nothing is done, and no other command sees it. */
  readonly dryRun?: boolean;
}

/** A command that can need a second person. All but these fields is its content. */
export interface Authorized extends Commanded {
  readonly name: string;
  readonly authority: Authority;
  /** A secret that the command stores. */
  readonly sealed?: Sealed | undefined;
  /** What the caller has read, and the decision needs. It is no content: an approval reads anew. */
  readonly facts?: object | undefined;
  /**
   * What the command changes, as people are shown it. A proposal stores it, and the command of an
   * approver has it from there.
   */
  readonly shown?: readonly Change[] | undefined;
}

/** What an operator's command returns: what it did, or the proposal that waits in place of it. */
export type Acted<Resource> =
  | { readonly resource: Resource; readonly proposal?: undefined }
  | { readonly resource?: undefined; readonly proposal: Proposal };

/** The fields of a command that are not its content. */
const ENVELOPE: ReadonlySet<string> = new Set<keyof Authorized>([
  "organizationId",
  "actor",
  "authority",
  "dryRun",
  "sealed",
  "facts",
]);
// The first text of a content names its form, so that a later form cannot be mistaken for it. The
// earlier form, "kesc-act-1", does not say what stood, so nobody can approve it.
const FORMAT = "kesc-act-2";

/** Returns what a command is about, as a JSON object. Equal commands give equal texts. */
export function contentOf(command: Authorized): string {
  const fields = Object.entries(command).filter(([name]) => !ENVELOPE.has(name));
  const sorted = fields.sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify({ format: FORMAT, ...Object.fromEntries(sorted) });
}

/** Returns the fields of the command with this content. Undefined for a form of another version. */
export function contentFrom(content: string): ({ readonly name: string } & object) | undefined {
  const { format, ...fields } = JSON.parse(content) as { readonly format?: unknown; readonly name: string };
  return format === FORMAT ? fields : undefined;
}

/** Returns what a proposal changes. Nothing for the content of an earlier version. */
export function changesIn(content: string): readonly Change[] {
  // A row that somebody has changed past the service has no content.
  const { shown = [] } = (content === "" ? {} : JSON.parse(content)) as { readonly shown?: readonly Change[] };
  return shown;
}

/** Returns whether two contents are of the same act, whatever stood when it was proposed. */
export function isSameAct(one: string, other: string): boolean {
  const [left, right] = [one, other].map((content) =>
    JSON.stringify(JSON.parse(content), (name, value: unknown) =>
      name === "format" || name === "shown" ? undefined : value,
    ),
  );
  return left === right;
}

/** Returns the name of the command that a proposal wants. */
export function nameIn({ content, subject }: Pick<Proposal, "content" | "subject">): string {
  const fields = JSON.parse(content) as { readonly name: string } | readonly string[];
  if ("name" in fields) return fields.name;
  // A correction begins with its name. That of a transaction says how it ended.
  return subject.startsWith("txn_") ? "resolveTransaction" : String(fields[0]);
}

/**
 * Lets an operation need a second person: a command of a group that the policy names is carried out
 * if an equal one of another person waits, and is noted as a proposal otherwise. A command that the
 * operation refuses is not noted.
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
      const { approves, groups } = command.authority;
      if (approves !== undefined) rows.need("proposal", approves);
      else if (groups.length > 0) rows.need("waitingProposals", command.organizationId);
    },
    decide: (book, command, now) => {
      const { organizationId, authority } = command;
      const { approves } = authority;
      if (approves !== undefined) return approve(operation, proposed, { book, command, now }, approves);
      const decision = operation.decide(book, command, now);
      if (decision.kind !== "effect") return acted(decision);
      const group = proposed.groupOf(book.bookOf(organizationId), command, book);
      if (group === undefined || (group !== IN_EVERY_POLICY && !authority.groups.includes(group)))
        return acted(decision);
      const asked = { ...command, shown: changesBy(proposed, command, book) };
      const equal = waitingOf(book, organizationId, now).find(({ content }) => content === contentOf(asked));
      if (equal === undefined) return propose({ book, command: asked, now });
      const mayApprove = authority.mayApprove && equal.person !== authority.person;
      return mayApprove ? carryOut(operation, { book, command, now }, equal) : replay({ proposal: equal });
    },
  };
}

/** Lets an operation be an act of one person: it only takes power away, or decides nothing. */
export function byOnePerson<C extends Authorized, Resource>(
  operation: Operation<C, Resource>,
): Operation<C, Acted<Resource>> {
  return {
    ...operation,
    inSuspension: operation.inSuspension ?? "always",
    decide: (book, command, now) => acted(operation.decide(book, command, now)),
  };
}

/** What a second person needs to decide about a command that the operation has not refused. */
interface Proposed<C> {
  readonly groupOf: (
    head: BookHead,
    command: C,
    book: Book,
  ) => BookGroup | typeof IN_EVERY_POLICY | typeof WIDENS_ALONE | undefined;
  /** All that the command changes, from what the book has now. */
  readonly changesOf: (command: C, book: Book) => readonly Change[];
}

/** The words of the person who asks are part of what is decided. */
function changesBy<C extends Authorized>({ changesOf }: Proposed<C>, command: C, book: Book): readonly Change[] {
  const note = "note" in command && typeof command.note === "string" ? command.note : "";
  return [...changesOf(command, book), ...changes(["reason", "", note])];
}

interface Deciding<C> {
  readonly book: Book;
  readonly command: C;
  readonly now: UnixMillis;
}

function approve<C extends Authorized, Resource>(
  operation: Operation<C, Resource>,
  proposed: Proposed<C>,
  deciding: Deciding<C>,
  proposalId: ProposalId,
): Decision<Acted<Resource>> {
  const { book, command, now } = deciding;
  const standing = book.proposal(command.organizationId, proposalId);
  const refusal = refusalToApprove(standing, command, now);
  if (refusal !== undefined) return refuse(refusal);
  // `refusalToApprove` has refused one that is not there.
  const proposal = standing as Proposal;
  // Only an approval by the same person is left.
  if (proposal.decided !== undefined) return replay({ proposal });
  const decision = carryOut(operation, deciding, proposal);
  const outdated =
    decision.kind === "effect" ? refusalIfOutdated(command, changesBy(proposed, command, book)) : undefined;
  return outdated === undefined ? decision : refuse(outdated);
}

/**
 * Returns PROPOSAL_OUTDATED if the changes that the approver has seen are not those of the book. A
 * command that approves nothing is about what stands.
 */
export function refusalIfOutdated(
  { authority: { approves: proposalId }, shown = [] }: Pick<Authorized, "authority" | "shown">,
  standing: readonly Change[],
): Refusal | undefined {
  const outdated = proposalId === undefined ? undefined : outdatedIn(shown, standing);
  return outdated && proposalId && { reason: "PROPOSAL_OUTDATED", proposalId, ...outdated };
}

/**
 * Returns why a command cannot carry out the proposal that it names: PROPOSAL_NOT_FOUND,
 * PROPOSAL_CLOSED, OWN_PROPOSAL. Undefined if it can, if the same person has approved it, and for a
 * command that names none.
 */
export function refusalToApprove(
  standing: Proposal | undefined,
  command: Authorized,
  now: UnixMillis,
): Refusal | undefined {
  const { approves: proposalId, person } = command.authority;
  if (proposalId === undefined) return undefined;
  if (standing === undefined) return { reason: "PROPOSAL_NOT_FOUND", proposalId };
  const closed = refusalToDecide(standing, { person, now });
  if (closed !== undefined) return closed === "ALREADY_SO" ? undefined : closed;
  if (standing.person === person) return { reason: "OWN_PROPOSAL", proposalId };
  // Another proposal has replaced it, or the row has changed since the approver has read it. One of
  // an earlier version does not say what stood.
  const isSame = standing.id === proposalId && standing.content === contentOf(command) && command.shown !== undefined;
  return isSame ? undefined : { reason: "PROPOSAL_CLOSED", proposalId, state: "LAPSED" };
}

/** Returns TOO_MANY_PROPOSALS if the person has as many in the book as may wait. */
export function refusalToPropose(
  book: Book,
  { organizationId, authority }: Authorized,
  now: UnixMillis,
): Refusal | undefined {
  const waiting = waitingOf(book, organizationId, now).filter(({ person }) => person === authority.person);
  return waiting.length < PROPOSALS_WAITING_MAX
    ? undefined
    : { reason: "TOO_MANY_PROPOSALS", limit: PROPOSALS_WAITING_MAX };
}

function waitingOf(book: Book, organizationId: OrganizationId, now: UnixMillis): readonly Proposal[] {
  return book.undecidedProposals(organizationId).filter((each) => stateOfProposal(each, now) === "PENDING");
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
function carryOut<C extends Authorized, Resource>(
  operation: Operation<C, Resource>,
  { book, command, now }: Deciding<C>,
  proposal: Proposal,
): Decision<Acted<Resource>> {
  const { person } = command.authority;
  const actor = `${proposal.person},${person}` as Actor;
  // Who wants the same has sent the same secret. Who approves takes that of the proposal.
  const sealed = command.sealed ?? proposal.sealed;
  const decision = operation.decide(book, { ...command, actor, sealed }, now);
  if (decision.kind !== "effect") return acted(decision);
  const row = decidedProposal(proposal, "APPROVED", { by: person, at: now });
  return acted({ ...decision, effect: withPuts(decision.effect, [{ table: "proposals", row }]) });
}

function propose({ book, command, now }: Deciding<Authorized>): Decision<{ readonly proposal: Proposal }> {
  const refusal = refusalToPropose(book, command, now);
  if (refusal !== undefined) return refuse(refusal);
  const { organizationId, actor, sealed } = command;
  const { person, newProposalId } = command.authority;
  const intent = { organizationId, subject: newProposalId, content: contentOf(command), person, newProposalId };
  const proposal = newProposal({ ...intent, lapses: true }, now, sealed);
  const undecided = book.undecidedProposals(organizationId);
  const lapsed = undecided.filter((each) => stateOfProposal(each, now) === "LAPSED");
  const puts = [...lapsed.map((each) => decidedProposal(each, "LAPSED", { by: undefined, at: now })), proposal].map(
    (row): Put => ({ table: "proposals", row }),
  );
  const entry = bookEntryOf({ organizationId, actor, now }, { kind: "book.proposed", detail: detailOf(intent) });
  return { kind: "effect", resource: { proposal }, effect: { entries: [entry], puts } };
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
