import { setImmediate } from "node:timers/promises";

import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { handleBidiStreamingCall, ServerDuplexStream } from "@grpc/grpc-js";

import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import { encode } from "../messages/wire-format.js";
import {
  type Admit,
  type Caller,
  callerOf,
  deadlineOf,
  type Identity,
  optionsOf,
  parseRequest,
  type ServingDependencies,
} from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import { DONE, OpenStream, StreamCounts } from "./open-stream.js";
import type { RpcResult } from "./rpc-result.js";

/** An rpc that takes a file in pieces, one in each message, and then returns one response. */
export interface UploadRpc<Request, Input, Response, Key extends Identity | undefined> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  /** Parses the first message. */
  parse(request: Request, caller: Caller<Key>): ParsedFields<Input>;
  /** Parses a later message, which has nothing but a piece. */
  parseMore(request: Request): ParsedFields<unknown>;
  pieceOf(request: Request): Uint8Array;
  /** The field of the pieces, which a refusal of a larger file names. */
  readonly field: string;
  readonly bytesMax: number;
  /** `bytes` has a buffer of its own. */
  run(input: Input, bytes: Uint8Array, caller: Caller<Key>): Promise<RpcResult<Response>>;
}

type UploadHandler = handleBidiStreamingCall<Buffer, Buffer>;
export type UploadRoute<Dependencies> = (contract: RpcContract, dependencies: Dependencies) => UploadHandler;

const UPLOADS_OF_PERSON_MAX = 1;
/** The most uploads under way: each keeps its bytes in memory. */
const UPLOADS_MAX = 4;

/**
 * Makes the handler of an rpc that takes a file. It ends every upload exactly once, and logs it in
 * one line. No byte is kept before the caller is admitted, and none beyond `bytesMax`.
 *
 * Makes the same checks as a unary call, in the same order. Then refuses TOO_MANY_STREAMS (the
 * caller has an upload under way), QUEUE_FULL (others have 4), and DEADLINE_EXCEEDED if the file
 * has not arrived within the time of a call.
 */
export function uploadOf<Request, Input, Response, Key extends Identity, Given extends ServingDependencies>(
  rpc: UploadRpc<Request, Input, Response, Key>,
  admitCall: Admit<Key, Given>,
): UploadRoute<Given> {
  return (contract, dependencies) => {
    const counts = new StreamCounts();
    const open = { count: 0 };
    return (call) => {
      new Upload(call, { rpc, admitCall, contract, dependencies, counts, open }).begin();
    };
  };
}

interface UploadContext<Request, Input, Response, Key extends Identity, Given extends ServingDependencies> {
  readonly rpc: UploadRpc<Request, Input, Response, Key>;
  readonly admitCall: Admit<Key, Given>;
  readonly contract: RpcContract;
  readonly dependencies: Given;
  readonly counts: StreamCounts;
  /** The uploads of all callers. */
  readonly open: { count: number };
}

class Upload<Request, Input, Response, Key extends Identity, Given extends ServingDependencies> {
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #context: UploadContext<Request, Input, Response, Key, Given>;
  readonly #stream: OpenStream;
  #input: { readonly value: Input } | undefined;
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(call: ServerDuplexStream<Buffer, Buffer>, context: UploadContext<Request, Input, Response, Key, Given>) {
    this.#call = call;
    this.#context = context;
    this.#stream = new OpenStream(call, context);
  }

  begin(): void {
    this.#stream.begin(
      () => this.#admit(),
      (caller) => {
        this.#receive(caller);
      },
    );
  }

  async #admit(): Promise<{ readonly admitted: Caller<Key> } | Ending> {
    const { admitCall, contract, dependencies, counts, open } = this.#context;
    const { record } = this.#stream;
    const key = await admitCall(contract, dependencies, { call: this.#call, record });
    if ("reason" in key) return refused(key);
    const { problems, validateOnly, idempotencyKey } = optionsOf(this.#call.metadata, contract);
    if (problems.length > 0) return refused({ reason: "INVALID_FIELD", fields: problems });
    if (validateOnly || this.#stream.hasEnded) return DONE;
    const leave = counts.enter("organizationId" in key ? key.organizationId : key.id, UPLOADS_OF_PERSON_MAX);
    if (typeof leave !== "function") return leave;
    this.#stream.atEnd(leave);
    if (open.count >= UPLOADS_MAX) return refused({ reason: "QUEUE_FULL" });
    open.count += 1;
    this.#stream.atEnd(() => {
      open.count -= 1;
      this.#pieces = [];
    });
    return { admitted: callerOf(key, record, { idempotencyKey, deadline: deadlineOf(this.#call, dependencies) }) };
  }

  #receive(caller: Caller<Key>): void {
    const { dependencies } = this.#context;
    const stream = this.#stream;
    const late = setTimeout(() => {
      this.#refuse(refused({ reason: "DEADLINE_EXCEEDED" }));
    }, dependencies.callMillisMax);
    stream.atEnd(() => {
      clearTimeout(late);
    });
    stream.onStopping((refusal) => {
      this.#refuse(refused(refusal));
    });
    this.#call.on("data", (bytes: Buffer) => {
      if (stream.hasEnded) return;
      const ending = this.#take(bytes, caller);
      if (ending !== undefined) this.#refuse(ending);
    });
    this.#call.once("end", () => {
      clearTimeout(late);
      void stream.endOnError(() => this.#run(caller));
    });
  }

  /** Keeps the piece of one message, or returns why the upload ends. */
  #take(bytes: Buffer, caller: Caller<Key>): Ending | undefined {
    const { rpc, contract } = this.#context;
    let piece: Uint8Array = Buffer.alloc(0);
    const parse = (request: Request): ParsedFields<Input | undefined> => {
      piece = rpc.pieceOf(request);
      if (this.#input === undefined) return rpc.parse(request, caller);
      const more = rpc.parseMore(request);
      return more.ok ? { ok: true, value: undefined } : more;
    };
    const parsed = parseRequest({ request: rpc.request, parse }, contract, bytes, caller);
    if (!parsed.ok) return refused({ reason: "INVALID_FIELD", fields: parsed.fields });
    if (parsed.value !== undefined) this.#input = { value: parsed.value };
    this.#size += piece.length;
    if (this.#size > rpc.bytesMax) {
      const message = `must have at most ${String(rpc.bytesMax)} bytes`;
      return refused({ reason: "INVALID_FIELD", fields: [{ field: rpc.field, message, code: "TOO_LONG" }] });
    }
    this.#pieces.push(piece);
    return undefined;
  }

  async #run(caller: Caller<Key>): Promise<void> {
    const { rpc, dependencies } = this.#context;
    // A call that is cancelled emits "end" first, and "cancelled" shortly afterwards.
    await setImmediate();
    if (this.#stream.hasEnded) return;
    if (this.#input === undefined) {
      const fields = [{ field: "request", message: "is required", code: "REQUIRED" }] as const;
      this.#stream.end(refused({ reason: "INVALID_FIELD", fields }));
      return;
    }
    const file = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces.splice(0)) {
      file.set(piece, at);
      at += piece.length;
    }
    const deadline = deadlineOf(this.#call, dependencies);
    const result = await rpc.run(this.#input.value, file, { ...caller, deadline });
    if (result.kind === "refused") {
      this.#stream.end(refused(result.refusal));
      return;
    }
    const shown = dependencies.shown?.(result.response) ?? result.response;
    await this.#stream.write(encode(rpc.response, shown));
    this.#stream.end(DONE);
  }

  /** Reads no more: what the client still sends stays with it. */
  #refuse(ending: Ending): void {
    this.#call.pause();
    this.#stream.end(ending);
  }
}
