import { randomUUID } from "node:crypto";

import { type ServiceError } from "@grpc/grpc-js";

import type { Event } from "../gen/kesc/v1/event.js";
import {
  EventServiceService,
  type WatchEventsRequest,
  type WatchEventsResponse,
} from "../gen/kesc/v1/event_service.js";
import { type Connection, metadataOf } from "./call.js";
import { KescError } from "./kesc-error.js";
import { isWorthAnotherTry, restBefore } from "./retry.js";

/** The server sends something at least every 15 seconds. */
const SILENCE_MILLIS_MAX = 45_000;

export interface WatchOptions {
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

/**
 * Yields each event of the book after the sequence, in order, and then each new one. Goes on where
 * it was after the connection was lost. Throws a KescError that no other try would mend.
 *
 * Each event is yielded once. A program that must not miss one stores its sequence together with
 * what it did, and begins after it the next time.
 */
export async function* watchEvents(
  connection: Connection,
  request: Partial<WatchEventsRequest>,
  { signal }: WatchOptions,
): AsyncGenerator<Event, void, void> {
  let position = request.after_sequence ?? 0n;
  for (let tries = 0; !isOver(signal); tries++) {
    try {
      for await (const { events, next_sequence: next } of messages(connection, position, { request, signal })) {
        tries = 0;
        yield* events;
        position = next;
      }
    } catch (error) {
      if (!(error instanceof KescError)) throw error;
      if (isOver(signal)) return;
      const isMendable = isWorthAnotherTry(error) || error.code === "CANCELLED" || error.code === "INTERNAL";
      if (!isMendable) throw error;
      await restBefore(tries + 1, { failure: error, deadline: Infinity, signal }).catch((reason: unknown) => {
        if (!isOver(signal)) throw reason;
      });
    }
  }
}

/** The messages of one connection. Ends the call if nothing came for too long. */
async function* messages(
  { client, apiKey }: Connection,
  after: bigint,
  given: { readonly request: Partial<WatchEventsRequest>; readonly signal: AbortSignal | undefined },
): AsyncGenerator<WatchEventsResponse, void, void> {
  const { request, signal } = given;
  const { path, requestSerialize, responseDeserialize } = EventServiceService.watchEvents;
  const message = { types: [], account_id: "", ...request, after_sequence: after };
  const requestId = randomUUID();
  const stream = client.makeServerStreamRequest(
    path,
    requestSerialize,
    responseDeserialize,
    message,
    metadataOf({ apiKey }, requestId),
  );
  const cancel = (): void => {
    stream.cancel();
  };
  signal?.addEventListener("abort", cancel);
  const silence = setTimeout(cancel, SILENCE_MILLIS_MAX);
  try {
    for await (const response of stream) {
      silence.refresh();
      yield response as WatchEventsResponse;
    }
  } catch (error) {
    throw KescError.ofCall(error as ServiceError, requestId);
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener("abort", cancel);
    stream.cancel();
  }
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
