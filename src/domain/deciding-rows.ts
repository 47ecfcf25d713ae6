import type { Book } from "./decision.js";
import type { DecidingKind, DecidingRow } from "./journal.js";
import type { Proposal, ProposalDecision } from "./proposal.js";
import type { AccountId } from "./values/ids.js";

// What the rows of a journal say of a proposal that is older than they are.

/** Which later rows have touched what a command changes, by their kind. */
export type TouchedBy<C, State = Book> = Readonly<
  Partial<Record<DecidingKind, (row: DecidingRow, command: C, state: State) => boolean>>
>;

/** For what is new or happens once, and for a change whose number people are shown. */
export const NOTHING_TOUCHES: TouchedBy<unknown, unknown> = {};

/** Every row of the kind: what it is about exists once in a book. */
export const EACH = (): boolean => true;

export function isOfAccount({ accountId }: DecidingRow, command: { readonly accountId: AccountId }): boolean {
  return accountId === command.accountId;
}

/** Returns the first row after the proposal that has touched what the command changes. */
export function touching<C, State>(
  touchedBy: TouchedBy<C, State>,
  { command, state, rows }: { readonly command: C; readonly state: State; readonly rows: readonly DecidingRow[] },
  { seq }: Proposal,
): DecidingRow | undefined {
  return rows.find((row) => row.seq > seq && touchedBy[row.kind]?.(row, command, state) === true);
}

/** Returns as what a later row has closed the proposal, whatever the row of the proposal says. */
export function closedBy(rows: readonly DecidingRow[], { seq, subject }: Proposal): ProposalDecision["as"] | undefined {
  const row = rows.find((each) => each.seq > seq && subjectIn(each) === subject);
  if (row === undefined) return undefined;
  if (row.kind === "book.proposal_rejected") return "REJECTED";
  // Another proposal has replaced it.
  return PROPOSING.has(row.kind) ? "LAPSED" : "APPROVED";
}

const PROPOSING: ReadonlySet<DecidingKind> = new Set(["book.proposed", "transaction.resolution_proposed"]);

/** Returns the subject at the beginning of a detail. Undefined for a row about no proposal. */
function subjectIn({ kind, detail = "[]" }: DecidingRow): string | undefined {
  if (!kind.startsWith("book.") && !PROPOSING.has(kind)) return undefined;
  return (JSON.parse(detail) as readonly string[])[0];
}

/** The detail of a row that ends a proposal. */
export function detailOfEnd({ subject }: Pick<Proposal, "subject">): string {
  return JSON.stringify([subject]);
}
