import { setImmediate } from "node:timers/promises";

import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { handleBidiStreamingCall, ServerDuplexStream } from "@grpc/grpc-js";

import type { BookOwner } from "../../operators/reads.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import { masked } from "../messages/masked.js";
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
import { refusalUnder, refuseOtherContract, type RpcRules } from "./gate.js";
import { DONE, OpenStream, StreamCounts } from "./open-stream.js";
import type { AdmittedInProcess, RpcRoute } from "./route.js";
import type { RpcResult } from "./rpc-result.js";
import { runInProcess } from "./unary-call.js";

/** An rpc of operators: it takes a file in pieces, one in a message, and returns one response. */
export interface UploadRpc<
  Request,
  Input,
  Response,
  Of extends BookOwner | undefined = BookOwner,
> extends RpcRules<Input> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  /** Parses the first message. */
  readonly parse: (request: Request, caller: Caller<Of>) => ParsedFields<Input>;
  /** The field of the pieces. Only the first message may have others. */
  readonly field: FieldOfBytes<Request>;
  readonly bytesMax: number;
  /**
   * `bytes` has a buffer of its own. The signal aborts once the caller has gone: then nobody waits
   * for the work.
   */
  readonly run: (
    input: Input,
    bytes: Uint8Array,
    caller: Caller<Of>,
    signal: AbortSignal,
  ) => Promise<RpcResult<Response>>;
}

type FieldOfBytes<Message> = {
  [Field in keyof Message & string]: Message[Field] extends Uint8Array ? Field : never;
}[keyof Message & string];

type UploadHandler = handleBidiStreamingCall<Buffer, Buffer>;
export type UploadRoute = RpcRoute<UploadHandler>;

const UPLOADS_OF_PERSON_MAX = 1;
/** The most uploads at a time, of all callers. Each keeps its bytes in memory. */
const UPLOADS_MAX = 4;

/**
 * Makes the handler of an rpc of operators that takes a file. It ends every upload exactly once,
 * and logs it in one line. No byte is kept before the caller is admitted, and none beyond
 * `bytesMax`. In this process one message has all of the file.
 *
 * Makes the same checks as a unary call, in the same order. Then refuses TOO_MANY_STREAMS
 * (this caller sends another file), QUEUE_FULL (other callers send 4 files), and DEADLINE_EXCEEDED
 * if the file has not arrived within the time of a call.
 */
export function upload<Request extends object, Input, Response, Of extends BookOwner | undefined = BookOwner>(
  rpc: UploadRpc<Request, Input, Response, Of>,
): UploadRoute {
  const serve = (contract: RpcContract, dependencies: CallDependencies): UploadHandler => {
    refuseOtherContract(contract, rpc);
    const counts = new StreamCounts();
    const open = { count: 0 };
    return (call) => {
      new Upload(call, { rpc, contract, dependencies, counts, open }).begin();
    };
  };
  const whole = {
    ...rpc,
    parse: (
      request: Request,
      caller: Caller<Of>,
    ): ParsedFields<{ readonly input: Input; readonly bytes: Uint8Array }> => {
      const input = rpc.parse(request, caller);
      if (!input.ok) return input;
      return { ok: true, value: { input: input.value, bytes: new Uint8Array(pieceOf(rpc, request)) } };
    },
    run: ({ input, bytes }: { readonly input: Input; readonly bytes: Uint8Array }, caller: Caller<Of>) =>
      rpc.run(input, bytes, caller, new AbortController().signal),
  };
  return Object.assign(serve, {
    inProcess: (contract: RpcContract, call: AdmittedInProcess) => runInProcess(whole, contract, call),
  });
}

interface UploadContext<Request, Input, Response, Of extends BookOwner | undefined> {
  readonly rpc: UploadRpc<Request, Input, Response, Of>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly counts: StreamCounts;
  /** The uploads of all callers. */
  readonly open: { count: number };
}

class Upload<Request extends object, Input, Response, Of extends BookOwner | undefined> {
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #context: UploadContext<Request, Input, Response, Of>;
  readonly #stream: OpenStream;
  #input: { readonly value: Input } | undefined;
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(call: ServerDuplexStream<Buffer, Buffer>, context: UploadContext<Request, Input, Response, Of>) {
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
      // The head of an act tells of its proposal.
      { hasHeadLater: this.#context.contract.secondPerson },
    );
  }

  async #admit(): Promise<{ readonly admitted: Caller<Of> } | Ending> {
    const { contract, dependencies, counts, open } = this.#context;
    const { record } = this.#stream;
    const admission = await dependencies.gate.admit(contract, dependencies, { call: this.#call, record });
    if ("reason" in admission) return refused(admission);
    const { problems, validateOnly, idempotencyKey } = optionsOf(this.#call.metadata, contract);
    if (problems.length > 0) return refused({ reason: "INVALID_FIELD", fields: problems });
    if (validateOnly || this.#stream.hasEnded) return DONE;
    const leave = counts.enter(lineOf(admission), UPLOADS_OF_PERSON_MAX);
    if (typeof leave !== "function") return leave;
    this.#stream.atEnd(leave);
    if (open.count >= UPLOADS_MAX) return refused({ reason: "QUEUE_FULL" });
    open.count += 1;
    this.#stream.atEnd(() => {
      open.count -= 1;
      this.#pieces = [];
    });
    // The gate has what the contract of the rpc asks for.
    const admitted = admission as Admitted<Of>;
    return { admitted: callerOf(admitted, record, { idempotencyKey, deadline: deadlineOf(this.#call, dependencies) }) };
  }

  #receive(caller: Caller<Of>): void {
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
  #take(bytes: Buffer, caller: Caller<Of>): Ending | undefined {
    const { rpc, contract } = this.#context;
    let piece: Uint8Array = Buffer.alloc(0);
    const parse = (request: Request): ParsedFields<Input | undefined> => {
      piece = pieceOf(rpc, request);
      return this.#input === undefined ? rpc.parse(request, caller) : parseMore(request, rpc.field);
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

  async #run(caller: Caller<Of>): Promise<void> {
    const { rpc, contract, dependencies } = this.#context;
    // A call that is cancelled emits "end" first, and "cancelled" shortly afterwards.
    await setImmediate();
    if (this.#stream.hasEnded) return;
    if (this.#input === undefined) {
      const fields = [{ field: "request", message: "is required", code: "REQUIRED" }] as const;
      this.#stream.end(refused({ reason: "INVALID_FIELD", fields }));
      return;
    }
    const input = this.#input.value;
    const refusal = await refusalUnder(dependencies.gate.rules, rpc, { contract, input, caller });
    if (refusal !== undefined) {
      this.#stream.end(refused(refusal));
      return;
    }
    const file = new Uint8Array(this.#size);
    let at = 0;
    for (const piece of this.#pieces.splice(0)) {
      file.set(piece, at);
      at += piece.length;
    }
    const deadline = deadlineOf(this.#call, dependencies);
    const result = await rpc.run(input, file, { ...caller, deadline }, this.#stream.signal);
    if (result.kind === "refused") {
      this.#stream.end(refused(result.refusal));
      return;
    }
    if (contract.secondPerson) this.#stream.sendHead(result);
    await this.#stream.write(encode(rpc.response, masked(result.response)));
    this.#stream.end(DONE);
  }

  /** Reads no more: what the client still sends stays with it. */
  #refuse(ending: Ending): void {
    this.#call.pause();
    this.#stream.end(ending);
  }
}

function pieceOf<Request extends object>(
  { field }: { readonly field: FieldOfBytes<Request> },
  request: Request,
): Uint8Array {
  return request[field] as Uint8Array;
}

/** Parses a later message, which has nothing but a piece. */
function parseMore(request: object, piece: string): ParsedFields<undefined> {
  const isGiven = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : Boolean(value));
  const given = Object.entries(request).filter(([field, value]) => field !== piece && isGiven(value));
  if (given.length === 0) return { ok: true, value: undefined };
  const message = "must be in the first message only";
  return { ok: false, fields: given.map(([field]) => ({ field, message, code: "CONFLICT" })) };
}
