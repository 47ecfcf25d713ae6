import type { UnixMillis } from "../../../domain/values/time.js";
import { HEARTBEAT_MILLIS, watch } from "../../../events/watch.js";
import { WatchEventsRequest } from "../../../gen/kesc/v1/event_service.js";
import type { Caller } from "../../calls/call-context.js";
import { ListTurns } from "../../calls/list-turns.js";
import type { EncodedMessages } from "../../calls/route.js";
import { serverStream, type ServerStreamRoute } from "../../calls/server-stream-call.js";
import type { AnyRefusal } from "../../errors/refusal.js";
import { eventCodec } from "../../messages/events/event.js";
import { type EventsAsked, parseEventsAsked } from "../../messages/events/events-asked.js";
import type { CellOf } from "../served-cell.js";

export interface WatchEventsOptions {
  readonly cellOf: CellOf;
  readonly now: () => UnixMillis;
}

const WATCHES_OF_ORGANIZATION_MAX = 100;
/** The maximum number of reads at a time of watchers that catch up. */
const CATCH_UPS_MAX = 2;

export function watchEvents({ cellOf, now }: WatchEventsOptions): ServerStreamRoute {
  // Watchers that catch up have turns of their own: they delay no list of the same organization.
  const turns = new ListTurns({ now, underWayMax: CATCH_UPS_MAX });
  return serverStream({
    request: WatchEventsRequest,
    streamsMax: WATCHES_OF_ORGANIZATION_MAX,
    parse: parseEventsAsked,
    run: (asked, caller, signal) => messagesOf(asked, { caller, signal, cellOf, turns }),
  });
}

interface Watching {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly cellOf: CellOf;
  readonly turns: ListTurns;
}

async function* messagesOf(asked: EventsAsked, { caller, signal, cellOf, turns }: Watching): EncodedMessages {
  const { eventReads, follower } = cellOf(caller.organization);
  const { id: organizationId } = caller.organization;
  const latestSequence = yield* watch(
    { organizationId, ...asked, signal },
    {
      follower,
      codec: eventCodec,
      heartbeatMillis: HEARTBEAT_MILLIS,
      readInTurn: async (request) => {
        const page = await turns.pageOfStream({ caller, signal }, async () => {
          const read = await eventReads.after(request);
          return { ...read, rows: read.events, lookedAt: read.nextSequence - request.afterSequence };
        });
        return "reason" in page ? undefined : page;
      },
    },
  );
  return latestSequence === undefined ? undefined : refusalAfterEnd(latestSequence);
}

/** The refusal of a sequence that the book does not have: the caller knows another book. */
export function refusalAfterEnd(latestSequence: number): AnyRefusal {
  const message = `must be at most ${String(latestSequence)}, the sequence of the last event of the book`;
  return { reason: "INVALID_FIELD", fields: [{ field: "after_sequence", message, code: "OUT_OF_RANGE" }] };
}
