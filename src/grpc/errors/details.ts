import { remainingCents } from "../../domain/limits/usage.js";
import { formatCents } from "../../domain/values/cents.js";
import type { Any } from "../../gen/google/protobuf/any.js";
import { BadRequest, ErrorInfo, RetryInfo } from "../../gen/google/rpc/error_details.js";
import { encode } from "../messages/encode.js";
import { isForOperators, operatorsFactsOf } from "./operators.js";
import {
  type AnyRefusal,
  isRailRefusal,
  isWebhookRefusal,
  type RailRefusal,
  type ServedRefusal,
  type WebhookRefusal,
} from "./refusal.js";

const DOMAIN = "kesc";
// One second is enough for a full queue to drain and for another server to take over. It is too
// short to look like an outage.
const RETRY_DELAY = { seconds: 1n, nanos: 0 };
// A book is sealed at most once a minute, so a call that asks each second would ask in vain.
const SEAL_DELAY = { seconds: 10n, nanos: 0 };
const RETRIED: ReadonlySet<ServedRefusal["reason"]> = new Set([
  "QUEUE_FULL",
  "TOO_MANY_STREAMS",
  "TOO_MANY_WEBHOOK_TESTS",
  "WEBHOOK_ENDPOINT_BUSY",
  "STORAGE_UNAVAILABLE",
  "SHUTTING_DOWN",
  "BOOK_MOVING",
  "CLOCK_BEHIND",
]);

/**
 * Returns the details of a google.rpc.Status: an ErrorInfo, and a BadRequest or a RetryInfo if the
 * reason has one.
 */
export function detailsOf(refusal: ServedRefusal): Any[] {
  const { reason } = refusal;
  const facts = isForOperators(refusal) ? operatorsFactsOf(refusal) : factsOf(refusal);
  const metadata = new Map(Object.entries(facts));
  const info = any("google.rpc.ErrorInfo", encode(ErrorInfo, { reason, domain: DOMAIN, metadata }));
  if (refusal.reason === "INVALID_FIELD") {
    const violations = refusal.fields.map(({ field, message, code }) => ({
      field,
      description: message,
      reason: code,
      localized_message: undefined,
    }));
    return [info, any("google.rpc.BadRequest", encode(BadRequest, { field_violations: violations }))];
  }
  if (refusal.reason === "RATE_LIMITED") {
    return [info, any("google.rpc.RetryInfo", encode(RetryInfo, { retry_delay: durationOf(refusal.retryMillis) }))];
  }
  if (reason === "NOT_SEALED")
    return [info, any("google.rpc.RetryInfo", encode(RetryInfo, { retry_delay: SEAL_DELAY }))];
  if (RETRIED.has(reason)) return [info, any("google.rpc.RetryInfo", encode(RetryInfo, { retry_delay: RETRY_DELAY }))];
  return [info];
}

/** Rounds up to a millisecond: a call that is sent earlier would be refused again. */
function durationOf(millis: number): { seconds: bigint; nanos: number } {
  const whole = Math.max(1, Math.ceil(millis));
  return { seconds: BigInt(Math.floor(whole / 1_000)), nanos: (whole % 1_000) * 1_000_000 };
}

/** Returns the facts of a refusal. The contract's ErrorReason defines their names. */
function factsOf(refusal: AnyRefusal): Record<string, string> {
  if (isRailRefusal(refusal)) return railFactsOf(refusal);
  if (refusal.reason === "CHECKPOINT_NOT_FOUND" || refusal.reason === "NOT_SEALED") return sealFactsOf(refusal);
  if (isWebhookRefusal(refusal)) return webhookFactsOf(refusal);
  switch (refusal.reason) {
    case "ACCOUNT_NOT_FOUND":
    case "ACCOUNT_FROZEN":
    case "ACCOUNT_CLOSED":
    case "ACCOUNT_ERASED":
      return { account_id: refusal.accountId };
    case "TRANSACTION_NOT_FOUND":
      return { transaction_id: refusal.transactionId };
    case "ETAG_MISMATCH":
      return { etag: refusal.etag };
    case "FREEZE_NOT_FOUND":
      return { freeze_id: refusal.freezeId };
    case "TOO_MANY_FREEZES":
      return { account_id: refusal.accountId, limit: String(refusal.limit) };
    case "ACCOUNT_ALREADY_EXISTS":
      return { account_id: refusal.accountId, differing_fields: refusal.differingFields.join(",") };
    case "REFERENCE_ALREADY_USED":
      return { transaction_id: refusal.transactionId, differing_fields: refusal.differingFields.join(",") };
    case "TRANSACTION_ALREADY_REVERSED":
      return {
        transaction_id: refusal.transactionId,
        reversed_by_transaction_id: refusal.reversedById,
        differing_fields: refusal.differingFields.join(","),
      };
    case "TRANSACTION_NOT_REVERSIBLE":
      return { transaction_id: refusal.transactionId, cause: refusal.cause.toLowerCase() };
    case "INSUFFICIENT_FUNDS":
      return { available: formatCents(refusal.availableCents), requested: formatCents(refusal.requestedCents) };
    case "ACCOUNT_NOT_EMPTY":
      return { account_id: refusal.accountId, ...balancesOf(refusal) };
    case "INVALID_TRANSITION":
      return { from: refusal.from.toLowerCase(), to: refusal.to.toLowerCase() };
    case "LIMIT_EXCEEDED":
      return limitFactsOf(refusal);
    case "TOO_MANY_TIERS":
      return { limit: String(refusal.limit) };
    case "CLOCK_BEHIND":
      return { behind_seconds: String(Math.ceil(refusal.behindMillis / 1_000)) };
    case "SCOPE_REQUIRED":
      return { scope: refusal.scope };
    case "RATE_LIMITED":
    case "REQUEST_TOO_LARGE":
    case "TOO_MANY_STREAMS":
      return boundFactsOf(refusal);
    case "INTERNAL":
      return { request_id: refusal.requestId };
    case "INVALID_FIELD":
    case "MISSING_API_KEY":
    case "INVALID_API_KEY":
    case "IDEMPOTENCY_KEY_REUSED":
    case "ORGANIZATION_SUSPENDED":
    case "BOOK_MOVING":
    case "QUEUE_FULL":
    case "STORAGE_UNAVAILABLE":
    case "SHUTTING_DOWN":
    case "DEADLINE_EXCEEDED":
    case "MALFORMED_REQUEST":
    case "UNSUPPORTED_COMPRESSION":
    case "NO_SUCH_RPC":
    case "OUTCOME_UNKNOWN":
      return {};
  }
}

function balancesOf(refusal: Extract<AnyRefusal, { reason: "ACCOUNT_NOT_EMPTY" }>): Record<string, string> {
  return { available: formatCents(refusal.availableCents), held: formatCents(refusal.heldCents) };
}

type OfBound = Extract<AnyRefusal, { reason: "RATE_LIMITED" | "REQUEST_TOO_LARGE" | "TOO_MANY_STREAMS" }>;

/** Returns the bound that a call went beyond. */
function boundFactsOf(refusal: OfBound): Record<string, string> {
  switch (refusal.reason) {
    case "RATE_LIMITED":
      return { rate: refusal.rate, calls_per_second: String(refusal.callsPerSecond) };
    case "REQUEST_TOO_LARGE":
      return { bytes_max: String(refusal.bytesMax) };
    case "TOO_MANY_STREAMS":
      return { streams_max: String(refusal.streamsMax) };
  }
}

function limitFactsOf({
  accountId,
  limitCents,
  reached,
}: Extract<AnyRefusal, { reason: "LIMIT_EXCEEDED" }>): Record<string, string> {
  const limit = {
    ...(accountId === undefined ? {} : { account_id: accountId }),
    max_amount: formatCents(limitCents),
  };
  if (reached === undefined) return limit;
  const { period, usedCents, resetsAt } = reached;
  return {
    ...limit,
    period: period.toLowerCase(),
    ...(usedCents === undefined ? {} : { used: formatCents(usedCents) }),
    remaining: formatCents(remainingCents(limitCents, usedCents)),
    ...(resetsAt === undefined ? {} : { resets_at: new Date(resetsAt).toISOString() }),
  };
}

function sealFactsOf(
  refusal: Extract<AnyRefusal, { reason: "CHECKPOINT_NOT_FOUND" | "NOT_SEALED" }>,
): Record<string, string> {
  if (refusal.reason === "NOT_SEALED") return { sealed_size: String(refusal.sealedSize) };
  return refusal.size === undefined ? {} : { size: String(refusal.size) };
}

function webhookFactsOf(refusal: WebhookRefusal): Record<string, string> {
  switch (refusal.reason) {
    case "WEBHOOK_ENDPOINT_NOT_FOUND":
    case "WEBHOOK_ENDPOINT_BUSY":
      return { webhook_endpoint_id: refusal.endpointId };
    case "WEBHOOK_ENDPOINT_ALREADY_EXISTS":
      return { webhook_endpoint_id: refusal.endpointId, differing_fields: refusal.differingFields.join(",") };
    case "TOO_MANY_WEBHOOK_ENDPOINTS":
    case "TOO_MANY_WEBHOOK_TESTS":
      return { limit: String(refusal.limit) };
    case "EVENT_NOT_FOUND":
      return { sequence: String(refusal.sequence) };
  }
}

function railFactsOf(refusal: RailRefusal): Record<string, string> {
  switch (refusal.reason) {
    case "PHONE_NUMBER_MISSING":
      return { account_id: refusal.accountId };
    case "PHONE_NUMBER_NOT_PAYABLE":
    case "RAIL_NOT_CONFIGURED":
      return { rail: refusal.rail };
    case "TRANSACTION_ALREADY_ENDED":
      return { transaction_id: refusal.transactionId, transaction_status: refusal.status.toLowerCase() };
    case "TRANSACTION_STILL_OPEN":
    case "PAYMENT_NOT_FOUND":
      return { transaction_id: refusal.transactionId };
    case "RAIL_NOT_SANDBOX":
      return { transaction_id: refusal.transactionId, rail: refusal.rail };
    case "ACCOUNT_HAS_OPEN_TRANSACTIONS":
      return { account_id: refusal.accountId, open_transactions: String(refusal.openPayments) };
    case "AMOUNT_NOT_PAYABLE":
      return payableFactsOf(refusal);
    case "PHONE_NUMBER_COOLING":
      return { account_id: refusal.accountId, until: new Date(refusal.until).toISOString() };
    case "RECEIPT_ALREADY_USED":
      return {
        rail_receipt: refusal.receipt,
        ...(refusal.transactionId === undefined ? {} : { transaction_id: refusal.transactionId }),
      };
    case "BOOK_ACCOUNT_TOO_LOW":
      return {
        book_account: refusal.bookAccount,
        balance: formatCents(refusal.balanceCents),
        requested: formatCents(refusal.requestedCents),
      };
    case "BOOK_RESTORED":
    case "RAIL_ACCOUNT_CHANGED":
      return {};
  }
}

function payableFactsOf({ payable, nearest }: RailRefusal & { reason: "AMOUNT_NOT_PAYABLE" }): Record<string, string> {
  const { belowCents, aboveCents } = nearest;
  return {
    min: formatCents(payable.minCents),
    max: formatCents(payable.maxCents),
    step: formatCents(payable.stepCents),
    ...(belowCents === undefined ? {} : { nearest_below: formatCents(belowCents) }),
    ...(aboveCents === undefined ? {} : { nearest_above: formatCents(aboveCents) }),
  };
}

function any(typeName: string, value: Buffer): Any {
  return { type_url: `type.googleapis.com/${typeName}`, value };
}
