import type { OrganizationId } from "../domain/values/ids.js";
import type { Follower } from "./follower.js";
import { blocksOf, matches } from "./message.js";
import { type EventCodec, type EventFilter, EVENTS_READ_MAX, type EventsRead, type EventsRequest } from "./ports.js";
import type { EventBlock } from "./tail.js";

export interface Watch {
  readonly organizationId: OrganizationId;
  readonly afterSequence: number;
  readonly filter: EventFilter;
  /** Aborts when nobody watches any more. */
  readonly signal: AbortSignal;
}

export interface WatchOptions {
  readonly follower: Follower;
  readonly codec: EventCodec;
  /** Reads a page of the book at the watcher's turn. Undefined once the watch has ended. */
  readonly readInTurn: (request: EventsRequest) => Promise<EventsRead | undefined>;
  readonly heartbeatMillis: number;
}

/** The longest time without a message. */
export const HEARTBEAT_MILLIS = 15_000;

/**
 * Makes the messages of one watcher: what the book has after the sequence, and then each new event.
 * A message without events says how far the stream has come. Returns the last sequence of the book
 * if the watch would begin after it.
 */
export async function* watch(
  { organizationId, afterSequence, filter, signal }: Watch,
  { follower, codec, readInTurn, heartbeatMillis }: WatchOptions,
): AsyncGenerator<Buffer, number | undefined, void> {
  const tail = follower.enter(organizationId);
  try {
    let position = afterSequence;
    // The first message comes at once, also without events: the stream has begun.
    let sentAt = -Infinity;
    let hasBegun = false;
    while (!signal.aborted) {
      const block = hasBegun ? tail.blockAfter(position) : "behind";
      let message: Buffer | undefined;
      if (block === "behind") {
        const read = await readInTurn({ organizationId, afterSequence: position, limit: EVENTS_READ_MAX, filter });
        if (read === undefined) return undefined;
        if (position > read.latestSequence) return read.latestSequence;
        tail.beginAfter(read.latestSequence);
        hasBegun = true;
        const range = { after: position, upTo: read.nextSequence };
        let hasSent = false;
        for (const part of blocksOf(codec, read.events, range)) {
          if (part.events.length > 0) {
            yield part.message;
            sentAt = performance.now();
            hasSent = true;
          }
        }
        position = read.nextSequence;
        // A new watcher learns at once that it was accepted, and one that catches up how far it is.
        if (!hasSent) message = codec.message([], position);
      } else if (block === undefined) {
        await tail.wait(sentAt + heartbeatMillis - performance.now(), signal);
      } else {
        message = messageAfter(block, position, { filter, codec });
        position = block.upTo;
      }
      if (message === undefined && performance.now() - sentAt >= heartbeatMillis) message = codec.message([], position);
      if (message !== undefined) {
        yield message;
        sentAt = performance.now();
      }
    }
    return undefined;
  } finally {
    follower.leave(organizationId);
  }
}

/** Returns the message with the events of the block that the watcher lacks and that match. */
function messageAfter(
  block: EventBlock,
  position: number,
  { filter, codec }: { readonly filter: EventFilter; readonly codec: EventCodec },
): Buffer | undefined {
  const entries = block.events
    .filter((event) => event.sequence > position && matches(event, filter))
    .map(({ entry }) => entry);
  if (entries.length === 0) return undefined;
  return entries.length === block.events.length ? block.message : codec.message(entries, block.upTo);
}
