import { fromBinary, type Message } from "@bufbuild/protobuf";
import { status, type StatusObject } from "@grpc/grpc-js";

import type { ReadFailure } from "../../contract/failure.js";
import type { RateLimit, Rpc, RpcCallOptions, UpstreamFailure } from "../../contract/rpc.js";
import type { Channel, ChannelCall } from "./channel.js";
import { rateLimitOf } from "./rate-limit.js";

/** The next item of a stream: a message, or its end, in order or not. */
export type StreamStep =
  | { readonly kind: "message"; readonly message: Message; readonly bytes: number }
  | { readonly kind: "end"; readonly failure: UpstreamFailure | undefined };

/** One call of an rpc that streams its response. */
export interface UpstreamStream {
  /** Undefined until the first step, or if the server has not counted the call. */
  readonly rateLimit: RateLimit | undefined;
  /** Reads the next message. Nothing is read ahead, so a slow client slows down the server. */
  next(): Promise<StreamStep>;
  cancel(): void;
}

interface StreamOptions extends Pick<RpcCallOptions, "metadata" | "deadline"> {
  readonly channel: Channel;
  readonly readFailure: ReadFailure;
}

/** Uses the channel itself: a readable stream of grpc-js reads sixteen messages ahead. */
export class StreamCall implements UpstreamStream {
  readonly #call: ChannelCall;
  #end: StreamStep | undefined;
  #take: ((step: StreamStep) => void) | undefined;
  rateLimit: RateLimit | undefined;

  constructor(rpc: Rpc, request: Buffer, { channel, metadata, deadline, readFailure }: StreamOptions) {
    const { call, release } = channel.createStream(rpc.path, deadline);
    this.#call = call;
    const endWith = ({ code, details, metadata: trailers }: StatusObject): void => {
      if (this.#end !== undefined) return;
      // A refusal has one set of headers.
      this.rateLimit ??= rateLimitOf(trailers);
      const failure = code === status.OK ? undefined : readFailure({ code, details, metadata: trailers });
      this.#end = { kind: "end", failure };
      release();
      this.#give(this.#end);
    };
    call.start(metadata, {
      onReceiveMetadata: (head) => {
        this.rateLimit = rateLimitOf(head);
      },
      onReceiveMessage: (bytes: Uint8Array | null) => {
        if (bytes !== null)
          this.#give({ kind: "message", message: fromBinary(rpc.output, bytes), bytes: bytes.length });
      },
      onReceiveStatus: endWith,
    });
    call.sendMessageWithContext({}, request);
    call.halfClose();
  }

  next(): Promise<StreamStep> {
    if (this.#end !== undefined) return Promise.resolve(this.#end);
    return new Promise((resolve) => {
      this.#take = resolve;
      this.#call.startRead();
    });
  }

  cancel(): void {
    this.#call.cancelWithStatus(status.CANCELLED, "the client has gone");
  }

  #give(step: StreamStep): void {
    this.#take?.(step);
    this.#take = undefined;
  }
}
