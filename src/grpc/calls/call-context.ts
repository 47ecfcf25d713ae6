import { type Deadline, Metadata } from "@grpc/grpc-js";
import type { Logger } from "pino";

import { requestIdOf, traceIdOf, type TraceParent } from "../../../runtime/caller-ids.js";
import { atEndOfTask, MicroBatch } from "../../../runtime/micro-batch.js";
import type { CallSpan, Tracing } from "../../../runtime/tracing/tracing.js";
import type { ApiKey } from "../../domain/api-key.js";
import type { Authority } from "../../domain/authority.js";
import { actorOf as actorOfOperator } from "../../domain/operator.js";
import type { Actor } from "../../domain/values/actor.js";
import type { AccountId } from "../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type IdempotencyKey, parseIdempotencyKey } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import { StoreError } from "../../ledger/ports/store.js";
import type { BookOwner } from "../../operators/reads.js";
import type { CallingOperator } from "../../operators/session.js";
import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";
import { type FieldProblem, fieldProblem, type ParsedFields } from "../messages/fields.js";
import { checkWireFormat } from "../messages/wire-format.js";
import type { AuthenticatedCall } from "./authenticator.js";
import type { CallMeter } from "./call-meter.js";
import type { TokenBucket } from "./call-rates.js";
import type { CallHead, ItemTally, RpcResult } from "./rpc-result.js";

/**
 * Who calls: a program of an organization by its key, an operator, or the machine, which is the
 * command `kesc` on the database. A public rpc does not know its caller.
 */
export type Who =
  | { readonly kind: "key"; readonly key: ApiKey; readonly operator?: undefined }
  | { readonly kind: "operator"; readonly operator: CallingOperator }
  | { readonly kind: "machine" | "nobody"; readonly operator?: undefined };

export const MACHINE: Who = { kind: "machine" };
export const NOBODY: Who = { kind: "nobody" };

/** A caller who may call, and for whom. */
export interface Admitted<Of extends BookOwner | undefined = BookOwner> {
  readonly who: Who;
  /** That of a key, or the one that an operator names. Undefined: the rpc needs none. */
  readonly organization: Of;
  /** What the ledger needs to know of an operator or the machine who writes for an organization. */
  readonly authority?: Authority | undefined;
}

/** The caller of an rpc, and the conditions of the call. */
export interface Caller<Of extends BookOwner | undefined = BookOwner> extends Admitted<Of> {
  readonly requestId: string;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** Deadline. A command that is still queued then is dropped. */
  readonly deadline: UnixMillis;
  /** The call's place in its trace, if it is recorded. */
  readonly trace: TraceParent | undefined;
  /** Where the call was counted. Undefined: its key has no rate. */
  readonly bucket: TokenBucket | undefined;
}

/** Returns the name under which the journal records the caller, and by which calls are counted. */
export function actorOf(who: Who): Actor {
  switch (who.kind) {
    case "key":
      return who.key.id as string as Actor;
    case "operator":
    case "machine":
      return actorOfOperator(who.operator);
    case "nobody":
      throw new Error("a public rpc has no author");
  }
}

/**
 * Returns the line in which the lists of the caller wait, and in which the open streams are
 * counted: that of the organization for a key. So a busy organization does not delay the operator
 * who looks at it, and an operator delays an organization no more than another one does.
 */
export function lineOf({ who, organization }: Pick<Admitted<BookOwner | undefined>, "who" | "organization">): string {
  return who.kind === "key" && organization !== undefined ? organization.id : actorOf(who);
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
}

/** What serves the calls of one address. */
export interface CallDependencies extends ServingDependencies {
  readonly gate: Gate;
}

/** Admits the calls of one address. */
export interface Gate {
  /**
   * Returns the caller, or the refusal of the call. A stream asks again while it is open. Anybody
   * may call a public rpc.
   */
  readonly admit: (
    contract: RpcContract,
    serving: Pick<ServingDependencies, "isStopping">,
    call: { readonly call: AuthenticatedCall; readonly record: CallRecord },
  ) => Admission | Promise<Admission>;
  /** The rules for operators. Undefined where only keys call. */
  readonly rules?: OperatorRules;
}

/** What holds for the calls of operators beside the rules of their rpcs. */
export interface OperatorRules {
  /** Returns the problems of a request beside its shape. */
  readonly problemsIn: (contract: RpcContract, request: object) => readonly FieldProblem[];
  /** Refuses a call whose request is valid. */
  readonly refusalOf: (call: CheckedCall) => Promise<AnyRefusal | undefined>;
  /** Runs such a call when its turn comes. */
  readonly inTurn: <Response>(
    call: Pick<CheckedCall, "contract" | "caller"> & { readonly parts: number | undefined },
    run: () => Promise<RpcResult<Response>>,
  ) => Promise<RpcResult<Response>>;
}

/** The caller of a call that is admitted, or why it is not. */
export type Admission = Admitted<BookOwner | undefined> | AnyRefusal;

/** A call whose request is valid. */
export interface CheckedCall {
  readonly contract: RpcContract;
  readonly input: unknown;
  readonly caller: Caller<BookOwner | undefined>;
  /** Whether this call only takes power away, although the rpc can give it. */
  readonly takesPowerAway: boolean;
}

/** Collects the facts of a call for its log line. */
export interface CallRecord {
  readonly requestId: string;
  readonly traceId: string | undefined;
  /** Undefined: the call is not recorded. */
  readonly span: CallSpan | undefined;
  readonly startedAt: number;
  /** Undefined until the caller is known. */
  who: Who | undefined;
  /** Undefined until the key is known, or if it has no rate. */
  bucket: TokenBucket | undefined;
  /** The account whose personal data the call shows. */
  accountId: AccountId | undefined;
  thrown: unknown;
  items: ItemTally | undefined;
}

export function recordOf(metadata: Metadata, { path }: RpcContract, tracing: CallDependencies["tracing"]): CallRecord {
  const [sent] = metadata.get("x-request-id");
  const [traceparent] = metadata.get("traceparent");
  const span = tracing?.begin(path, traceparent);
  return {
    requestId: requestIdOf(sent),
    traceId: span?.parent.traceId ?? traceIdOf(traceparent),
    span,
    startedAt: performance.now(),
    who: undefined,
    bucket: undefined,
    accountId: undefined,
    thrown: undefined,
    items: undefined,
  };
}

/** Makes the caller of an admitted call. */
export function callerOf<Of extends BookOwner | undefined>(
  { who, organization, authority }: Admitted<Of>,
  { requestId, span, bucket }: CallRecord,
  { idempotencyKey, deadline }: Pick<Caller, "idempotencyKey" | "deadline">,
): Caller<Of> {
  return { who, organization, authority, requestId, idempotencyKey, deadline, trace: span?.parent, bucket };
}

/** Returns the metadata that goes before the response. */
export function headOf({ requestId, bucket }: Pick<CallRecord, "requestId" | "bucket">): Metadata {
  const head = new Metadata();
  head.set("x-request-id", requestId);
  bucket?.writeTo(head);
  return head;
}

/** Adds to a head what it tells of the result. */
export function headWith(head: Metadata, { replayed, proposalId }: CallHead): Metadata {
  if (replayed) head.set("idempotent-replayed", "true");
  if (proposalId !== undefined) head.set("kesc-proposal", proposalId);
  return head;
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
export function parseRequest<Request, Input, Of extends BookOwner | undefined>(
  rpc: {
    readonly request: { decode(bytes: Uint8Array): Request };
    parse(request: Request, caller: Caller<Of>): ParsedFields<Input>;
  },
  { input }: Pick<RpcContract, "input">,
  bytes: Buffer,
  caller: Caller<Of>,
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
export function parseCall<Request, Input, Of extends BookOwner | undefined>(
  rpc: Parameters<typeof parseRequest<Request, Input, Of>>[0],
  { contract, bytes, options, caller }: ParsedCall<Of>,
): ParsedFields<Input> {
  const input = parseRequest(rpc, contract, bytes, caller);
  if (options.problems.length === 0) return input;
  return { ok: false, fields: [...(input.ok ? [] : input.fields), ...options.problems] };
}

interface ParsedCall<Of extends BookOwner | undefined> {
  readonly contract: Pick<RpcContract, "input">;
  readonly bytes: Buffer;
  readonly options: CallOptions;
  readonly caller: Caller<Of>;
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
