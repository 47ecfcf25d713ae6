import type { handleServerStreamingCall, ServerWritableStream } from "@grpc/grpc-js";

import { toUnixMillis } from "../../domain/values/time.js";
import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import {
  admit,
  type CallDependencies,
  type Caller,
  type CallRecord,
  headOf,
  optionsOf,
  parseRequest,
  recordOf,
  refusalOfThrown,
} from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import { endStream, OpenStreams } from "./stream-ends.js";

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

const DONE: Ending = { kind: "done", replayed: false };

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
    const open = new OpenStreams();
    return (call) => {
      new OpenServerStream(call, { rpc, contract, dependencies, open, keyCheckMillis }).begin();
    };
  };
}

interface ServerStreamContext<Request, Input> {
  readonly rpc: ServerStreamRpc<Request, Input>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly open: OpenStreams;
  readonly keyCheckMillis: number;
}

class OpenServerStream<Request, Input> {
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  readonly #context: ServerStreamContext<Request, Input>;
  readonly #record: CallRecord;
  readonly #cleanups: (() => void)[] = [];
  /** Aborts when the stream ends, for whatever reason. */
  readonly #ending = new AbortController();

  constructor(call: ServerWritableStream<Buffer, Buffer>, context: ServerStreamContext<Request, Input>) {
    this.#call = call;
    this.#context = context;
    this.#record = recordOf(call.metadata, context.contract, context.dependencies.tracing);
  }

  begin(): void {
    const { contract, dependencies } = this.#context;
    dependencies.onInFlight(1);
    dependencies.meter?.rpc(contract).started();
    this.#call.once("cancelled", () => {
      this.#end(DONE);
    });
    void this.#endOnError(async () => {
      const admitted = await this.#admit();
      this.#call.sendMetadata(headOf(this.#record));
      if ("caller" in admitted) await this.#send(admitted);
      else this.#end(admitted);
    });
  }

  /** Returns the end of the stream if it is refused or has nothing to do. */
  async #admit(): Promise<{ readonly caller: Caller; readonly input: Input } | Ending> {
    const { rpc, dependencies, contract, open } = this.#context;
    const { metadata, request } = this.#call;
    const key = await admit(contract, dependencies, { call: this.#call, record: this.#record });
    if ("reason" in key) return refused(key);
    const { problems, validateOnly, idempotencyKey } = optionsOf(metadata, contract);
    const deadline = toUnixMillis(Math.min(Number(this.#call.getDeadline()), Number.MAX_SAFE_INTEGER));
    const caller = {
      key,
      requestId: this.#record.requestId,
      idempotencyKey,
      deadline,
      trace: this.#record.span?.parent,
      bucket: this.#record.bucket,
    };
    const input = parseRequest(rpc, contract, request, caller);
    if (!input.ok || problems.length > 0)
      return refused({ reason: "INVALID_FIELD", fields: [...(input.ok ? [] : input.fields), ...problems] });
    if (validateOnly || this.#hasEnded()) return DONE;

    const { streamsMax } = rpc;
    const leave = open.enter(key.organizationId, streamsMax);
    if (leave === undefined) return refused({ reason: "TOO_MANY_STREAMS", streamsMax });
    this.#cleanups.push(leave);
    return { caller, input: input.value };
  }

  async #send({ caller, input }: { readonly caller: Caller; readonly input: Input }): Promise<void> {
    const { rpc, dependencies, keyCheckMillis } = this.#context;
    const removeStop = dependencies.onStopping(() => {
      this.#end(refused({ reason: "SHUTTING_DOWN" }));
    });
    const checking = setInterval(() => {
      void this.#endOnError(() => this.#checkKey(caller));
    }, keyCheckMillis);
    this.#cleanups.push(removeStop, () => {
      clearInterval(checking);
    });
    // The server may have begun to stop during the look-up of the key.
    if (dependencies.isStopping()) {
      this.#end(refused({ reason: "SHUTTING_DOWN" }));
      return;
    }
    const messages = rpc.run(input, caller, this.#ending.signal);
    while (!this.#hasEnded()) {
      const next = await messages.next();
      if (next.done === true) this.#end(next.value === undefined ? DONE : refused(next.value));
      else if (!this.#hasEnded()) await this.#write(next.value);
    }
    await messages.return(undefined);
  }

  async #checkKey(caller: Caller): Promise<void> {
    const { contract, dependencies } = this.#context;
    const key = await admit(contract, dependencies, { call: this.#call, record: this.#record });
    if ("reason" in key) this.#end(refused(key));
    // The book has moved to another cell, which the next stream reads.
    else if (key.cell !== caller.key.cell) this.#end(refused({ reason: "BOOK_MOVING" }));
  }

  /** Resolves once the client has read enough that there is room for more, or at the end. */
  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      const { signal } = this.#ending;
      const written = (): void => {
        signal.removeEventListener("abort", written);
        resolve();
      };
      signal.addEventListener("abort", written);
      this.#call.write(bytes, written);
    });
  }

  #hasEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Ends the stream if `work` throws: an error is a bug or a failure of the database. */
  async #endOnError(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#hasEnded()) return;
      this.#record.thrown = error;
      this.#end(refused(refusalOfThrown(error, this.#record.requestId)));
    }
  }

  #end(ending: Ending): void {
    if (this.#hasEnded()) return;
    const { contract, dependencies } = this.#context;
    this.#ending.abort();
    for (const cleanUp of this.#cleanups) cleanUp();
    endStream(this.#call, ending, { contract, dependencies, record: this.#record });
  }
}
