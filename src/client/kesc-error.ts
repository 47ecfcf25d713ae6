import { type Metadata, type ServiceError, status as Status } from "@grpc/grpc-js";

import { BadRequest, ErrorInfo, RetryInfo } from "../gen/google/rpc/error_details.js";
import { Status as StatusMessage } from "../gen/google/rpc/status.js";
import { ErrorReason } from "../gen/kesc/v1/errors.js";

type ReasonOf<Name> = Name extends `ERROR_REASON_${infer Reason}` ? Exclude<Reason, "UNSPECIFIED"> : never;

/** The reasons that docs/errors.md lists. */
export type KescErrorReason = ReasonOf<keyof typeof ErrorReason>;

/** A field that was refused. Its message continues a sentence that begins with the field's name. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  readonly code: string;
}

interface Refusal {
  readonly reason: KescErrorReason | undefined;
  readonly facts: Readonly<Record<string, string>>;
  readonly fields: readonly FieldError[];
  readonly retryAfterMillis: number | undefined;
}

const DOMAIN = "kesc";
const DETAILS = "grpc-status-details-bin";

/** A call that failed. Programs read `reason` and `facts`; the message is for people. */
export class KescError extends Error {
  override readonly name = "KescError";
  /** The gRPC status, such as "NOT_FOUND". */
  readonly code: keyof typeof Status;
  /**
   * Why the service refused the call. Undefined if something else failed, such as the connection,
   * or if the service is newer than this client.
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

  constructor(code: number, message: string, { requestId, ...refusal }: Refusal & { readonly requestId?: string }) {
    super(message);
    this.code = (Status[code] ?? "UNKNOWN") as keyof typeof Status;
    this.reason = refusal.reason;
    this.facts = refusal.facts;
    this.fields = refusal.fields;
    this.retryAfterMillis = refusal.retryAfterMillis;
    this.requestId = requestId;
  }

  static ofCall({ code, details, metadata }: ServiceError, requestId: string): KescError {
    return new KescError(code, details, { ...refusalIn(statusIn(metadata)), requestId });
  }

  /** The error of one request of a batch. */
  static ofStatus(status: StatusMessage): KescError {
    return new KescError(status.code, status.message, refusalIn(status));
  }
}

function statusIn(metadata: Metadata): StatusMessage | undefined {
  const [bytes] = metadata.get(DETAILS);
  return Buffer.isBuffer(bytes) ? StatusMessage.decode(bytes) : undefined;
}

function refusalIn(status: StatusMessage | undefined): Refusal {
  const bytesOf = (name: string): Uint8Array | undefined =>
    status?.details.find(({ type_url: url }) => url === `type.googleapis.com/google.rpc.${name}`)?.value;
  const [info, badRequest, retry] = [bytesOf("ErrorInfo"), bytesOf("BadRequest"), bytesOf("RetryInfo")];
  const { domain, reason, metadata } = info === undefined ? NO_INFO : ErrorInfo.decode(info);
  const violations = badRequest === undefined ? [] : BadRequest.decode(badRequest).field_violations;
  const delay = retry === undefined ? undefined : RetryInfo.decode(retry).retry_delay;
  return {
    reason: domain === DOMAIN && `ERROR_REASON_${reason}` in ErrorReason ? (reason as KescErrorReason) : undefined,
    facts: Object.fromEntries(metadata),
    fields: violations.map(({ field, description, reason: code }) => ({ field, message: description, code })),
    retryAfterMillis: delay === undefined ? undefined : Number(delay.seconds) * 1_000 + delay.nanos / 1_000_000,
  };
}

const NO_INFO: Pick<ErrorInfo, "domain" | "reason" | "metadata"> = { domain: "", reason: "", metadata: new Map() };
