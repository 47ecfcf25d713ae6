import { type Deadline, Metadata } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { requestIdOf, traceIdOf, type TraceParent } from "../../../runtime/caller-ids.js";
import { atEndOfTask, MicroBatch } from "../../../runtime/micro-batch.js";
import type { CallSpan, Tracing } from "../../../runtime/tracing/tracing.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Authority } from "../../domain/authority.js";
import type { Actor } from "../../domain/values/actor.js";
import type { AccountId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { Operator } from "../../operators/operator.js";
import type { AnyRefusal, ServedRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import { type FieldProblem, fieldProblem, type ParsedFields } from "../messages/fields.js";
import { checkWireFormat } from "../messages/wire-format.js";
import type { AuthenticatedCall, Authentication } from "./authenticator.js";
import type { CallMeter } from "./call-meter.js";
import type { CallRates, TokenBucket } from "./call-rates.js";
import type { ItemTally } from "./rpc-result.js";

/** An operator who acts for an organization, as its rpcs know one. */
export interface OperatorInPlace {
  readonly authority: Authority;
  /** Whether a passkey must confirm the call: the session of the operator is not fresh. */
  readonly mustVerify: boolean;
}

/** Who calls for an organization: one of its programs, or an operator in their place. */
export type Principal = ApiKey & { readonly operator?: OperatorInPlace };

/** Who may call. */
export type Identity = Principal | Operator;

/** The caller of an rpc, and the conditions of the call. A public rpc does not know its caller. */
export interface Caller<Key extends Identity | undefined = Principal> {
  readonly key: Key;
  readonly requestId: string;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** Deadline. A command that is still queued then is dropped. */
  readonly deadline: UnixMillis;
  /** The call's place in its trace, if it is recorded. */
  readonly trace: TraceParent | undefined;
  /** Where the call was counted. Undefined: its key has no rate. */
  readonly bucket: TokenBucket | undefined;
}

/** The parts of the server that every call uses. */
export interface ServingDependencies {
  readonly now: () => UnixMillis;
  /** Whether the server refuses new calls. */
  readonly isStopping: () => boolean;
  /** Upper bound of a call's deadline, from its start. */
  readonly callMillisMax: number;
  readonly logger: Logger;
  /**
   * Registers `stop`, which the server calls when it begins to stop. Returns a function that
   * removes it.
   */
  readonly onStopping: (stop: () => void) => () => void;
  /**
   * The same when the connection of a stream is asked to close: `peer` is that of the call.
   * Undefined: connections close with the server alone.
   */
  readonly onConnectionClosing?: (peer: string, stop: () => void) => () => void;
  /** Called with +1 when a call begins, and with -1 when its response has been sent. */
  readonly onInFlight: (change: 1 | -1) => void;
  readonly steps: CallSteps;
  /** Undefined: the metrics are off. */
  readonly meter?: CallMeter | undefined;
  /** Undefined: no call is recorded. */
  readonly tracing?: Pick<Tracing, "begin"> | undefined;
  /** Returns what the callers of this address see of a response. Undefined: all of it. */
  readonly shown?: <Response>(response: Response) => Response;
}

/** What serves the calls of organizations. */
export interface CallDependencies extends ServingDependencies {
  /** Where operators call the rpcs of organizations. Undefined: nobody but organizations calls. */
  readonly door?: OperatorsDoor | undefined;
  authenticate(call: AuthenticatedCall): Authentication | Promise<Authentication>;
  readonly rates: Pick<CallRates, "bucketOf">;
}

/** How an operator comes to the rpcs of an organization. */
export interface OperatorsDoor {
  /** Admits the caller of a unary rpc in place of `admit`. */
  readonly admit: Admit<Principal, ServingDependencies>;
  /** Returns the problems that only the requests of operators have. */
  readonly problemsIn: (contract: RpcContract, request: object) => readonly FieldProblem[];
}

/** Collects the facts of a call for its log line. */
export interface CallRecord {
  readonly requestId: string;
  readonly traceId: string | undefined;
  /** Undefined: the call is not recorded. */
  readonly span: CallSpan | undefined;
  readonly startedAt: number;
  key: ApiKey | undefined;
  /** Undefined until the key is known, or if it has no rate. */
  bucket: TokenBucket | undefined;
  operator: Operator | undefined;
  /** The account whose personal data the call shows. */
  accountId: AccountId | undefined;
  thrown: unknown;
  items: ItemTally | undefined;
}

/** Returns the identity of the caller, or the refusal of the call. */
export type Admit<Key extends Identity | undefined, Dependencies> = (
  contract: RpcContract,
  dependencies: Dependencies,
  call: { readonly call: AuthenticatedCall; readonly record: CallRecord },
) => Key | ServedRefusal | Promise<Key | ServedRefusal>;

export function recordOf(metadata: Metadata, { path }: RpcContract, tracing: CallDependencies["tracing"]): CallRecord {
  const [sent] = metadata.get("x-request-id");
  const [traceparent] = metadata.get("traceparent");
  const span = tracing?.begin(path, traceparent);
  return {
    requestId: requestIdOf(sent),
    traceId: span?.parent.traceId ?? traceIdOf(traceparent),
    span,
    startedAt: performance.now(),
    key: undefined,
    bucket: undefined,
    operator: undefined,
    accountId: undefined,
    thrown: undefined,
    items: undefined,
  };
}

/**
 * Returns the caller's key, or the refusal of the call. Checks, in this order: SHUTTING_DOWN,
 * MISSING_API_KEY, RESTORE_NOT_CONFIRMED, INVALID_API_KEY, SCOPE_REQUIRED, RATE_LIMITED. A stream
 * asks again while it is open. It counts as one call, at its start.
 */
export function admit(
  contract: Pick<RpcContract, "isPublic" | "requiredScope" | "name" | "readsMany">,
  dependencies: Pick<CallDependencies, "isStopping" | "authenticate" | "rates">,
  { call, record }: { call: AuthenticatedCall; record: CallRecord },
): Authentication | AnyRefusal | Promise<Authentication | AnyRefusal> {
  if (dependencies.isStopping()) return { reason: "SHUTTING_DOWN" };
  const { isPublic, requiredScope, name } = contract;
  if (isPublic) throw new Error(`${name} needs no key, but its handler does`);
  const admitKey = (key: Authentication): Authentication | AnyRefusal => {
    if ("reason" in key) return key;
    const limited = record.key === undefined ? count(key) : undefined;
    record.key = key;
    if (requiredScope !== undefined && !key.scopes.includes(requiredScope)) {
      return { reason: "SCOPE_REQUIRED", scope: requiredScope };
    }
    return limited ?? key;
  };
  const count = (key: ApiKey): AnyRefusal | undefined => {
    record.bucket = dependencies.rates.bucketOf(key.id, contract);
    return record.bucket?.take(1) === 0 ? record.bucket.refusal() : undefined;
  };
  const authenticating = dependencies.authenticate(call);
  return authenticating instanceof Promise ? authenticating.then(admitKey) : admitKey(authenticating);
}

/** Makes the caller of an admitted call. */
export function callerOf<Key extends Identity | undefined>(
  key: Key,
  { requestId, span, bucket }: CallRecord,
  { idempotencyKey, deadline }: Pick<Caller, "idempotencyKey" | "deadline">,
): Caller<Key> {
  return { key, requestId, idempotencyKey, deadline, trace: span?.parent, bucket };
}

/** Returns the metadata that goes before the response. */
export function headOf({ requestId, bucket }: Pick<CallRecord, "requestId" | "bucket">): Metadata {
  const head = new Metadata();
  head.set("x-request-id", requestId);
  bucket?.writeTo(head);
  return head;
}

/** Returns the name under which the journal records the caller. */
export function actorOf(key: ApiKey): Actor {
  return key.id as string as Actor;
}

/** The metadata of a call that changes how it runs. */
export interface CallOptions {
  readonly idempotencyKey: IdempotencyKey | undefined;
  readonly validateOnly: boolean;
  readonly problems: readonly FieldProblem[];
}

const NO_OPTIONS: CallOptions = { idempotencyKey: undefined, validateOnly: false, problems: [] };

export function optionsOf(metadata: Metadata, contract: Pick<RpcContract, "idempotencyKey">): CallOptions {
  const [sentKey] = metadata.get("idempotency-key");
  const [validateOnly] = metadata.get("kesc-validate-only");
  if (sentKey === undefined && validateOnly === undefined) return NO_OPTIONS;

  const problems: FieldProblem[] = [];
  const key = sentKey === undefined ? undefined : keyFor(contract, sentKey.toString());
  if (key?.ok === false) problems.push({ field: "idempotency-key", message: key.problem, code: key.code });
  // Any other value is refused, not ignored: a caller that asks for a validation must not get the
  // real call.
  if (validateOnly !== undefined && validateOnly !== "true" && validateOnly !== "false") {
    problems.push({ field: "kesc-validate-only", message: "must be true or false", code: "FORMAT" });
  }
  return { idempotencyKey: key?.ok === true ? key.value : undefined, validateOnly: validateOnly === "true", problems };
}

/** Parses the idempotency key, if the rpc takes one. An rpc that only reads ignores it. */
function keyFor(
  { idempotencyKey }: Pick<RpcContract, "idempotencyKey">,
  sentKey: string,
): Parsed<IdempotencyKey | undefined> {
  switch (idempotencyKey) {
    case "taken":
      return parseIdempotencyKey(sentKey);
    case "items":
      return unparsed("must not be sent with this call: each of its requests has an idempotency_key", "CONFLICT");
    case "refused":
      return unparsed("must not be sent with this call: a key has no effect on it", "CONFLICT");
    case "ignored":
      return parsed(undefined);
  }
}

/** Returns the earlier of the caller's deadline and the server's own limit. */
export function deadlineOf(
  call: { getDeadline(): Deadline },
  { now, callMillisMax }: Pick<CallDependencies, "now" | "callMillisMax">,
): UnixMillis {
  return toUnixMillis(Math.min(Number(call.getDeadline()), now() + callMillisMax));
}

/**
 * Decodes and parses a request. If the bytes are not a message of the type, the problem is in the
 * field `request`.
 */
export function parseRequest<Request, Input, Key extends Identity | undefined>(
  rpc: {
    readonly request: { decode(bytes: Uint8Array): Request };
    parse(request: Request, caller: Caller<Key>): ParsedFields<Input>;
  },
  { input }: Pick<RpcContract, "input">,
  bytes: Buffer,
  caller: Caller<Key>,
): ParsedFields<Input> {
  let request: Request;
  try {
    checkWireFormat(input, bytes);
    request = rpc.request.decode(bytes);
  } catch {
    return fieldProblem("request", "must be a protobuf message of the rpc's request type", "FORMAT");
  }
  return rpc.parse(request, caller);
}

/** Parses a request. A refusal names every bad field at once, also of the call's metadata. */
export function parseCall<Request, Input, Key extends Identity | undefined>(
  rpc: Parameters<typeof parseRequest<Request, Input, Key>>[0],
  { contract, bytes, options, caller }: ParsedCall<Key>,
): ParsedFields<Input> {
  const input = parseRequest(rpc, contract, bytes, caller);
  if (options.problems.length === 0) return input;
  return { ok: false, fields: [...(input.ok ? [] : input.fields), ...options.problems] };
}

interface ParsedCall<Key extends Identity | undefined> {
  readonly contract: Pick<RpcContract, "input">;
  readonly bytes: Buffer;
  readonly options: CallOptions;
  readonly caller: Caller<Key>;
}

/**
 * An error of the database becomes STORAGE_UNAVAILABLE. Any other error is a bug and becomes
 * INTERNAL.
 */
export function refusalOfThrown(error: unknown, requestId: string): AnyRefusal {
  const storeFailed = error instanceof StoreError && error.kind !== "rejected";
  return storeFailed ? { reason: "STORAGE_UNAVAILABLE" } : { reason: "INTERNAL", requestId };
}

/**
 * The last steps of a call. Each step runs as a micro-batch for all calls that have reached it, as
 * the beginning does (runtime/fair-turns.ts). That halved the time of GetAccount, from 145 to 64 µs
 * (docs/adr/0012).
 */
export interface CallSteps {
  readonly answer: MicroBatch<() => void>;
  readonly log: MicroBatch<() => void>;
}

/** Returns the steps of one server. All its rpcs share them. */
export function callSteps(): CallSteps {
  return {
    answer: new MicroBatch({ schedule: atEndOfTask, process: runAll }),
    log: new MicroBatch({ schedule: atEndOfTask, process: runAll }),
  };
}

function runAll(tasks: readonly (() => void)[]): void {
  for (const task of tasks) task();
}
