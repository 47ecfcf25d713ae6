import type { ServiceError } from "@grpc/grpc-js";

import { decode, type Message } from "./decode.js";
import type { FieldError, KescErrorReason, Refusal } from "./gen/messages.js";
import { REASONS, STATUS_CODES } from "./gen/tables.js";

const DOMAIN = "kesc";
const DETAILS = "grpc-status-details-bin";

/** A call that failed. Programs read `reason` and `facts`; the message is for people. */
export class KescError extends Error implements Refusal {
  override readonly name = "KescError";
  /** The gRPC status, such as "NOT_FOUND". */
  readonly code: Refusal["code"];
  /**
   * Why the service refused the call. OUTCOME_UNKNOWN: the call was sent, and nobody knows what
   * became of it. Undefined if something else failed, such as the connection of a call that only
   * reads, or if the service is newer than this client.
   */
  readonly reason: KescErrorReason | undefined;
  /** The facts of the reason, as docs/errors.md lists them. */
  readonly facts: Readonly<Record<string, string>>;
  /** Every field that was refused, for INVALID_FIELD. */
  readonly fields: readonly FieldError[];
  /** The time after which the service advises to repeat the call, in milliseconds. */
  readonly retryAfterMillis: number | undefined;
  /** The id of the call in the logs of the service. */
  readonly requestId: string | undefined;

  constructor({ code, message, reason, facts, fields, retryAfterMillis }: Refusal, requestId?: string) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.facts = facts;
    this.fields = fields;
    this.retryAfterMillis = retryAfterMillis;
    this.requestId = requestId;
  }

  /** An error of grpc-js. One that it made itself may lack the metadata, or even the code. */
  static ofCall(error: Partial<ServiceError>, requestId: string): KescError {
    const [bytes] = error.metadata?.get(DETAILS) ?? [];
    const status = Buffer.isBuffer(bytes) ? decode("google.rpc.Status", bytes, refusalOf) : { details: [] };
    const { code, details = error.message ?? "the call failed" } = error;
    return new KescError(refusalOf({ ...status, code, message: details }), requestId);
  }

  /** Returns this error as that of a call that may have been executed. */
  outcomeUnknown(): KescError {
    const message = `The outcome is unknown, because the call got no response: ${this.message}`;
    return new KescError({ ...this.toJSON(), message, reason: "OUTCOME_UNKNOWN" }, this.requestId);
  }

  /** Without it, JSON.stringify would leave out the message. */
  toJSON(): Refusal & { readonly name: string; readonly requestId: string | undefined } {
    const { name, message, code, reason, facts, fields, retryAfterMillis, requestId } = this;
    return { name, message, code, reason, facts, fields, retryAfterMillis, requestId };
  }
}

/** Reads a google.rpc.Status with its details. */
export function refusalOf(status: Message): Refusal {
  const details = status["details"] as readonly { readonly type_url: string; readonly value: Uint8Array }[];
  const detail = (name: string): Message | undefined => {
    const found = details.find(({ type_url: url }) => url === `type.googleapis.com/google.rpc.${name}`);
    return found && decode(`google.rpc.${name}`, found.value, refusalOf);
  };
  const info = detail("ErrorInfo") as { domain: string; reason: string; metadata: Record<string, string> } | undefined;
  const violations = detail("BadRequest")?.["field_violations"] ?? [];
  const delay = detail("RetryInfo")?.["retry_delay"] as { seconds: number; nanos: number } | undefined;
  return {
    code: STATUS_CODES[status["code"] as number] ?? "UNKNOWN",
    message: status["message"] as string,
    reason: REASONS.find((known) => info?.domain === DOMAIN && known === info.reason),
    facts: info?.metadata ?? {},
    fields: (violations as { field: string; description: string; reason: string }[]).map(
      ({ field, description, reason }) => ({ field, message: description, code: reason }),
    ),
    retryAfterMillis: delay && delay.seconds * 1_000 + delay.nanos / 1_000_000,
  };
}
