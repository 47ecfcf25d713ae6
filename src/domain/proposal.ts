import type { OrganizationId } from "./values/ids.js";
import type { UnixMillis } from "./values/time.js";

/** The name of the person who acts as the operator. A second person has another name. */
export type OperatorName = string & { readonly brand: unique symbol };

/**
 * What an operator has proposed or done about one subject. Above a limit, two persons must propose
 * the same before it is done.
 */
export interface Proposal {
  readonly organizationId: OrganizationId;
  /** A transaction's id, or the name of a correction of the book. No other book has the same. */
  readonly subject: string;
  /** What is to be done, in a form in which equal proposals are equal texts. */
  readonly content: string;
  /** Who proposed it first. */
  readonly person: OperatorName;
  readonly proposedAt: UnixMillis;
  /** When it was done. Always undefined for a transaction, whose status says it. */
  readonly doneAt: UnixMillis | undefined;
}

/** What a person wants to do about a subject. */
export type Intent = Pick<Proposal, "organizationId" | "subject" | "content" | "person">;

/**
 * Returns whether the intent may be carried out now: one person is enough, or another person has
 * proposed the same.
 */
export function isApproved(standing: Proposal | undefined, intent: Intent, isOneEnough: boolean): boolean {
  return isOneEnough || personsOf(standing, intent).length > 1;
}

/** Returns who wants it: this person, and before that another one who has proposed it. */
export function personsOf(standing: Proposal | undefined, intent: Intent): readonly OperatorName[] {
  const { person } = intent;
  return isSame(standing, intent) && !isSamePerson(standing.person, person) ? [standing.person, person] : [person];
}

/** The same name in capitals is the same person. */
function isSamePerson(one: OperatorName, other: OperatorName): boolean {
  return one.normalize("NFKC").toLowerCase() === other.normalize("NFKC").toLowerCase();
}

/** Returns the proposal that stands after the intent. An equal one keeps its person and time. */
export function standingAfter(standing: Proposal | undefined, intent: Intent, now: UnixMillis): Proposal {
  return isSame(standing, intent) ? standing : { ...intent, proposedAt: now, doneAt: undefined };
}

/** The detail of the journal row that proposes or does it. */
export function detailOf({ subject, person, content }: Intent): string {
  return JSON.stringify([subject, person, content]);
}

function isSame(standing: Proposal | undefined, { content }: Intent): standing is Proposal {
  return standing?.content === content;
}
