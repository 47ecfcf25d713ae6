import { setImmediate } from "node:timers/promises";

import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { handleBidiStreamingCall, ServerDuplexStream } from "@grpc/grpc-js";

import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import { encode } from "../messages/wire-format.js";
import {
  type Admitted,
  type CallDependencies,
  type Caller,
  callerOf,
  deadlineOf,
  lineOf,
  optionsOf,
  parseRequest,
} from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import { DONE, OpenStream, StreamCounts } from "./open-stream.js";
import type { RpcRoute } from "./route.js";
import type { ItemTally } from "./rpc-result.js";

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
export type StreamRoute = RpcRoute<StreamHandler>;

// 1,000 items of one stream keep the committer busy. Two streams of an organization, each with one
// message more, fill less than its half of the queue. grpc-js reads up to 16 more messages of each
// stream; they wait undecoded.
const ITEMS_IN_FLIGHT_MAX = 1_000;
const STREAMS_OF_ORGANIZATION_MAX = 2;

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
    const counts = new StreamCounts();
    return (call) => {
      new ExchangeStream(call, { rpc, contract, dependencies, counts }).begin();
    };
  };
}

interface ExchangeStreamContext<Request, Input extends { readonly length: number }, Response> {
  readonly rpc: StreamRpc<Request, Input, Response>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly counts: StreamCounts;
}

class ExchangeStream<Request, Input extends { readonly length: number }, Response> {
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #context: ExchangeStreamContext<Request, Input, Response>;
  readonly #stream: OpenStream;
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

  constructor(call: ServerDuplexStream<Buffer, Buffer>, context: ExchangeStreamContext<Request, Input, Response>) {
    this.#call = call;
    this.#context = context;
    this.#stream = new OpenStream(call, context);
  }

  begin(): void {
    this.#stream.atEnd(() => {
      this.#closing = true;
      this.#stream.record.items = this.#tally;
    });
    this.#stream.begin(
      () => this.#admit(),
      (caller) => {
        this.#listen(caller);
      },
    );
  }

  async #admit(): Promise<{ readonly admitted: Caller } | Ending> {
    const { dependencies, contract, counts } = this.#context;
    const { record } = this.#stream;
    const admission = await dependencies.gate.admit(contract, dependencies, { call: this.#call, record });
    if ("reason" in admission) return refused(admission);
    const { problems, validateOnly, idempotencyKey } = optionsOf(this.#call.metadata, contract);
    if (problems.length > 0) return refused({ reason: "INVALID_FIELD", fields: problems });
    if (validateOnly || this.#stream.hasEnded) return DONE;

    const leave = counts.enter(lineOf(admission), STREAMS_OF_ORGANIZATION_MAX);
    if (typeof leave !== "function") return leave;
    this.#stream.atEnd(leave);
    const deadline = deadlineOf(this.#call, dependencies);
    return { admitted: callerOf(admission as Admitted, record, { idempotencyKey, deadline }) };
  }

  #listen({ idempotencyKey }: Caller): void {
    const { dependencies } = this.#context;
    const idle = setTimeout(() => {
      if (this.#itemsInFlight > 0) idle.refresh();
      else void this.#refuseAfterResponses({ reason: "DEADLINE_EXCEEDED" });
    }, dependencies.callMillisMax);
    this.#stream.atEnd(() => {
      clearTimeout(idle);
    });
    this.#call.on("data", (bytes: Buffer) => {
      // Accepts one message at a time. Reading resumes once the message is running and there is
      // room for another one.
      this.#call.pause();
      idle.refresh();
      this.#accepting = this.#stream.endOnError(async () => {
        await this.#accept(bytes, idempotencyKey);
        this.#accepting = undefined;
        this.#resumeReading();
      });
    });
    this.#stream.onStopping((refusal) => {
      void this.#refuseAfterResponses(refusal);
    });
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
    this.#stream.end(DONE);
  }

  async #accept(bytes: Buffer, idempotencyKey: Caller["idempotencyKey"]): Promise<void> {
    const { rpc, contract, dependencies } = this.#context;
    const { record } = this.#stream;
    const admission = await dependencies.gate.admit(contract, dependencies, { call: this.#call, record });
    if (this.#closing) return;
    if ("reason" in admission) return this.#refuseAfterResponses(admission);
    const deadline = deadlineOf(this.#call, dependencies);
    const caller = callerOf(admission as Admitted, record, { idempotencyKey, deadline });
    const input = parseRequest(rpc, contract, bytes, caller);
    if (!input.ok) return this.#refuseAfterResponses({ reason: "INVALID_FIELD", fields: input.fields });

    this.#itemsInFlight += input.value.length;
    // The message starts at once. Its response waits for the responses before it.
    const running = rpc.run(input.value, caller);
    const before = this.#responded;
    this.#responded = this.#stream.endOnError(async () => {
      const { response, items } = await running;
      this.#count(items);
      await before;
      await this.#stream.write(encode(rpc.response, response));
      this.#itemsInFlight -= input.value.length;
      this.#resumeReading();
    });
  }

  #resumeReading(): void {
    if (!this.#closing && this.#accepting === undefined && this.#itemsInFlight < ITEMS_IN_FLIGHT_MAX)
      this.#call.resume();
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
    this.#stream.end(refused(refusal));
  }
}
