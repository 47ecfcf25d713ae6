import type { Judged } from "./alone.js";
import type { FourEyesGroup, WIDENS_ALONE } from "./authority.js";
import type { Change } from "./change.js";
import type { TouchedBy } from "./deciding-rows.js";
import type { Book, Effect } from "./decision.js";
import type { JournalEntry } from "./journal.js";
import type { UnixMillis } from "./values/time.js";

/** What the second person's law reads of the state before a command. */
export type Proposals = Pick<Book, "proposal" | "undecidedProposals" | "decidingRows"> &
  Partial<Pick<Book, "aloneSum">>;

/** What a second person needs to decide about a command that the operation has not refused. */
export type Proposed<C, State = Book> = Shown<C, State> & (ByPolicy<C, State> | ByAmount<C, State> | ByParts<C, State>);

type AnyGroup = FourEyesGroup | typeof WIDENS_ALONE;

interface ByPolicy<C, State> {
  /** Of several groups each is enough. */
  readonly groupOf: (command: C, state: State) => AnyGroup | readonly AnyGroup[] | undefined;
  readonly partCents?: undefined;
}

interface ByAmount<C, State> {
  readonly groupOf?: undefined;
  /** Whatever the policy is, a person alone does this much, and ten times that in a day. */
  readonly judged: (command: C, state: State) => Judged;
  readonly partCents?: undefined;
}

/** An act of several parts, which the sum of their amounts judges. */
export interface ByParts<C, State> {
  readonly groupOf?: undefined;
  /** The highest sum that one person alone may decide. */
  readonly maxCents: (command: C, state: State) => number;
  /**
   * The amount of the part that the row begins. Undefined for any other row. An audit counts each
   * part, so its first row has the sum of the person after it.
   */
  readonly partCents: (entry: JournalEntry) => number | undefined;
}

interface Shown<C, State> {
  /** All that the command changes, from what stands now. */
  readonly changesOf: (command: C, state: State) => readonly Change[];
  /**
   * Which later rows have touched what the command changes, by their kind. An approval after such a
   * row is refused, whatever stands by then: the row is a later decision.
   */
  readonly touchedBy: TouchedBy<C, State>;
  /** The person whose power the command changes, who may not approve it. */
  readonly concerns?: (command: C) => string | undefined;
  /** What has one proposal at a time: another content replaces it. Each is its own when omitted. */
  readonly subjectOf?: (command: C) => string;
  /** Whether the rows name the persons in their detail: the name of an API key is no actor. */
  readonly namesPersons?: true;
  /** Notes a proposal in a row with this detail. The row is about the organization when omitted. */
  readonly noted?: (state: State, command: C, given: { readonly detail: string; readonly now: UnixMillis }) => Effect;
}
