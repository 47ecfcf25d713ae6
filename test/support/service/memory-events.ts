import type { LedgerEvent } from "../../../src/events/event.js";
import type { EventFilter, EventReads, EventsRead } from "../../../src/events/ports.js";

/** The events of books in memory. A test adds events to `events`. */
export class MemoryEvents implements EventReads {
  readonly events: LedgerEvent[] = [];
  /** The number of events that each read was asked to look at. */
  readonly lookedAt: number[] = [];

  async after({
    organizationId,
    afterSequence,
    limit,
    filter,
  }: Parameters<EventReads["after"]>[0]): Promise<EventsRead> {
    const latestSequence = (await this.latest([organizationId])).get(organizationId) ?? 0;
    const upTo = Math.max(afterSequence, Math.min(afterSequence + limit, latestSequence));
    this.lookedAt.push(upTo - afterSequence);
    const events = await this.slices([{ organizationId, after: afterSequence, upTo }], filter);
    return { events, nextSequence: upTo, latestSequence };
  }

  latest(organizationIds: Parameters<EventReads["latest"]>[0]): ReturnType<EventReads["latest"]> {
    return Promise.resolve(
      new Map(organizationIds.map((id) => [id, this.events.filter((event) => event.organizationId === id).length])),
    );
  }

  slices(slices: Parameters<EventReads["slices"]>[0], filter: EventFilter = {}): Promise<readonly LedgerEvent[]> {
    const { types, accountId } = filter;
    return Promise.resolve(
      slices.flatMap(({ organizationId, after, upTo }) =>
        this.events.filter(
          (event) =>
            event.organizationId === organizationId &&
            event.sequence > after &&
            event.sequence <= upTo &&
            types?.includes(event.type) !== false &&
            (accountId === undefined || event.accountId === accountId),
        ),
      ),
    );
  }
}
