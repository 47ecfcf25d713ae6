import type { JournalKind } from "../domain/journal.js";
import type { AccountId, OrganizationId } from "../domain/values/ids.js";
import type { LedgerEvent } from "./event.js";

/** The maximum number of rows that one read of events looks at. */
export const EVENTS_READ_MAX = 256;

/** An event must match all filters that are given. No filter matches every event. */
export interface EventFilter {
  /** Has one of these types. */
  readonly types?: readonly JournalKind[] | undefined;
  /** Is about this account, or about one of its transactions. */
  readonly accountId?: AccountId | undefined;
}

export interface EventsRequest {
  readonly organizationId: OrganizationId;
  readonly afterSequence: number;
  /** The maximum number of rows to look at: 1 to EVENTS_READ_MAX. */
  readonly limit: number;
  readonly filter?: EventFilter;
}

export interface EventsRead {
  /** The events that match, oldest first. */
  readonly events: readonly LedgerEvent[];
  /** The read has looked at all events up to this sequence. */
  readonly nextSequence: number;
  /** The sequence of the last event of the book: 0 if the organization has no book here. */
  readonly latestSequence: number;
}

/** A part of a book: the events after a sequence, up to another one and with it. */
export interface BookSlice {
  readonly organizationId: OrganizationId;
  readonly after: number;
  readonly upTo: number;
}

/**
 * Reads the committed events of one cell. Every call rejects with a StoreError "unavailable" if the
 * database fails.
 */
export interface EventReads {
  after(request: EventsRequest): Promise<EventsRead>;
  /** Returns the last sequence of each book that exists. */
  latest(organizationIds: readonly OrganizationId[]): Promise<ReadonlyMap<OrganizationId, number>>;
  /**
   * Reads several slices at once. Together they have at most EVENTS_READ_MAX rows. The events of
   * one organization are oldest first.
   */
  slices(slices: readonly BookSlice[], filter?: EventFilter): Promise<readonly LedgerEvent[]>;
}

/** An event with its place in a message: the field's tag, its length and its bytes. */
export interface EncodedEvent extends Pick<LedgerEvent, "sequence" | "type" | "accountId"> {
  readonly entry: Buffer;
}

/** Encodes the messages of a stream of events. */
export interface EventCodec {
  /** Encodes one event, so that a message is its entries one after another. */
  entry(event: LedgerEvent): Buffer;
  message(entries: readonly Buffer[], nextSequence: number): Buffer;
}
