import type { Organization } from "../domain/api-key.js";
import type { BookState, MovePhase } from "../domain/book.js";
import type { OrganizationId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";

/** The book of an organization in one cell. */
export interface ListedBook {
  readonly organizationId: OrganizationId;
  /** The name of the organization. */
  readonly name: string;
  /** Whether somebody has changed the row of the organization, so that its name may be false. */
  readonly isChanged: boolean;
  readonly cell: number;
  /** The number of the book in its cell. Later books have larger ones. */
  readonly number: number;
  readonly state: BookState;
  readonly isSuspended: boolean;
  /** 0 before the first row. */
  readonly lastSeq: number;
  readonly lastRecordedAt: UnixMillis;
  /** Undefined for a book that stays. */
  readonly move: { readonly phase: MovePhase; readonly movedTo: string | undefined } | undefined;
}

/** The first `size` rows of a book were sealed. */
export interface ListedSeal {
  readonly size: number;
  readonly root: Uint8Array;
  readonly sealedAt: UnixMillis;
}

/** An alarm that nobody has cleared. */
export interface StandingAlarm {
  readonly raisedAt: UnixMillis;
  /** The size of the seal, and the range of rows in which the change lies. */
  readonly size: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly problem: string;
}

/** The organization whose book is read, with its cell. */
export type BookOwner = Pick<Organization, "id" | "cell">;

export interface SealsPage {
  /** The maximum number of seals, at least 1. */
  readonly size: number;
  /** Only seals of fewer rows than this. Undefined for the newest ones. */
  readonly beforeSize: number | undefined;
}

/**
 * What operators read of books beside what organizations read. Nothing of it changes a book. Every
 * call rejects with a StoreError if the database fails.
 */
export interface BookReads {
  /** Returns the books of all cells, in the order of the cells and of their numbers. */
  books(): Promise<readonly ListedBook[]>;
  /** Returns the seals of a book, newest first. */
  seals(organization: BookOwner, page: SealsPage): Promise<readonly ListedSeal[]>;
  sealAlarm(organization: BookOwner): Promise<StandingAlarm | undefined>;
}
