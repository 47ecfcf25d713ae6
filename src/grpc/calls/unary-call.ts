import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import type { handleUnaryCall, ServerUnaryCall } from "@grpc/grpc-js";

import { requestIdOf } from "../../../runtime/caller-ids.js";
import { traceOf } from "../../../runtime/error-trace.js";
import type { IdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import { withHead } from "../errors/status.js";
import type { RpcContract } from "../messages/contract.js";
import type { ParsedFields } from "../messages/fields.js";
import { masked } from "../messages/masked.js";
import { encode } from "../messages/wire-format.js";
import {
  type Admit,
  admit,
  type CallDependencies,
  type Caller,
  callerOf,
  type CallRecord,
  deadlineOf,
  headOf,
  type Identity,
  type OperatorsDoor,
  optionsOf,
  parseCall,
  parseRequest,
  type Principal,
  recordOf,
  refusalOfThrown,
  type ServingDependencies,
} from "./call-context.js";
import { logCall, type Refused, refused } from "./call-log.js";
import { type CallHead, refuse, type RpcResult } from "./rpc-result.js";

/** An rpc in two parts. `parse` only checks the shape of the request; `run` executes it. */
export interface UnaryRpc<Request, Input, Response, Key extends Identity | undefined = Principal> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  readonly parse: (request: Request, caller: Caller<Key>) => ParsedFields<Input>;
  readonly run: (input: Input, caller: Caller<Key>) => Promise<RpcResult<Response>>;
}

/**
 * Takes and returns bytes. The handler itself decodes and encodes, so an error there is handled
 * like any other.
 */
type UnaryHandler = handleUnaryCall<Buffer, Buffer>;
export interface UnaryRoute<Dependencies = CallDependencies> {
  (contract: RpcContract, dependencies: Dependencies): UnaryHandler;
  /**
   * Runs the rpc for a caller whom this process admits by itself. Checks INVALID_FIELD, then the
   * refusals of `run` of the rpc. Rejects with the errors that `run` throws. Undefined: only a
   * server runs it.
   */
  readonly runInProcess?: (
    contract: RpcContract,
    call: CallInProcess & Pick<OperatorsDoor, "problemsIn">,
  ) => Promise<RpcResult<Buffer>>;
}

export interface CallInProcess<Key = Principal> {
  readonly key: Key;
  /** The encoded message. */
  readonly request: Buffer;
  readonly idempotencyKey?: IdempotencyKey | undefined;
}

type Reply = (CallHead & { readonly kind: "done"; readonly bytes: Buffer }) | Refused;

const NO_BYTES = Buffer.alloc(0);

/**
 * Makes the handler of an rpc. Every call gets exactly one response and one log line.
 *
 * Checks, in this order: SHUTTING_DOWN, MISSING_API_KEY, RESTORE_NOT_CONFIRMED, INVALID_API_KEY,
 * BOOK_MOVING, SCOPE_REQUIRED, RATE_LIMITED, INVALID_FIELD, then the refusals of `run`.
 * INVALID_FIELD names every bad field at once, including the metadata `idempotency-key`.
 *
 * With the metadata `kesc-validate-only: true` the call ends before `run`, with OK and an empty
 * response. An error of the database becomes STORAGE_UNAVAILABLE; any other error becomes INTERNAL.
 */
export function unary<Request extends object, Input, Response>(rpc: UnaryRpc<Request, Input, Response>): UnaryRoute {
  const serve: UnaryRoute = (contract, dependencies) => {
    const { door } = dependencies;
    if (door !== undefined) return routeOf(forOperators(rpc, contract, door), door.admit)(contract, dependencies);
    return routeOf<Request, Input, Response, Principal, CallDependencies>(rpc, admit)(contract, dependencies);
  };
  const ofProcess: UnaryRoute["runInProcess"] = (contract, { problemsIn, ...call }) =>
    runInProcess(forOperators(rpc, contract, { problemsIn }), contract, call);
  return Object.assign(serve, { runInProcess: ofProcess });
}

/**
 * Runs an rpc for a caller whom this process admits by itself. Checks INVALID_FIELD, then the
 * refusals of `run` of the rpc. Rejects with the errors that `run` throws.
 */
export async function runInProcess<Request, Input, Response, Key extends Identity | undefined>(
  rpc: UnaryRpc<Request, Input, Response, Key>,
  contract: Pick<RpcContract, "input">,
  { shown = masked, ...call }: CallInProcess<Key> & { readonly shown?: ((message: Response) => Response) | undefined },
): Promise<RpcResult<Buffer>> {
  const caller = callerInProcess(call);
  const input = parseRequest(rpc, contract, call.request, caller);
  if (!input.ok) return refuse({ reason: "INVALID_FIELD", fields: input.fields });
  const result = await rpc.run(input.value, caller);
  return result.kind === "refused" ? result : { ...result, response: encode(rpc.response, shown(result.response)) };
}

/** Makes the caller of a call in this process, which nobody waits for. */
export function callerInProcess<Key extends Identity | undefined>({
  key,
  idempotencyKey,
}: Pick<CallInProcess<Key>, "key" | "idempotencyKey">): Caller<Key> {
  const deadline = toUnixMillis(Number.MAX_SAFE_INTEGER);
  return { key, idempotencyKey, requestId: requestIdOf(undefined), deadline, trace: undefined, bucket: undefined };
}

/** What the calls of operators have to say beside those of organizations. */
function forOperators<Request extends object, Input, Response>(
  rpc: UnaryRpc<Request, Input, Response>,
  contract: RpcContract,
  { problemsIn }: Pick<OperatorsDoor, "problemsIn">,
): UnaryRpc<Request, Input, Response> {
  return {
    ...rpc,
    parse: (request, caller) => {
      const problems = problemsIn(contract, request);
      const parsed = rpc.parse(request, caller);
      return problems.length === 0 ? parsed : { ok: false, fields: [...problems, ...(parsed.ok ? [] : parsed.fields)] };
    },
    run: async (input, caller) =>
      caller.key.operator?.mustVerify === true
        ? { kind: "refused", refusal: { reason: "VERIFICATION_REQUIRED" } }
        : rpc.run(input, caller),
  };
}

/**
 * Makes the handler of an rpc that needs no key. Everything but the key is as for any other rpc.
 * Throws if the contract demands a key for it.
 */
export function publicUnary<Request, Input, Response>(rpc: UnaryRpc<Request, Input, Response, undefined>): UnaryRoute {
  const route = routeOf(rpc, (_contract, { isStopping }: CallDependencies) =>
    isStopping() ? { reason: "SHUTTING_DOWN" } : undefined,
  );
  return (contract, dependencies) => {
    if (!contract.isPublic) throw new Error(`${contract.name} needs a key, but its handler takes none`);
    return route(contract, dependencies);
  };
}

/** Makes the same handler for callers whom `admitCall` admits. */
export function routeOf<Request, Input, Response, Key extends Identity | undefined, Given extends ServingDependencies>(
  rpc: UnaryRpc<Request, Input, Response, Key>,
  admitCall: Admit<Key, Given>,
): UnaryRoute<Given> {
  return (contract, dependencies) => {
    const { logger, onInFlight, steps } = dependencies;
    const meter = dependencies.meter?.rpc(contract);

    const handle = async (
      call: ServerUnaryCall<Buffer, Buffer>,
      callback: Parameters<UnaryHandler>[1],
    ): Promise<void> => {
      const record = recordOf(call.metadata, contract, dependencies.tracing);
      let reply: Reply;
      try {
        reply = await replyTo(call, record);
      } catch (error) {
        record.thrown = error;
        reply = refused(refusalOfThrown(error, record.requestId));
      }
      steps.answer.add(() => {
        orFatal(() => {
          send(call, callback, { reply, record });
        });
      });
      steps.log.add(() => {
        orFatal(() => {
          logCall({ logger, meter }, contract, { record, ending: reply, cancelled: call.cancelled });
        });
        onInFlight(-1);
      });
    };

    const orFatal = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        logger.fatal({ method: contract.name, trace: traceOf(error) }, "the response of a call could not be sent");
      }
    };

    const replyTo = async (call: ServerUnaryCall<Buffer, Buffer>, record: CallRecord): Promise<Reply> => {
      const admitting = admitCall(contract, dependencies, { call, record });
      // A cached key is not a promise. Awaiting it anyway would cost a turn of the microtask queue.
      const key = admitting instanceof Promise ? await admitting : admitting;
      if (key !== undefined && "reason" in key) return refused(key);

      const options = optionsOf(call.metadata, contract);
      const { idempotencyKey } = options;
      const caller = callerOf(key, record, { idempotencyKey, deadline: deadlineOf(call, dependencies) });
      const input = parseCall(rpc, { contract, bytes: call.request, options, caller });
      if (!input.ok) return refused({ reason: "INVALID_FIELD", fields: input.fields });
      if (options.validateOnly) return { kind: "done", bytes: NO_BYTES, replayed: false };

      const result = await rpc.run(input.value, caller);
      if (result.kind === "refused") return refused(result.refusal);
      record.items = result.items;
      const response = dependencies.shown?.(result.response) ?? result.response;
      const { replayed, proposalId } = result;
      return { kind: "done", bytes: encode(rpc.response, response), replayed, proposalId };
    };

    return (call, callback) => {
      onInFlight(1);
      meter?.started();
      void handle(call, callback);
    };
  };
}

function send(
  call: ServerUnaryCall<Buffer, Buffer>,
  callback: Parameters<UnaryHandler>[1],
  { reply, record }: { reply: Reply; record: CallRecord },
): void {
  const head = headOf(record);
  if (reply.kind === "refused") {
    callback(withHead(reply.status, head));
    return;
  }
  if (reply.replayed) head.set("idempotent-replayed", "true");
  if (reply.proposalId !== undefined) head.set("kesc-proposal", reply.proposalId);
  call.sendMetadata(head);
  callback(null, reply.bytes);
}
