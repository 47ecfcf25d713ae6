import { toUSVString } from "node:util";

import { Metadata, status as Status } from "@grpc/grpc-js";

import { type Answer, factsOf } from "../../domain/answer.js";
import { REFUSALS } from "../../domain/refusal.js";
import type { Any } from "../../gen/google/protobuf/any.js";
import { BadRequest, ErrorInfo, RetryInfo } from "../../gen/google/rpc/error_details.js";
import { Status as StatusMessage } from "../../gen/google/rpc/status.js";
import { encode } from "../messages/wire-format.js";
import { type AnyRefusal, CALL_REFUSALS } from "./refusal.js";

/** The answer for each reason. */
export const ANSWERS = { ...REFUSALS, ...CALL_REFUSALS };

const DOMAIN = "kesc";
const DETAILS = "grpc-status-details-bin";
/** The retry policies of gRPC's libraries wait so long (gRFC A6). None reads a RetryInfo. */
const PUSHBACK = "grpc-retry-pushback-ms";

/** The gRPC status of a refusal. */
export interface RefusalStatus {
  readonly code: Status;
  readonly details: string;
  readonly metadata: Metadata;
}

export function statusCodeOf(reason: AnyRefusal["reason"]): Status {
  return Status[ANSWERS[reason].code];
}

/** Returns the text of a refusal for people. */
export function messageOf(refusal: AnyRefusal): string {
  return answerTo(refusal).message(refusal);
}

/**
 * Returns the status of a refusal. Its metadata `grpc-status-details-bin` holds a
 * google.rpc.Status.
 */
export function statusOf(refusal: AnyRefusal): RefusalStatus {
  const message = statusMessageOf(refusal);
  const metadata = new Metadata();
  metadata.set(DETAILS, encode(StatusMessage, message));
  const millis = retryMillisOf(refusal);
  if (millis !== undefined) metadata.set(PUSHBACK, String(millis));
  return { code: statusCodeOf(refusal.reason), details: message.message, metadata };
}

/**
 * Adds to a refusal the metadata that would stand before a response. The refusal is then
 * Trailers-Only: proxies, meshes and clients read its status, and all else, in its first headers.
 */
export function withHead(status: RefusalStatus, head: Metadata): RefusalStatus {
  const metadata = status.metadata.clone();
  metadata.merge(head);
  return { ...status, metadata };
}

/** Returns whether the status has details, which `statusOf` gives to each. */
export function hasDetails({ metadata }: { readonly metadata?: Metadata | null | undefined }): boolean {
  return (metadata?.get(DETAILS).length ?? 0) > 0;
}

/** Returns the refusal as a google.rpc.Status. A batch returns it for each refused item. */
export function statusMessageOf(refusal: AnyRefusal): StatusMessage {
  // grpc-js passes the text to encodeURI. That throws on half of a surrogate pair and ends the
  // process.
  const message = toUSVString(messageOf(refusal));
  return { code: statusCodeOf(refusal.reason), message, details: detailsOf(refusal) };
}

const CLOCK_RETRY_MILLIS_MAX = 5 * 60_000;

/** Returns an ErrorInfo, and a BadRequest or a RetryInfo if the reason has one. */
function detailsOf(refusal: AnyRefusal): Any[] {
  const { reason } = refusal;
  const { fields } = answerTo(refusal);
  const metadata = new Map(factsOf(fields, refusal));
  const details = [any("google.rpc.ErrorInfo", encode(ErrorInfo, { reason, domain: DOMAIN, metadata }))];
  if (refusal.reason === "INVALID_FIELD") {
    const violations = refusal.fields.map(({ field, message, code }) => ({
      field,
      description: message,
      reason: code,
      localized_message: undefined,
    }));
    details.push(any("google.rpc.BadRequest", encode(BadRequest, { field_violations: violations })));
  }
  const millis = retryMillisOf(refusal);
  if (millis !== undefined) {
    details.push(any("google.rpc.RetryInfo", encode(RetryInfo, { retry_delay: durationOf(millis) })));
  }
  return details;
}

/**
 * Returns how long to wait before the next try, in whole milliseconds, rounded up: a call that is
 * sent earlier would be refused again. Undefined if no time is known.
 */
function retryMillisOf(refusal: AnyRefusal): number | undefined {
  const told = "retryMillis" in refusal ? refusal.retryMillis : clockMillis(refusal);
  const millis = answerTo(refusal).retryMillis ?? told;
  return millis === undefined ? undefined : Math.max(1, Math.ceil(millis));
}

/** A book goes on once the clock has passed its newest row, and sooner if a person acts. */
function clockMillis(refusal: AnyRefusal): number | undefined {
  return refusal.reason === "CLOCK_BEHIND" ? Math.min(refusal.behindMillis, CLOCK_RETRY_MILLIS_MAX) : undefined;
}

/** The types cannot say that the answer is the one for this reason. */
function answerTo({ reason }: AnyRefusal): Answer<AnyRefusal> {
  return ANSWERS[reason] as Answer<AnyRefusal>;
}

function durationOf(millis: number): { seconds: bigint; nanos: number } {
  return { seconds: BigInt(Math.floor(millis / 1_000)), nanos: (millis % 1_000) * 1_000_000 };
}

function any(typeName: string, value: Buffer): Any {
  return { type_url: `type.googleapis.com/${typeName}`, value };
}
