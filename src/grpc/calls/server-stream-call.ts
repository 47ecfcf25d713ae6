import type { handleServerStreamingCall, ServerWritableStream } from "@grpc/grpc-js";

import type { AccountId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { BookOwner } from "../../operators/reads.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import {
  type Admitted,
  type CallDependencies,
  type Caller,
  callerOf,
  lineOf,
  optionsOf,
  parseCall,
  parseRequest,
} from "./call-context.js";
import { type Ending, refused } from "./call-log.js";
import { parserUnder, refusalUnder, refuseOtherContract, type RpcRules } from "./gate.js";
import { DONE, OpenStream, StreamCounts } from "./open-stream.js";
import { callerInProcess, type EncodedMessages, type RpcRoute } from "./route.js";

/** An rpc that takes one request and returns a stream of messages, with an end or without one. */
export interface ServerStreamRpc<Request, Input, Of extends BookOwner | undefined = BookOwner> extends RpcRules<Input> {
  readonly request: { decode(bytes: Uint8Array): Request };
  /**
   * The maximum number of open streams of one organization, or of one operator. One more:
   * TOO_MANY_STREAMS.
   */
  readonly streamsMax: number;
  readonly parse: (request: Request, caller: Caller<Of>) => ParsedFields<Input>;
  /** Returns the account whose personal data the messages show. The log names it. */
  readonly accountOf?: (input: Input) => AccountId;
  /**
   * Makes the messages. A generator that waits must wake up when the signal aborts: the stream has
   * ended then. The deadline of the caller is that of the client, which may have none.
   */
  readonly run: (input: Input, caller: Caller<Of>, signal: AbortSignal) => EncodedMessages;
}

/** Takes and returns bytes, as a unary call does. */
type ServerStreamHandler = handleServerStreamingCall<Buffer, Buffer>;
export type ServerStreamRoute = RpcRoute<ServerStreamHandler>;

/** How often an open stream looks at its key again. */
const KEY_CHECK_MILLIS = 15_000;

/**
 * Makes the handler of an rpc whose responses stream. It ends every stream exactly once, and logs
 * it in one line.
 *
 * Makes the same checks as a unary call, in the same order. Repeats those of the gate every 15
 * seconds, so that a key that is revoked or expires ends the stream.
 */
export function serverStream<Request extends object, Input, Of extends BookOwner | undefined = BookOwner>(
  rpc: ServerStreamRpc<Request, Input, Of>,
  keyCheckMillis = KEY_CHECK_MILLIS,
): ServerStreamRoute {
  const serve = (contract: RpcContract, dependencies: CallDependencies): ServerStreamHandler => {
    refuseOtherContract(contract, rpc);
    const counts = new StreamCounts();
    return (call) => {
      new MessageStream(call, { rpc, contract, dependencies, counts, keyCheckMillis }).begin();
    };
  };
  const inProcess: ServerStreamRoute["inProcess"] = async function* (contract, call) {
    const caller = callerInProcess<Of>(call);
    const parse = parserUnder(call.rules, contract, rpc.parse);
    const input = parseRequest({ request: rpc.request, parse }, contract, call.request, caller);
    if (!input.ok) return { reason: "INVALID_FIELD", fields: input.fields };
    // Nobody but the end of the process ends the stream.
    return yield* rpc.run(input.value, caller, new AbortController().signal);
  };
  return Object.assign(serve, { inProcess });
}

interface MessageStreamContext<Request, Input, Of extends BookOwner | undefined> {
  readonly rpc: ServerStreamRpc<Request, Input, Of>;
  readonly contract: RpcContract;
  readonly dependencies: CallDependencies;
  readonly counts: StreamCounts;
  readonly keyCheckMillis: number;
}

interface AdmittedStream<Input, Of extends BookOwner | undefined> {
  readonly caller: Caller<Of>;
  readonly input: Input;
}

class MessageStream<Request extends object, Input, Of extends BookOwner | undefined> {
  readonly #call: ServerWritableStream<Buffer, Buffer>;
  readonly #context: MessageStreamContext<Request, Input, Of>;
  readonly #stream: OpenStream;

  constructor(call: ServerWritableStream<Buffer, Buffer>, context: MessageStreamContext<Request, Input, Of>) {
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

  async #admit(): Promise<{ readonly admitted: AdmittedStream<Input, Of> } | Ending> {
    const { rpc, dependencies, contract, counts } = this.#context;
    const { gate } = dependencies;
    const { metadata, request: bytes } = this.#call;
    const { record } = this.#stream;
    const admission = await gate.admit(contract, dependencies, { call: this.#call, record });
    if ("reason" in admission) return refused(admission);
    const options = optionsOf(metadata, contract);
    const { idempotencyKey } = options;
    const deadline = toUnixMillis(Math.min(Number(this.#call.getDeadline()), Number.MAX_SAFE_INTEGER));
    // The gate has what the contract of the rpc asks for.
    const caller = callerOf(admission as Admitted<Of>, record, { idempotencyKey, deadline });
    const parse = parserUnder(gate.rules, contract, rpc.parse);
    const input = parseCall({ request: rpc.request, parse }, { contract, bytes, options, caller });
    if (!input.ok) return refused({ reason: "INVALID_FIELD", fields: input.fields });
    if (options.validateOnly || this.#stream.hasEnded) return DONE;

    const leave = counts.enter(lineOf(caller), rpc.streamsMax);
    if (typeof leave !== "function") return leave;
    this.#stream.atEnd(leave);
    return { admitted: { caller, input: input.value } };
  }

  async #send({ caller, input }: AdmittedStream<Input, Of>): Promise<void> {
    const { rpc, contract, dependencies, keyCheckMillis } = this.#context;
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
    const refusal = await refusalUnder(dependencies.gate.rules, rpc, { contract, input, caller });
    if (refusal !== undefined) {
      stream.end(refused(refusal));
      return;
    }
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

  async #checkKey({ organization }: Caller<Of>): Promise<void> {
    const { contract, dependencies } = this.#context;
    const { record } = this.#stream;
    const admission = await dependencies.gate.admit(contract, dependencies, { call: this.#call, record });
    if ("reason" in admission) this.#stream.end(refused(admission));
    // The book has moved to another cell, which the next stream reads.
    else if (admission.organization?.cell !== organization?.cell) this.#stream.end(refused({ reason: "BOOK_MOVING" }));
  }
}
