import { setImmediate } from "node:timers/promises";

import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import { type handleBidiStreamingCall, Metadata, type ServerDuplexStream } from "@grpc/grpc-js";

import { traceOf } from "../../../runtime/error-trace.js";
import type { OrganizationId } from "../../domain/values/ids.js";
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
  optionsOf,
  parseRequest,
  recordOf,
  refusalOfThrown,
} from "./call-context.js";
import { type Ending, logCall, refused } from "./call-log.js";
import type { ItemTally } from "./rpc-result.js";

/**
 * An rpc that answers each message of a stream with one of its own, in the order in which they
 * came.
 */
export interface StreamRpc<Request, Input extends { readonly length: number }, Response> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  /** Looks at the shape of one message. Its refusal ends the stream. */
  parse(request: Request, caller: Caller): ParsedFields<Input>;
  /** Does what one message asks for: `length` items. */
  run(input: Input, caller: Caller): Promise<{ readonly response: Response; readonly items: ItemTally }>;
}

/** Bytes in, bytes out, as for a unary call. */
type StreamHandler = handleBidiStreamingCall<Buffer, Buffer>;
export type StreamRoute = (contract: RpcContract, dependencies: CallDependencies) => StreamHandler;

// So many items of one stream keep the committer busy. Two streams of an organization, with a
// message more each, are less than its half of the queue. What grpc-js has read beyond them, up to
// 16 messages a stream, waits undecoded.
const ITEMS_UNDER_WAY_MAX = 1_000;
const STREAMS_OF_ORGANIZATION_MAX = 2;
const DONE: Ending = { kind: "done", replayed: false };

/**
 * Makes the handler of a streaming rpc. Whatever happens, the stream is ended exactly once, and
 * logged in one line.
 *
 * Checks what a unary call does, in the same order, and all but the metadata again with each
 * message: a key that is revoked ends the stream. A refusal ends it too, once all that was taken
 * before is answered.
 */
export function stream<Request, Input extends { readonly length: number }, Response>(
  rpc: StreamRpc<Request, Input, Response>,
): StreamRoute {
  return (contract, dependencies) => {
    const open = new Map<OrganizationId, number>();
    return (call) => {
      new OpenStream(call, { rpc, contract, dependencies, open }).begin();
    };
  };
}

interface StreamContext<Request, Input extends { readonly length: number }, Response> {
  readonly rpc: StreamRpc<Request, Input, Response>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  /** How many streams each organization has. */
  readonly open: Map<OrganizationId, number>;
}

class OpenStream<Request, Input extends { readonly length: number }, Response> {
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #context: StreamContext<Request, Input, Response>;
  readonly #record: CallRecord;
  readonly #letGo: (() => void)[] = [];
  #itemsUnderWay = 0;
  #tally: ItemTally = { items: 0, refused: 0, thrown: undefined };
  /** When everything that was taken so far has been answered. */
  #answered: Promise<void> = Promise.resolve();
  /** When the message that has been read is under way. */
  #taking: Promise<void> | undefined;
  /** Whether no more is taken. */
  #closing = false;
  #ended = false;

  constructor(call: ServerDuplexStream<Buffer, Buffer>, context: StreamContext<Request, Input, Response>) {
    this.#call = call;
    this.#context = context;
    this.#record = recordOf(call.metadata, performance.now());
  }

  begin(): void {
    const { dependencies } = this.#context;
    dependencies.onInFlight(1);
    this.#call.once("cancelled", () => {
      this.#end(DONE);
    });
    const initial = new Metadata();
    initial.set("x-request-id", this.#record.requestId);
    this.#call.sendMetadata(initial);
    void this.#guarded(async () => {
      const admitted = await this.#admit();
      if ("key" in admitted) this.#listen(admitted);
      else this.#end(admitted);
    });
  }

  /** The caller; or, when the stream has been refused or has nothing to do, how it ends. */
  async #admit(): Promise<Caller | Ending> {
    const { dependencies, contract, open } = this.#context;
    const { metadata } = this.#call;
    const key = await admit(contract, dependencies, { metadata, record: this.#record });
    if ("reason" in key) return refused(key);
    const { problems, validateOnly, idempotencyKey } = optionsOf(metadata);
    if (problems.length > 0) return refused({ reason: "INVALID_FIELD", fields: problems });
    if (validateOnly || this.#ended) return DONE;

    const { organizationId } = key;
    const count = open.get(organizationId) ?? 0;
    if (count >= STREAMS_OF_ORGANIZATION_MAX) return refused({ reason: "QUEUE_FULL" });
    open.set(organizationId, count + 1);
    this.#letGo.push(() => {
      const left = (open.get(organizationId) ?? 0) - 1;
      if (left > 0) open.set(organizationId, left);
      else open.delete(organizationId);
    });
    return { key, requestId: this.#record.requestId, idempotencyKey, deadline: deadlineOf(this.#call, dependencies) };
  }

  #listen(caller: Caller): void {
    const { dependencies } = this.#context;
    this.#letGo.push(
      dependencies.onStopping(() => {
        void this.#refuseAtLast({ reason: "SHUTTING_DOWN" });
      }),
    );
    const idle = setTimeout(() => {
      if (this.#itemsUnderWay > 0) idle.refresh();
      else void this.#refuseAtLast({ reason: "DEADLINE_EXCEEDED" });
    }, dependencies.callMillisMax);
    this.#letGo.push(() => {
      clearTimeout(idle);
    });
    this.#call.on("data", (bytes: Buffer) => {
      // One at a time: the next is read when this one is under way, and there is room.
      this.#call.pause();
      idle.refresh();
      this.#taking = this.#guarded(async () => {
        await this.#take(bytes, caller);
        this.#taking = undefined;
        this.#readOn();
      });
    });
    // It may have come to that while the key was looked up.
    if (dependencies.isStopping()) void this.#refuseAtLast({ reason: "SHUTTING_DOWN" });
    this.#call.once("end", () => {
      void this.#endWhenAnswered();
    });
  }

  async #endWhenAnswered(): Promise<void> {
    // Node says "end" on reading the last message, before that is under way.
    await this.#taking;
    await this.#answered;
    // A stream that is cancelled says "end" first, and "cancelled" a moment later.
    await setImmediate();
    this.#end(DONE);
  }

  async #take(bytes: Buffer, { requestId, idempotencyKey }: Caller): Promise<void> {
    const { rpc, contract, dependencies } = this.#context;
    const { metadata } = this.#call;
    const key = await admit(contract, dependencies, { metadata, record: this.#record });
    if (this.#closing) return;
    if ("reason" in key) return this.#refuseAtLast(key);
    const caller = { key, requestId, idempotencyKey, deadline: deadlineOf(this.#call, dependencies) };
    const input = parseRequest(rpc, contract, bytes, caller);
    if (!input.ok) return this.#refuseAtLast({ reason: "INVALID_FIELD", fields: input.fields });

    this.#itemsUnderWay += input.value.length;
    // Begun at once, answered after those before it.
    const running = rpc.run(input.value, caller);
    const before = this.#answered;
    this.#answered = this.#guarded(async () => {
      const { response, items } = await running;
      this.#count(items);
      await before;
      await this.#write(encode(rpc.response, response));
      this.#itemsUnderWay -= input.value.length;
      this.#readOn();
    });
  }

  #readOn(): void {
    if (!this.#closing && this.#taking === undefined && this.#itemsUnderWay < ITEMS_UNDER_WAY_MAX) this.#call.resume();
  }

  /** Resolves when the client has taken the bytes so far that there is room for more. */
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

  /** Takes no more, and refuses when all that was taken is answered. */
  async #refuseAtLast(refusal: AnyRefusal): Promise<void> {
    this.#closing = true;
    this.#call.pause();
    await this.#answered;
    this.#end(refused(refusal));
  }

  /** What throws is a bug, or the database: it ends the stream. */
  async #guarded(work: () => Promise<void>): Promise<void> {
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
    for (const letGo of this.#letGo) letGo();
    try {
      if (ending.kind === "refused") this.#call.emit("error", ending.status);
      else this.#call.end();
      logCall(dependencies.logger, contract, { record: this.#record, ending, cancelled: this.#call.cancelled });
    } catch (error) {
      dependencies.logger.fatal(
        { method: contract.name, trace: traceOf(error) },
        "the response of a call could not be sent",
      );
    } finally {
      dependencies.onInFlight(-1);
    }
  }
}
