import { type RefusalsOf, sentencesOf, SOON_MILLIS, worded } from "../../domain/answer.js";
import type { Scope } from "../../domain/api-key.js";
import type { Refusal } from "../../domain/refusal.js";
import type { Rail } from "../../domain/transaction.js";
import type { TransactionId } from "../../domain/values/ids.js";
import type { FieldProblem } from "../messages/fields.js";

interface CallFields {
  readonly bytesMax: number;
  readonly problem: string;
  readonly rail: Rail;
  readonly requestId: string;
  readonly scope: Scope;
  readonly sealedSize: number;
  readonly streamsMax: number;
  readonly transactionId: TransactionId;
}

const {
  deadlineExceeded,
  failedPrecondition,
  internal,
  invalidArgument,
  permissionDenied,
  resourceExhausted,
  unauthenticated,
  unavailable,
  unimplemented,
} = sentencesOf<CallFields>();

/** The answers of the server itself, whatever the call. The first are of the ledger's queue. */
export const CALL_REFUSALS = {
  QUEUE_FULL: {
    ...resourceExhausted`Too many requests are waiting. Nothing was done. Send the request again later.`,
    retryMillis: SOON_MILLIS,
  },
  STORAGE_UNAVAILABLE: {
    ...unavailable`The database is unavailable. Send the same request again: repeating it is safe.`,
    retryMillis: SOON_MILLIS,
  },
  SHUTTING_DOWN: {
    ...unavailable`The server, or this connection to it, is closing. Nothing was done. Send the request again.`,
    retryMillis: SOON_MILLIS,
  },
  /** Somebody whose key was revoked after the backup must not act again. */
  RESTORE_NOT_CONFIRMED: {
    ...unavailable`The database was restored from a backup. No key and no person is believed before a person at the machine confirms the restore. Nothing was done. Send the request again later.`,
    retryMillis: 30_000,
  },
  DEADLINE_EXCEEDED: deadlineExceeded`The deadline passed, and nothing was done. Send the request again.`,
  INVALID_FIELD: worded(
    "INVALID_ARGUMENT",
    ["fields"],
    // A user of grpcurl sees this text, but the details only as bytes.
    ({ fields }: { readonly fields: readonly FieldProblem[] }) =>
      `Invalid request: ${fields.map(({ field, message }) => `${field} ${message}`).join("; ")}.`,
  ),
  MISSING_API_KEY: unauthenticated`The API key is missing. Send it as x-api-key, or as authorization: Bearer.`,
  INVALID_API_KEY: worded(
    "UNAUTHENTICATED",
    ["problem"],
    ({ problem = "it is unknown, expired or revoked" }: { readonly problem?: string }) =>
      `The API key is invalid: ${problem}.`,
  ),
  SCOPE_REQUIRED: permissionDenied`The API key lacks the scope ${"scope"}. Use a key that has it.`,
  RATE_LIMITED: worded(
    "RESOURCE_EXHAUSTED",
    ["rate", "callsPerSecond", "retryMillis"],
    ({
      rate,
      callsPerSecond,
    }: {
      readonly rate: "calls" | "lists";
      readonly callsPerSecond: number;
      readonly retryMillis: number;
    }) => {
      const calls = rate === "lists" ? "lists and exports" : "calls";
      return `The API key makes more than ${String(callsPerSecond)} ${calls} a second. Nothing was done. Send the request again later.`;
    },
  ),
  OUTCOME_UNKNOWN: deadlineExceeded`The deadline passed before the response. Send the same request again: it shows the outcome.`,
  MALFORMED_REQUEST: invalidArgument`Malformed gRPC call: ${"problem"} Nothing was done.`,
  UNSUPPORTED_COMPRESSION: unimplemented`The grpc-encoding is unknown. Nothing was done. Use gzip, deflate or identity.`,
  NO_SUCH_RPC: unimplemented`Unknown rpc. Check the names of its package, service and method.`,
  // Clients repeat a call after RESOURCE_EXHAUSTED, the status that grpc-js has for it.
  REQUEST_TOO_LARGE: invalidArgument`The request is larger than ${"bytesMax"} bytes. Nothing was done. Send less in one call.`,
  TOO_MANY_STREAMS: {
    ...resourceExhausted`The caller has ${"streamsMax"} open streams of this rpc, and more are not allowed. Nothing was done. Try again when one has ended.`,
    retryMillis: SOON_MILLIS,
  },
  RAIL_NOT_SANDBOX: failedPrecondition`Transaction ${"transactionId"} has the rail ${"rail"}. Only the rail sandbox can be advanced.`,
  CHECKPOINT_NOT_FOUND: worded("NOT_FOUND", ["size"], ({ size }: { readonly size: number | undefined }) =>
    size === undefined
      ? "The book has no checkpoint yet. A new row is sealed within minutes, if the operator has set up seals."
      : `The book has no checkpoint of the size ${String(size)}. Ask for the newest one.`,
  ),
  NOT_SEALED: {
    ...failedPrecondition`The checkpoint covers the rows up to ${"sealedSize"}. The next one comes within minutes. Ask again then.`,
    // A book is sealed at most once a minute, so a call that asks each second would ask in vain.
    retryMillis: 10_000,
  },
  INTERNAL: internal`An internal error occurred. The operator finds its cause in the log by the request id ${"requestId"}.`,
};

/** A refusal by the gRPC server or the ledger's queue. No rule of the book saw the call. */
export type CallRefusal = RefusalsOf<typeof CALL_REFUSALS>;
/** Every refusal that a caller can get. */
export type AnyRefusal = Refusal | CallRefusal;
export type Reason = AnyRefusal["reason"];
