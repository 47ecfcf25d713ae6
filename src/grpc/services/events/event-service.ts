import type { LedgerEvent } from "../../../events/event.js";
import { EVENTS_READ_MAX } from "../../../events/ports.js";
import { Event as EventMessage } from "../../../gen/kesc/v1/event.js";
import { type EventServiceService, ListEventsRequest, ListEventsResponse } from "../../../gen/kesc/v1/event_service.js";
import type { Caller } from "../../calls/call-context.js";
import type { ListTurns } from "../../calls/list-turns.js";
import { done, refuse } from "../../calls/rpc-result.js";
import type { ServerStreamRoute } from "../../calls/server-stream-call.js";
import { unary, type UnaryRoute } from "../../calls/unary-call.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { toEventMessage } from "../../messages/events/event.js";
import { type EventsAsked, parseEventsAsked } from "../../messages/events/events-asked.js";
import { joined, parseFields } from "../../messages/fields.js";
import { encode } from "../../messages/wire-format.js";
import { parsePageSize } from "../paging.js";
import { refusalAfterEnd, watchEvents, type WatchEventsOptions } from "./watch-events.js";

export interface EventHandlersOptions extends WatchEventsOptions {
  readonly listTurns: ListTurns;
}

const PAGE_SIZES = { usual: 50, max: 200 };
/** Clients of gRPC take messages of 4 MiB unless told otherwise. */
const RESPONSE_BYTES_MAX = 3 * 1_024 * 1_024;
/** The maximum number of rows that one call looks at. */
const LOOKED_AT_MAX = 10_000;

/** The rpcs of kesc.v1.EventService. An rpc of the contract without a handler does not compile. */
export function eventHandlers(
  options: EventHandlersOptions,
): Record<keyof EventServiceService, UnaryRoute | ServerStreamRoute> {
  return { listEvents: listEvents(options), watchEvents: watchEvents(options) };
}

function listEvents({ cellOf, listTurns }: EventHandlersOptions): UnaryRoute {
  return unary({
    request: ListEventsRequest,
    response: ListEventsResponse,
    parse: (request) => {
      const asked = parseEventsAsked(request);
      const size = parseFields({ page_size: parsePageSize(request.page_size, PAGE_SIZES) });
      return joined(asked, size, (value, { page_size: pageSize }) => ({ ...value, pageSize }));
    },
    run: async (asked, caller) => {
      const page = await readPage(asked, { caller, cellOf, listTurns });
      if ("reason" in page) return refuse(page);
      const { events, nextSequence } = fitting(page);
      return done({
        events,
        next_sequence: BigInt(nextSequence),
        latest_sequence: BigInt(page.latestSequence),
      });
    },
  });
}

/** Leaves out the events that one message cannot hold: the next page begins with them. */
function fitting({ events, nextSequence }: EventPage): { events: EventMessage[]; nextSequence: number } {
  const messages: EventMessage[] = [];
  let bytes = 0;
  for (const event of events) {
    const message = toEventMessage(event);
    bytes += encode(EventMessage, message).length;
    if (bytes > RESPONSE_BYTES_MAX && messages.length > 0) {
      return { events: messages, nextSequence: events[messages.length - 1]?.sequence ?? nextSequence };
    }
    messages.push(message);
  }
  return { events: messages, nextSequence };
}

interface EventPage {
  readonly events: readonly LedgerEvent[];
  readonly nextSequence: number;
  readonly latestSequence: number;
}

/**
 * Reads a page in parts, each at its turn. A filter that few events match looks at a bounded number
 * of rows: the page then ends before it is full.
 */
async function readPage(
  { afterSequence, filter, pageSize }: EventsAsked & { readonly pageSize: number },
  { caller, cellOf, listTurns }: Pick<EventHandlersOptions, "cellOf" | "listTurns"> & { readonly caller: Caller },
): Promise<EventPage | AnyRefusal> {
  const { id: organizationId } = caller.organization;
  const reads = cellOf(caller.organization).eventReads;
  const hasFilter = filter.types !== undefined || filter.accountId !== undefined;
  const found: LedgerEvent[] = [];
  for (let after = afterSequence; ;) {
    const left = LOOKED_AT_MAX - (after - afterSequence);
    const limit = hasFilter ? Math.min(EVENTS_READ_MAX, left) : pageSize;
    const read = await listTurns.page(caller, async () => {
      const part = await reads.after({ organizationId, afterSequence: after, limit, filter });
      return { ...part, rows: part.events, lookedAt: part.nextSequence - after };
    });
    if ("reason" in read) return read;
    const { latestSequence } = read;
    if (afterSequence > latestSequence) return refusalAfterEnd(latestSequence);
    found.push(...read.events);
    after = read.nextSequence;
    if (found.length >= pageSize || after >= latestSequence || after - afterSequence >= LOOKED_AT_MAX) {
      const events = found.slice(0, pageSize);
      const isCut = found.length > pageSize;
      return { events, nextSequence: isCut ? (events.at(-1)?.sequence ?? after) : after, latestSequence };
    }
  }
}
