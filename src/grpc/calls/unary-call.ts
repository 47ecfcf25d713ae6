import type { BinaryWriter } from "@bufbuild/protobuf/wire";
import { type Deadline, type handleUnaryCall, Metadata, type ServerUnaryCall, status as Status } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { traceOf } from "../../../runtime/error-trace.js";
import { requestIdOf } from "../../../runtime/request-id.js";
import type { ApiKey } from "../../domain/api-key.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { type RefusalStatus, statusOf } from "../errors/status.js";
import type { RpcContract } from "../messages/contract.js";
import { encode } from "../messages/encode.js";
import type { FieldProblem, ParsedFields } from "../messages/fields.js";
import { checkWireFormat } from "../messages/wire-format.js";
import type { Authentication } from "./authenticator.js";
import type { CallSteps } from "./call-steps.js";

/** Who calls, and how. */
export interface Caller {
  readonly key: ApiKey;
  readonly requestId: string;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** What has not begun by then is not begun. */
  readonly deadline: UnixMillis;
}

/** What the log says of a call that does many things at once. */
export interface ItemTally {
  readonly items: number;
  readonly refused: number;
  /** The first bug among them. */
  readonly thrown: unknown;
}

export type Answer<Response> =
  | { readonly kind: "done"; readonly response: Response; readonly replayed: boolean; readonly items?: ItemTally }
  | { readonly kind: "refused"; readonly refusal: AnyRefusal };

/**
 * An rpc in two halves: `parse` looks at the shape of the request and at nothing else; `run` does
 * it.
 */
export interface UnaryRpc<Request, Input, Response> {
  readonly request: { decode(bytes: Uint8Array): Request };
  readonly response: { encode(message: Response, writer?: BinaryWriter): BinaryWriter };
  parse(request: Request, caller: Caller): ParsedFields<Input>;
  run(input: Input, caller: Caller): Promise<Answer<Response>>;
}

export interface CallDependencies {
  authenticate(metadata: Metadata): Authentication | Promise<Authentication>;
  readonly now: () => UnixMillis;
  /** Whether new calls are turned away. */
  readonly isStopping: () => boolean;
  /** The most time that a call has, however far away its own deadline is. */
  readonly callMillisMax: number;
  readonly logger: Logger;
  /**
   * Has `stop` called when new calls are turned away from now on; answers what forgets it again.
   */
  readonly onStopping: (stop: () => void) => () => void;
  /** Hears of each call when it begins (+1) and when it has been answered (-1). */
  readonly onInFlight: (change: 1 | -1) => void;
  readonly steps: CallSteps;
}

/**
 * Takes and gives bytes: decoding and encoding happen inside, so that their failures are answered
 * like any other.
 */
type UnaryHandler = handleUnaryCall<Buffer, Buffer>;
export type UnaryRoute = (contract: RpcContract, dependencies: CallDependencies) => UnaryHandler;

interface Refused {
  readonly kind: "refused";
  readonly refusal: AnyRefusal;
  readonly status: RefusalStatus;
}
type Reply = { readonly kind: "done"; readonly bytes: Buffer; readonly replayed: boolean } | Refused;
/** How a call ended, as far as the log says it. */
export type Ending = { readonly kind: "done"; readonly replayed: boolean } | Refused;

/** What is known of a call by the time that it is logged. */
export interface CallRecord {
  readonly requestId: string;
  readonly startedAt: number;
  key: ApiKey | undefined;
  thrown: unknown;
  items: ItemTally | undefined;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Makes the handler of an rpc. Whatever happens, the call is answered exactly once, and logged in
 * one line.
 *
 * Checks, in this order: SHUTTING_DOWN, MISSING_API_KEY, INVALID_API_KEY, SCOPE_REQUIRED,
 * INVALID_FIELD (every bad field at once, the metadata `idempotency-key` among them), and then what
 * `run` refuses. With the metadata `kesc-validate-only: true` an OK with an empty response comes in
 * place of `run`. What throws is INTERNAL, or STORAGE_UNAVAILABLE when it was the database.
 */
export function unary<Request, Input, Response>(rpc: UnaryRpc<Request, Input, Response>): UnaryRoute {
  return (contract, dependencies) => {
    const { logger, onInFlight, steps } = dependencies;

    const handle = async (
      call: ServerUnaryCall<Buffer, Buffer>,
      callback: Parameters<UnaryHandler>[1],
      startedAt: number,
    ): Promise<void> => {
      const record = recordOf(call.metadata, startedAt);
      let reply: Reply;
      try {
        reply = await replyTo(call, record);
      } catch (error) {
        record.thrown = error;
        reply = refused(refusalOfThrown(error, record.requestId));
      }
      steps.answer.add(() => {
        orFatal(() => {
          send(call, callback, { reply, requestId: record.requestId });
        });
      });
      steps.log.add(() => {
        orFatal(() => {
          logCall(logger, contract, { record, reply, cancelled: call.cancelled });
        });
        onInFlight(-1);
      });
    };

    const orFatal = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        logger.fatal({ method: contract.name, trace: traceOf(error) }, "a call could not be answered");
      }
    };

    const replyTo = async (call: ServerUnaryCall<Buffer, Buffer>, record: CallRecord): Promise<Reply> => {
      const admitting = admit(contract, dependencies, { metadata: call.metadata, record });
      // A key that is remembered costs no turn of the event loop.
      const key = admitting instanceof Promise ? await admitting : admitting;
      if ("reason" in key) return refused(key);

      const { requestId } = record;
      const options = optionsOf(call.metadata);
      const caller = {
        key,
        requestId,
        idempotencyKey: options.idempotencyKey,
        deadline: deadlineOf(call, dependencies),
      };
      const input = parseRequest(rpc, contract, call.request, caller);
      if (!input.ok || options.problems.length > 0) {
        return refused({ reason: "INVALID_FIELD", fields: [...(input.ok ? [] : input.fields), ...options.problems] });
      }
      if (options.validateOnly) return { kind: "done", bytes: NO_BYTES, replayed: false };

      const answer = await rpc.run(input.value, caller);
      if (answer.kind === "refused") return refused(answer.refusal);
      record.items = answer.items;
      return { kind: "done", bytes: encode(rpc.response, answer.response), replayed: answer.replayed };
    };

    return (call, callback) => {
      onInFlight(1);
      const startedAt = performance.now();
      steps.begin.add(() => void handle(call, callback, startedAt));
    };
  };
}

/**
 * Whether a call may begin: the key, or the refusal. Checks, in this order: SHUTTING_DOWN,
 * MISSING_API_KEY, INVALID_API_KEY, SCOPE_REQUIRED.
 */
export function admit(
  { requiredScope }: Pick<RpcContract, "requiredScope">,
  dependencies: Pick<CallDependencies, "isStopping" | "authenticate">,
  { metadata, record }: { metadata: Metadata; record: CallRecord },
): Authentication | AnyRefusal | Promise<Authentication | AnyRefusal> {
  if (dependencies.isStopping()) return { reason: "SHUTTING_DOWN" };
  const admitKey = (key: Authentication): Authentication | AnyRefusal => {
    if ("reason" in key) return key;
    record.key = key;
    return key.scopes.includes(requiredScope) ? key : { reason: "SCOPE_REQUIRED", scope: requiredScope };
  };
  const authenticating = dependencies.authenticate(metadata);
  return authenticating instanceof Promise ? authenticating.then(admitKey) : admitKey(authenticating);
}

export function recordOf(metadata: Metadata, startedAt: number): CallRecord {
  const requestId = requestIdOf(metadata.get("x-request-id")[0]);
  return { requestId, startedAt, key: undefined, thrown: undefined, items: undefined };
}

export interface CallOptions {
  readonly idempotencyKey: IdempotencyKey | undefined;
  readonly validateOnly: boolean;
  readonly problems: readonly FieldProblem[];
}

const NO_OPTIONS: CallOptions = { idempotencyKey: undefined, validateOnly: false, problems: [] };

export function optionsOf(metadata: Metadata): CallOptions {
  const [sentKey] = metadata.get("idempotency-key");
  const [validateOnly] = metadata.get("kesc-validate-only");
  if (sentKey === undefined && validateOnly === undefined) return NO_OPTIONS;

  const problems: FieldProblem[] = [];
  const key = sentKey === undefined ? undefined : parseIdempotencyKey(sentKey.toString());
  if (key?.ok === false) problems.push({ field: "idempotency-key", message: key.problem });
  // Anything else is refused, not ignored: whoever asks for a trial must not get the real thing.
  if (validateOnly !== undefined && validateOnly !== "true" && validateOnly !== "false") {
    problems.push({ field: "kesc-validate-only", message: "must be true or false" });
  }
  return { idempotencyKey: key?.ok === true ? key.value : undefined, validateOnly: validateOnly === "true", problems };
}

export function deadlineOf(
  call: { getDeadline(): Deadline },
  { now, callMillisMax }: Pick<CallDependencies, "now" | "callMillisMax">,
): UnixMillis {
  return toUnixMillis(Math.min(Number(call.getDeadline()), now() + callMillisMax));
}

export function parseRequest<Request, Input>(
  rpc: {
    readonly request: { decode(bytes: Uint8Array): Request };
    parse(request: Request, caller: Caller): ParsedFields<Input>;
  },
  { input }: Pick<RpcContract, "input">,
  bytes: Buffer,
  caller: Caller,
): ParsedFields<Input> {
  let request: Request;
  try {
    checkWireFormat(input, bytes);
    request = rpc.request.decode(bytes);
  } catch {
    return {
      ok: false,
      fields: [{ field: "request", message: "must be a protobuf message of the rpc's request type" }],
    };
  }
  return rpc.parse(request, caller);
}

export function refused(refusal: AnyRefusal): Refused {
  return { kind: "refused", refusal, status: statusOf(refusal) };
}

export function refusalOfThrown(error: unknown, requestId: string): AnyRefusal {
  const storeFailed = error instanceof StoreError && error.kind !== "rejected";
  return storeFailed ? { reason: "STORAGE_UNAVAILABLE" } : { reason: "INTERNAL", requestId };
}

function send(
  call: ServerUnaryCall<Buffer, Buffer>,
  callback: Parameters<UnaryHandler>[1],
  { reply, requestId }: { reply: Reply; requestId: string },
): void {
  const initial = new Metadata();
  initial.set("x-request-id", requestId);
  if (reply.kind === "done" && reply.replayed) initial.set("idempotent-replayed", "true");
  call.sendMetadata(initial);
  if (reply.kind === "done") callback(null, reply.bytes);
  else callback(reply.status);
}

/** Writes the one line of a call. */
export function logCall(
  logger: Logger,
  contract: RpcContract,
  { record, reply, cancelled }: { record: CallRecord; reply: Ending; cancelled: boolean },
): void {
  const { requestId, startedAt, key, items } = record;
  const thrown = record.thrown ?? items?.thrown;
  // Never what the caller wrote: no phone number, e-mail address or secret gets into a log this
  // way. Pino leaves out what is undefined.
  const line = {
    request_id: requestId,
    method: contract.name,
    code: reply.kind === "done" ? "OK" : Status[reply.status.code],
    reason: reply.kind === "done" ? undefined : reply.refusal.reason,
    ms: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
    organization_id: key?.organizationId,
    key_id: key?.id,
    replayed: reply.kind === "done" && reply.replayed ? true : undefined,
    items: items?.items,
    items_refused: items?.refused,
    cancelled: cancelled ? true : undefined,
    trace: thrown === undefined ? undefined : traceOf(thrown),
  };
  if (thrown === undefined) logger.info(line, "call");
  else logger.error(line, "call");
}
