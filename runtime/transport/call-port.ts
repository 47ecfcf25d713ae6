import type { OutgoingHttpHeaders } from "node:http2";
import type { MessagePort } from "node:worker_threads";

import { atEndOfTask, MicroBatch } from "../micro-batch.js";

// The calls of a gateway that runs in a thread of the server's process. Both threads post the parts
// of calls to each other, with the headers and the frames that HTTP/2 would carry.

/** A part of a call that the client posts. `id` is the place of the call at the client. */
export type PortRequest =
  | PortCallBegin
  /** The client has taken a message, and the server may write the next one. */
  | { readonly kind: "taken"; readonly id: number }
  | { readonly kind: "cancel"; readonly id: number };

export interface PortCallBegin {
  readonly kind: "begin";
  readonly id: number;
  readonly path: string;
  /** The metadata. */
  readonly headers: Readonly<Record<string, string>>;
  /** In milliseconds since 1970. */
  readonly deadline: number;
  /** The one message of the request, in its frame. */
  readonly body: Uint8Array;
  /** Whether the response is a stream. Then the client says when it has taken a message. */
  readonly isStream: boolean;
}

/** A part of the response. */
export interface PortResponse {
  readonly id: number;
  readonly head?: OutgoingHttpHeaders | undefined;
  /** Without its frame. */
  readonly message?: Uint8Array | undefined;
  /** Every call has them once, at its end. Then the client may give the id to another call. */
  readonly trailers?: OutgoingHttpHeaders | undefined;
}

/** A frame is a flag, four bytes with the length of the message, and the message. */
export const PREFIX_BYTES = 5;

/** Posts the parts of one task together: each post wakes the other thread. */
export function batchedTo<Part extends PortRequest | PortResponse>(port: MessagePort): MicroBatch<Part> {
  return new MicroBatch({
    schedule: atEndOfTask,
    process: (parts) => {
      port.postMessage(parts);
    },
  });
}
