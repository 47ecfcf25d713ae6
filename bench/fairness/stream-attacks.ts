import { Client, credentials, Metadata } from "@grpc/grpc-js";

import { BookServiceService } from "../../src/gen/kesc/v1/book_service.js";
import { EventServiceService } from "../../src/gen/kesc/v1/event_service.js";
import type { Attack } from "./attack.js";

/** As many as an organization can have at a server. */
const WATCHERS = 100;
const EXPORTS = 2;
/** No row can be recorded before a time that is a minute old. */
const FINAL_MILLIS = 61_000;
const RETRY_MILLIS = 100;

interface StreamRpc<Request> {
  path: string;
  requestSerialize: (request: Request) => Buffer;
}

/** Reads a stream to its end, again and again. Counts its messages. */
function readAgain<Request>({ hostile, tally }: Attack, rpc: StreamRpc<Request>, request: () => Request): void {
  const client = new Client(hostile.grpcAddress, credentials.createInsecure());
  const metadata = new Metadata();
  // The first key lacks the scopes of streams.
  metadata.set("x-api-key", hostile.keys[1] ?? "");
  const read = (): void => {
    client
      .makeServerStreamRequest(rpc.path, rpc.requestSerialize, (bytes) => bytes.length, request(), metadata)
      .on("data", () => {
        tally.settle(tally.next(performance.now()), performance.now(), undefined);
      })
      .on("error", ({ message }) => {
        tally.blame(message, 1);
        setTimeout(read, RETRY_MILLIS);
      })
      .on("end", () => setTimeout(read, 0));
  };
  read();
}

/** Exports the whole journal of the organization as often as it can. */
export function exportAll(attack: Attack): void {
  for (let opened = 0; opened < EXPORTS; opened++) {
    readAgain(attack, BookServiceService.exportJournal, () => ({
      start: "2020-01-01",
      end: new Date(Date.now() - FINAL_MILLIS).toISOString(),
    }));
  }
}

/** Watches the organization's events with all its streams, from the beginning of the book. */
export function watchAll(attack: Attack): void {
  for (let opened = 0; opened < WATCHERS; opened++) {
    readAgain(attack, EventServiceService.watchEvents, () => ({ after_sequence: 0n, types: [], account_id: "" }));
  }
}
