import { status as Status } from "@grpc/grpc-js";

import type { LedgerRefusal } from "../../ledger/ports/outcome.js";
import { type Answers, type CallRefusal, SOON_MILLIS } from "./refusal.js";

/** The answers of the server itself, whatever the call. */
export const CALL_REFUSALS: Answers<CallRefusal | LedgerRefusal> = {
  INVALID_FIELD: {
    status: Status.INVALID_ARGUMENT,
    // A user of grpcurl sees this text, but the details only as bytes.
    message: ({ fields }) =>
      `Invalid request: ${fields.map(({ field, message }) => `${field} ${message}`).join("; ")}.`,
  },
  MISSING_API_KEY: {
    status: Status.UNAUTHENTICATED,
    message: () => "The API key is missing. Send it as x-api-key, or as authorization: Bearer.",
  },
  INVALID_API_KEY: {
    status: Status.UNAUTHENTICATED,
    message: () => "The API key is invalid: it is unknown, expired or revoked.",
  },
  SCOPE_REQUIRED: {
    status: Status.PERMISSION_DENIED,
    message: ({ scope }) => `The API key lacks the scope ${scope}. Use a key that has it.`,
    facts: ({ scope }) => ({ scope }),
  },
  RATE_LIMITED: {
    status: Status.RESOURCE_EXHAUSTED,
    message: ({ rate, callsPerSecond }) => {
      const calls = rate === "lists" ? "lists and exports" : "calls";
      return `The API key makes more than ${String(callsPerSecond)} ${calls} a second. Nothing was done. Send the request again later.`;
    },
    facts: ({ rate, callsPerSecond }) => ({ rate, calls_per_second: String(callsPerSecond) }),
    retryMillis: ({ retryMillis }) => retryMillis,
  },
  QUEUE_FULL: {
    status: Status.RESOURCE_EXHAUSTED,
    message: () => "Too many requests are waiting. Nothing was done. Send the request again later.",
    retryMillis: SOON_MILLIS,
  },
  STORAGE_UNAVAILABLE: {
    status: Status.UNAVAILABLE,
    message: () => "The database is unavailable. Send the same request again: repeating it is safe.",
    retryMillis: SOON_MILLIS,
  },
  SHUTTING_DOWN: {
    status: Status.UNAVAILABLE,
    message: () => "The server is shutting down. Nothing was done. Send the request again.",
    retryMillis: SOON_MILLIS,
  },
  DEADLINE_EXCEEDED: {
    status: Status.DEADLINE_EXCEEDED,
    message: () => "The deadline passed before the request was started. Nothing was done. Send the request again.",
  },
  OUTCOME_UNKNOWN: {
    status: Status.DEADLINE_EXCEEDED,
    message: () => "The deadline passed before the response. Send the same request again: it shows the outcome.",
  },
  MALFORMED_REQUEST: {
    status: Status.INVALID_ARGUMENT,
    message: ({ problem }) => `Malformed gRPC call: ${problem} Nothing was done.`,
  },
  UNSUPPORTED_COMPRESSION: {
    status: Status.UNIMPLEMENTED,
    message: () => "The grpc-encoding is unknown. Nothing was done. Use gzip, deflate or identity.",
  },
  NO_SUCH_RPC: {
    status: Status.UNIMPLEMENTED,
    message: () => "Unknown rpc. Check the names of its package, service and method.",
  },
  REQUEST_TOO_LARGE: {
    // Clients repeat a call after RESOURCE_EXHAUSTED, the status that grpc-js has for it.
    status: Status.INVALID_ARGUMENT,
    message: ({ bytesMax }) =>
      `The request is larger than ${String(bytesMax)} bytes. Nothing was done. Send less in one call.`,
    facts: ({ bytesMax }) => ({ bytes_max: String(bytesMax) }),
  },
  TOO_MANY_STREAMS: {
    status: Status.RESOURCE_EXHAUSTED,
    message: ({ streamsMax }) =>
      `The caller has ${String(streamsMax)} open streams of this rpc, and more are not allowed. ` +
      "Nothing was done. Try again when one has ended.",
    facts: ({ streamsMax }) => ({ streams_max: String(streamsMax) }),
    retryMillis: SOON_MILLIS,
  },
  RAIL_NOT_SANDBOX: {
    status: Status.FAILED_PRECONDITION,
    message: ({ transactionId, rail }) =>
      `Transaction ${transactionId} has the rail ${rail}. Only the rail sandbox can be advanced.`,
    facts: ({ transactionId, rail }) => ({ transaction_id: transactionId, rail }),
  },
  CHECKPOINT_NOT_FOUND: {
    status: Status.NOT_FOUND,
    message: ({ size }) =>
      size === undefined
        ? "The book has no checkpoint yet. A new row is sealed within minutes, if the operator has set up seals."
        : `The book has no checkpoint of the size ${String(size)}. Ask for the newest one.`,
    facts: ({ size }) => ({ size: size === undefined ? undefined : String(size) }),
  },
  NOT_SEALED: {
    status: Status.FAILED_PRECONDITION,
    message: ({ sealedSize }) =>
      `The checkpoint covers the rows up to ${String(sealedSize)}. The next one comes within minutes. Ask again then.`,
    facts: ({ sealedSize }) => ({ sealed_size: String(sealedSize) }),
    // A book is sealed at most once a minute, so a call that asks each second would ask in vain.
    retryMillis: 10_000,
  },
  INTERNAL: {
    status: Status.INTERNAL,
    message: ({ requestId }) =>
      `An internal error occurred. The operator finds its cause in the log by the request id ${requestId}.`,
    facts: ({ requestId }) => ({ request_id: requestId }),
  },
};
