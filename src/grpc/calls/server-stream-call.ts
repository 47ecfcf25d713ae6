import type { handleServerStreamingCall, ServerWritableStream } from "@grpc/grpc-js";

import type { ApiKey } from "../../domain/api-key.js";
import type { AccountId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { ServedRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import {
  type Admit,
  admit,
  type CallDependencies,
  type Caller,
  callerOf,
  type Identity,
  optionsOf,
  parseCall,
  type ServingDependencies,
} from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import { DONE, OpenStream, StreamCounts } from "./open-stream.js";

/**
 * The messages of a stream, encoded. The stream takes the next one when the client has room for it.
 * What the generator returns ends the stream: a refusal, or undefined for OK.
 */
export type EncodedMessages = AsyncGenerator<Buffer, ServedRefusal | undefined, void>;

/** An rpc that takes one request and returns a stream of messages, with an end or without one. */
export interface ServerStreamRpc<Request, Input, Key extends Identity | undefined = ApiKey> {
  readonly request: { decode(bytes: Uint8Array): Request };
  /**
   * The maximum number of open streams of one organization, or of one operator. One more:
   * TOO_MANY_STREAMS.
   */
  readonly streamsMax: number;
  parse(request: Request, caller: Caller<Key>): ParsedFields<Input>;
  /** Returns the account whose personal data the messages show. The log names it. */
  readonly accountOf?: (input: Input) => AccountId;
  /**
   * Makes the messages. A generator that waits must wake up when the signal aborts: the stream has
   * ended then. The deadline of the caller is that of the client, which may have none.
   */
  run(input: Input, caller: Caller<Key>, signal: AbortSignal): EncodedMessages;
}

/** Takes and returns bytes, as a unary call does. */
type ServerStreamHandler = handleServerStreamingCall<Buffer, Buffer>;
export type ServerStreamRoute<Dependencies = CallDependencies> = (
  contract: RpcContract,
  dependencies: Dependencies,
) => ServerStreamHandler;

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
  return serverStreamOf<Request, Input, ApiKey, CallDependencies>(rpc, admit, keyCheckMillis);
}

/** Makes the same handler for callers whom `admitCall` admits. */
export function serverStreamOf<Request, Input, Key extends Identity, Given extends ServingDependencies>(
  rpc: ServerStreamRpc<Request, Input, Key>,
  admitCall: Admit<Key, Given>,
  keyCheckMillis = KEY_CHECK_MILLIS,
): ServerStreamRoute<Given> {
  return (contract, dependencies) => {
    const counts = new StreamCounts();
    return (call) => {
      new MessageStream(call, { rpc, admitCall, contract, dependencies, counts, keyCheckMillis }).begin();
    };
  };
}

interface MessageStreamContext<Request, Input, Key extends Identity, Given extends ServingDependencies> {
  readonly rpc: ServerStreamRpc<Request, Input, Key>;
  readonly admitCall: Admit<Key, Given>;
  readonly contract: RpcContract;
  readonly dependencies: Given;
  readonly counts: StreamCounts;
  readonly keyCheckMillis: number;
}

interface AdmittedStream<Input, Key extends Identity> {
  readonly caller: Caller<Key>;
  readonly input: Input;
}

class MessageStream<Request, Input, Key extends Identity, Given extends ServingDependencies> {
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  readonly #context: MessageStreamContext<Request, Input, Key, Given>;
  readonly #stream: OpenStream;

  constructor(call: ServerWritableStream<Buffer, Buffer>, context: MessageStreamContext<Request, Input, Key, Given>) {
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

  async #admit(): Promise<{ readonly admitted: AdmittedStream<Input, Key> } | Ending> {
    const { rpc, admitCall, dependencies, contract, counts } = this.#context;
    const { metadata, request: bytes } = this.#call;
    const { record } = this.#stream;
    const key = await admitCall(contract, dependencies, { call: this.#call, record });
    if ("reason" in key) return refused(key);
    const options = optionsOf(metadata, contract);
    const { idempotencyKey } = options;
    const deadline = toUnixMillis(Math.min(Number(this.#call.getDeadline()), Number.MAX_SAFE_INTEGER));
    const caller = callerOf(key, record, { idempotencyKey, deadline });
    const input = parseCall(rpc, { contract, bytes, options, caller });
    if (!input.ok) return refused({ reason: "INVALID_FIELD", fields: input.fields });
    if (options.validateOnly || this.#stream.hasEnded) return DONE;

    const leave = counts.enter(holderOf(key), rpc.streamsMax);
    if (typeof leave !== "function") return leave;
    this.#stream.atEnd(leave);
    return { admitted: { caller, input: input.value } };
  }

  async #send({ caller, input }: AdmittedStream<Input, Key>): Promise<void> {
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
      if (next.done === true) {
        stream.end(next.value === undefined ? DONE : refused(next.value));
        continue;
      }
      // Only now: before the account was found, its id is a text of the caller.
      stream.record.accountId = rpc.accountOf?.(input);
      await stream.write(next.value);
    }
    await messages.return(undefined);
  }

  async #checkKey(caller: Caller<Key>): Promise<void> {
    const { admitCall, contract, dependencies } = this.#context;
    const { record } = this.#stream;
    const key = await admitCall(contract, dependencies, { call: this.#call, record });
    if ("reason" in key) this.#stream.end(refused(key));
    // The book has moved to another cell, which the next stream reads.
    else if (cellOf(key) !== cellOf(caller.key)) this.#stream.end(refused({ reason: "BOOK_MOVING" }));
  }
}

/** Returns whose open streams are counted together. */
function holderOf(key: Identity): string {
  return "organizationId" in key ? key.organizationId : key.id;
}

/** Returns the cell that the caller's streams read. An operator has none. */
function cellOf(key: Identity): number | undefined {
  return "cell" in key ? key.cell : undefined;
}
