import { setImmediate } from "node:timers/promises";

import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { handleBidiStreamingCall, ServerDuplexStream } from "@grpc/grpc-js";

import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import { encode } from "../messages/encode.js";
import type { ParsedFields } from "../messages/fields.js";
import {
  admit,
  type CallDependencies,
  type Caller,
  type CallRecord,
  deadlineOf,
  headOf,
  optionsOf,
  parseRequest,
  recordOf,
  refusalOfThrown,
} from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import type { ItemTally } from "./rpc-result.js";
import { endStream, OpenStreams } from "./stream-ends.js";

/** An rpc that returns one message for each message of a stream, in the same order. */
export interface StreamRpc<Request, Input extends { readonly length: number }, Response> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  /** Checks the shape of one message. A refusal ends the stream. */
  parse(request: Request, caller: Caller): ParsedFields<Input>;
  /** Executes one message, which has `length` items. */
  run(input: Input, caller: Caller): Promise<{ readonly response: Response; readonly items: ItemTally }>;
}

/** Takes and returns bytes, as a unary call does. */
type StreamHandler = handleBidiStreamingCall<Buffer, Buffer>;
export type StreamRoute = (contract: RpcContract, dependencies: CallDependencies) => StreamHandler;

// 1,000 items of one stream keep the committer busy. Two streams of an organization, each with one
// message more, fill less than its half of the queue. grpc-js reads up to 16 more messages of each
// stream; they wait undecoded.
const ITEMS_IN_FLIGHT_MAX = 1_000;
const STREAMS_OF_ORGANIZATION_MAX = 2;
const DONE: Ending = { kind: "done", replayed: false };

/**
 * Makes the handler of a streaming rpc. It ends every stream exactly once, and logs it in one line.
 *
 * Makes the same checks as a unary call, in the same order. Repeats them, apart from the metadata,
 * for each message, so a revoked key ends the stream. A refusal ends the stream, too, once all
 * accepted messages have their response.
 */
export function stream<Request, Input extends { readonly length: number }, Response>(
  rpc: StreamRpc<Request, Input, Response>,
): StreamRoute {
  return (contract, dependencies) => {
    const open = new OpenStreams();
    return (call) => {
      new OpenStream(call, { rpc, contract, dependencies, open }).begin();
    };
  };
}

interface StreamContext<Request, Input extends { readonly length: number }, Response> {
  readonly rpc: StreamRpc<Request, Input, Response>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly open: OpenStreams;
}

class OpenStream<Request, Input extends { readonly length: number }, Response> {
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #context: StreamContext<Request, Input, Response>;
  readonly #record: CallRecord;
  readonly #cleanups: (() => void)[] = [];
  #itemsInFlight = 0;
  #tally: ItemTally = { items: 0, refused: 0, thrown: undefined };
  /** Resolves once all accepted messages have their response. */
  #responded: Promise<void> = Promise.resolve();
  /**
   * Resolves once the message that was read last is running. Undefined if no message is being
   * accepted.
   */
  #accepting: Promise<void> | undefined;
  /** Whether the stream accepts no more messages. */
  #closing = false;
  #ended = false;

  constructor(call: ServerDuplexStream<Buffer, Buffer>, context: StreamContext<Request, Input, Response>) {
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
      if ("key" in admitted) this.#listen(admitted);
      else this.#end(admitted);
    });
  }

  /** Returns the caller. Returns the end of the stream if it is refused or has nothing to do. */
  async #admit(): Promise<Caller | Ending> {
    const { dependencies, contract, open } = this.#context;
    const { metadata } = this.#call;
    const key = await admit(contract, dependencies, { call: this.#call, record: this.#record });
    if ("reason" in key) return refused(key);
    const { problems, validateOnly, idempotencyKey } = optionsOf(metadata, contract);
    if (problems.length > 0) return refused({ reason: "INVALID_FIELD", fields: problems });
    if (validateOnly || this.#ended) return DONE;

    const leave = open.enter(key.organizationId, STREAMS_OF_ORGANIZATION_MAX);
    if (leave === undefined) {
      return refused({ reason: "TOO_MANY_STREAMS", streamsMax: STREAMS_OF_ORGANIZATION_MAX });
    }
    this.#cleanups.push(leave);
    return {
      key,
      requestId: this.#record.requestId,
      idempotencyKey,
      deadline: deadlineOf(this.#call, dependencies),
      trace: this.#record.span?.parent,
      bucket: this.#record.bucket,
    };
  }

  #listen(caller: Caller): void {
    const { dependencies } = this.#context;
    this.#cleanups.push(
      dependencies.onStopping(() => {
        void this.#refuseAfterResponses({ reason: "SHUTTING_DOWN" });
      }),
    );
    const idle = setTimeout(() => {
      if (this.#itemsInFlight > 0) idle.refresh();
      else void this.#refuseAfterResponses({ reason: "DEADLINE_EXCEEDED" });
    }, dependencies.callMillisMax);
    this.#cleanups.push(() => {
      clearTimeout(idle);
    });
    this.#call.on("data", (bytes: Buffer) => {
      // Accepts one message at a time. Reading resumes once the message is running and there is
      // room for another one.
      this.#call.pause();
      idle.refresh();
      this.#accepting = this.#endOnError(async () => {
        await this.#accept(bytes, caller);
        this.#accepting = undefined;
        this.#resumeReading();
      });
    });
    // The server may have begun to stop during the look-up of the key.
    if (dependencies.isStopping()) void this.#refuseAfterResponses({ reason: "SHUTTING_DOWN" });
    this.#call.once("end", () => {
      void this.#endAfterResponses();
    });
  }

  async #endAfterResponses(): Promise<void> {
    // Node emits "end" when it reads the last message, before that message is running.
    await this.#accepting;
    await this.#responded;
    // A stream that is cancelled emits "end" first, and "cancelled" shortly afterwards.
    await setImmediate();
    this.#end(DONE);
  }

  async #accept(bytes: Buffer, { requestId, idempotencyKey }: Caller): Promise<void> {
    const { rpc, contract, dependencies } = this.#context;
    const key = await admit(contract, dependencies, { call: this.#call, record: this.#record });
    if (this.#closing) return;
    if ("reason" in key) return this.#refuseAfterResponses(key);
    const caller = {
      key,
      requestId,
      idempotencyKey,
      deadline: deadlineOf(this.#call, dependencies),
      trace: this.#record.span?.parent,
      bucket: this.#record.bucket,
    };
    const input = parseRequest(rpc, contract, bytes, caller);
    if (!input.ok) return this.#refuseAfterResponses({ reason: "INVALID_FIELD", fields: input.fields });

    this.#itemsInFlight += input.value.length;
    // The message starts at once. Its response waits for the responses before it.
    const running = rpc.run(input.value, caller);
    const before = this.#responded;
    this.#responded = this.#endOnError(async () => {
      const { response, items } = await running;
      this.#count(items);
      await before;
      await this.#write(encode(rpc.response, response));
      this.#itemsInFlight -= input.value.length;
      this.#resumeReading();
    });
  }

  #resumeReading(): void {
    if (!this.#closing && this.#accepting === undefined && this.#itemsInFlight < ITEMS_IN_FLIGHT_MAX)
      this.#call.resume();
  }

  /** Resolves once the client has read enough that there is room for more. */
  #write(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended) return;
      this.#call.write(bytes, () => {
        resolve();
      });
    });
  }

  #count({ items, refused: refusedItems, thrown }: ItemTally): void {
    this.#tally = {
      items: this.#tally.items + items,
      refused: this.#tally.refused + refusedItems,
      thrown: this.#tally.thrown ?? thrown,
    };
  }

  /**
   * Accepts no more messages. Refuses the stream once all accepted messages have their response.
   */
  async #refuseAfterResponses(refusal: AnyRefusal): Promise<void> {
    this.#closing = true;
    this.#call.pause();
    await this.#responded;
    this.#end(refused(refusal));
  }

  /** Ends the stream if `work` throws: an error is a bug or a failure of the database. */
  async #endOnError(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#record.thrown = error;
      this.#end(refused(refusalOfThrown(error, this.#record.requestId)));
    }
  }

  #end(ending: Ending): void {
    if (this.#ended) return;
    this.#closing = true;
    this.#ended = true;
    const { contract, dependencies } = this.#context;
    this.#record.items = this.#tally;
    for (const cleanUp of this.#cleanups) cleanUp();
    endStream(this.#call, ending, { contract, dependencies, record: this.#record });
  }
}
