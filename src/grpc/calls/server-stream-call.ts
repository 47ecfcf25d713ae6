import type { handleServerStreamingCall, ServerWritableStream } from "@grpc/grpc-js";

import { toUnixMillis } from "../../domain/values/time.js";
import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import { admit, type CallDependencies, type Caller, callerOf, optionsOf, parseCall } from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import { DONE, OpenStream, StreamCounts } from "./open-stream.js";

/**
 * The messages of a stream, encoded. The stream takes the next one when the client has room for it.
 * What the generator returns ends the stream: a refusal, or undefined for OK.
 */
export type EncodedMessages = AsyncGenerator<Buffer, AnyRefusal | undefined, void>;

/** An rpc that takes one request and returns a stream of messages, with an end or without one. */
export interface ServerStreamRpc<Request, Input> {
  readonly request: { decode(bytes: Uint8Array): Request };
  /** The maximum number of open streams of one organization. One more: TOO_MANY_STREAMS. */
  readonly streamsMax: number;
  parse(request: Request, caller: Caller): ParsedFields<Input>;
  /**
   * Makes the messages. A generator that waits must wake up when the signal aborts: the stream has
   * ended then. The deadline of the caller is that of the client, which may have none.
   */
  run(input: Input, caller: Caller, signal: AbortSignal): EncodedMessages;
}

/** Takes and returns bytes, as a unary call does. */
type ServerStreamHandler = handleServerStreamingCall<Buffer, Buffer>;
export type ServerStreamRoute = (contract: RpcContract, dependencies: CallDependencies) => ServerStreamHandler;

/** How often an open stream looks at its key again. */
const KEY_CHECK_MILLIS = 15_000;

/**
 * Makes the handler of an rpc whose responses stream. It ends every stream exactly once, and logs
 * it in one line.
 *
 * Makes the same checks as a unary call, in the same order. Repeats those of the key every 15
 * seconds, so that a key that is revoked or expires ends the stream.
 */
export function serverStream<Request, Input>(
  rpc: ServerStreamRpc<Request, Input>,
  keyCheckMillis = KEY_CHECK_MILLIS,
): ServerStreamRoute {
  return (contract, dependencies) => {
    const counts = new StreamCounts();
    return (call) => {
      new MessageStream(call, { rpc, contract, dependencies, counts, keyCheckMillis }).begin();
    };
  };
}

interface MessageStreamContext<Request, Input> {
  readonly rpc: ServerStreamRpc<Request, Input>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly counts: StreamCounts;
  readonly keyCheckMillis: number;
}

interface AdmittedStream<Input> {
  readonly caller: Caller;
  readonly input: Input;
}

class MessageStream<Request, Input> {
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  readonly #context: MessageStreamContext<Request, Input>;
  readonly #stream: OpenStream;

  constructor(call: ServerWritableStream<Buffer, Buffer>, context: MessageStreamContext<Request, Input>) {
    this.#call = call;
    this.#context = context;
    this.#stream = new OpenStream(call, context);
  }

  begin(): void {
    this.#stream.begin(
      () => this.#admit(),
      (admitted) => this.#send(admitted),
    );
  }

  async #admit(): Promise<{ readonly admitted: AdmittedStream<Input> } | Ending> {
    const { rpc, dependencies, contract, counts } = this.#context;
    const { metadata, request: bytes } = this.#call;
    const { record } = this.#stream;
    const key = await admit(contract, dependencies, { call: this.#call, record });
    if ("reason" in key) return refused(key);
    const options = optionsOf(metadata, contract);
    const { idempotencyKey } = options;
    const deadline = toUnixMillis(Math.min(Number(this.#call.getDeadline()), Number.MAX_SAFE_INTEGER));
    const caller = callerOf(key, record, { idempotencyKey, deadline });
    const input = parseCall(rpc, { contract, bytes, options, caller });
    if (!input.ok) return refused({ reason: "INVALID_FIELD", fields: input.fields });
    if (options.validateOnly || this.#stream.hasEnded) return DONE;

    const leave = counts.enter(key.organizationId, rpc.streamsMax);
    if (typeof leave !== "function") return leave;
    this.#stream.atEnd(leave);
    return { admitted: { caller, input: input.value } };
  }

  async #send({ caller, input }: AdmittedStream<Input>): Promise<void> {
    const { rpc, keyCheckMillis } = this.#context;
    const stream = this.#stream;
    const checking = setInterval(() => {
      void stream.endOnError(() => this.#checkKey(caller));
    }, keyCheckMillis);
    stream.atEnd(() => {
      clearInterval(checking);
    });
    stream.onStopping((refusal) => {
      stream.end(refused(refusal));
    });
    const messages = rpc.run(input, caller, stream.signal);
    while (!stream.hasEnded) {
      const next = await messages.next();
      if (next.done === true) stream.end(next.value === undefined ? DONE : refused(next.value));
      else await stream.write(next.value);
    }
    await messages.return(undefined);
  }

  async #checkKey(caller: Caller): Promise<void> {
    const { contract, dependencies } = this.#context;
    const { record } = this.#stream;
    const key = await admit(contract, dependencies, { call: this.#call, record });
    if ("reason" in key) this.#stream.end(refused(key));
    // The book has moved to another cell, which the next stream reads.
    else if (key.cell !== caller.key.cell) this.#stream.end(refused({ reason: "BOOK_MOVING" }));
  }
}
