import { fromBinary, type Message } from "@bufbuild/protobuf";
import { type ChannelCredentials, type ChannelOptions, Client, status, type StatusObject } from "@grpc/grpc-js";

import type { ReadFailure } from "../../contract/failure.js";
import type { RateLimit, Rpc, RpcCallOptions, UpstreamFailure } from "../../contract/rpc.js";
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

// A connection carries few calls at a time (KESC_GRPC_CONCURRENT_CALLS_MAX). Calls beyond would
// wait for the end of streams that have none.
const CALLS_OF_CONNECTION_MAX = 250;

interface StreamsConnection {
  readonly client: Client;
  calls: number;
}

export interface StreamsOptions {
  readonly target: string;
  readonly credentials: ChannelCredentials;
  readonly channelOptions: ChannelOptions;
  readonly readFailure: ReadFailure;
}

/** Makes streaming calls on connections of their own: streams take no room of other calls. */
export class UpstreamStreams {
  readonly #connections: StreamsConnection[] = [];
  readonly #options: StreamsOptions;

  constructor(options: StreamsOptions) {
    this.#options = options;
  }

  open(rpc: Rpc, request: Buffer, options: Pick<RpcCallOptions, "metadata" | "deadline">): UpstreamStream {
    const connection = this.#connections.find(({ calls }) => calls < CALLS_OF_CONNECTION_MAX) ?? this.#connect();
    connection.calls += 1;
    return new StreamCall(rpc, request, {
      ...options,
      client: connection.client,
      readFailure: this.#options.readFailure,
      onEnd: () => {
        connection.calls -= 1;
      },
    });
  }

  close(): void {
    for (const { client } of this.#connections) client.close();
  }

  #connect(): StreamsConnection {
    const { target, credentials, channelOptions } = this.#options;
    // Without the option, clients of the same target share one connection.
    const options = { ...channelOptions, "grpc.use_local_subchannel_pool": 1 };
    const connection = { client: new Client(target, credentials, options), calls: 0 };
    this.#connections.push(connection);
    return connection;
  }
}

interface StreamCallOptions extends Pick<RpcCallOptions, "metadata" | "deadline"> {
  readonly client: Client;
  readonly readFailure: ReadFailure;
  readonly onEnd: () => void;
}

/** Uses the channel itself: a readable stream of grpc-js reads sixteen messages ahead. */
class StreamCall implements UpstreamStream {
  readonly #call;
  #end: StreamStep | undefined;
  #take: ((step: StreamStep) => void) | undefined;
  rateLimit: RateLimit | undefined;

  constructor(rpc: Rpc, request: Buffer, { client, metadata, deadline, readFailure, onEnd }: StreamCallOptions) {
    this.#call = client.getChannel().createCall(rpc.path, deadline, null, null, null);
    const endWith = ({ code, details, metadata: trailers }: StatusObject): void => {
      if (this.#end !== undefined) return;
      // A refusal has one set of headers.
      this.rateLimit ??= rateLimitOf(trailers);
      const failure = code === status.OK ? undefined : readFailure({ code, details, metadata: trailers });
      this.#end = { kind: "end", failure };
      onEnd();
      this.#give(this.#end);
    };
    this.#call.start(metadata, {
      onReceiveMetadata: (head) => {
        this.rateLimit = rateLimitOf(head);
      },
      onReceiveMessage: (bytes: Buffer | null) => {
        if (bytes !== null)
          this.#give({ kind: "message", message: fromBinary(rpc.output, bytes), bytes: bytes.length });
      },
      onReceiveStatus: endWith,
    });
    this.#call.sendMessageWithContext({}, request);
    this.#call.halfClose();
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
