import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import {
  type Attempt,
  DISABLED_REASONS,
  type Endpoint,
  ENDPOINT_STATUSES,
  type EndpointSecret,
  etagOf,
} from "../../../domain/webhook-endpoint.js";
import type {
  UndeliveredEvent as UndeliveredEventMessage,
  WebhookDelivery as DeliveryMessage,
  WebhookEndpoint as EndpointMessage,
} from "../../../gen/kesc/v1/webhook.js";
import { WebhookDisabledReason, WebhookEndpointStatus } from "../../../gen/kesc/v1/webhook.js";
import type { ListedAttempt, UndeliveredEvent } from "../../../webhooks/ports/endpoints.js";
import { TEST_EVENT_TYPE } from "../../../webhooks/test-events.js";
import { enumOf, unknownWord } from "../../messages/enums.js";
import { shown } from "../../messages/fields.js";
import { toTimestamp } from "../../messages/timestamp.js";

const ALL_TYPES = "*";

const STATUSES = enumOf(WebhookEndpointStatus, "WEBHOOK_ENDPOINT_STATUS", ENDPOINT_STATUSES);
const REASONS = enumOf(WebhookDisabledReason, "WEBHOOK_DISABLED_REASON", DISABLED_REASONS);

/** `secret` is shown only by the call that made it. */
export function toEndpointMessage(endpoint: Endpoint, secret?: EndpointSecret): EndpointMessage {
  const { replay, failingSince, disabledReason } = endpoint;
  return {
    id: endpoint.id,
    url: endpoint.url,
    types: [...(endpoint.types ?? [ALL_TYPES])],
    description: shown(endpoint.description),
    status: STATUSES[endpoint.status],
    disabled_reason: disabledReason === undefined ? undefined : REASONS[disabledReason],
    failing_since: failingSince === undefined ? undefined : toTimestamp(failingSince),
    delivered_through_sequence: BigInt(endpoint.settledSeq),
    replay:
      replay === undefined
        ? undefined
        : { delivered_through_sequence: BigInt(replay.settledSeq), end_sequence: BigInt(replay.untilSeq + 1) },
    secret: secret === undefined ? undefined : `whsec_${secret.base64}`,
    created_at: toTimestamp(endpoint.createdAt),
    updated_at: toTimestamp(endpoint.updatedAt),
    etag: etagOf(endpoint),
  };
}

/** Returns the response of a call that makes no secret. */
export function endpointResponse(endpoint: Endpoint): { readonly webhook_endpoint: EndpointMessage } {
  return { webhook_endpoint: toEndpointMessage(endpoint) };
}

export function toDeliveryMessage({ event, ...attempt }: ListedAttempt): DeliveryMessage {
  return {
    sequence: BigInt(attempt.seq),
    event_id: event?.id,
    event_type: event?.type ?? TEST_EVENT_TYPE,
    attempt: attempt.tries,
    succeeded: attempt.succeeded,
    ...responseOf(attempt),
    attempted_at: toTimestamp(attempt.at),
    duration_millis: attempt.millis,
  };
}

export function toUndeliveredMessage({ seq, tries, nextAt, last, event }: UndeliveredEvent): UndeliveredEventMessage {
  const { http_status, problem } = last === undefined ? {} : responseOf(last);
  return {
    sequence: BigInt(seq),
    event_id: event.id,
    event_type: event.type,
    attempt_count: tries,
    next_attempt_at: nextAt === undefined ? undefined : toTimestamp(nextAt),
    last_attempted_at: last === undefined ? undefined : toTimestamp(last.at),
    last_http_status: http_status,
    last_problem: problem,
  };
}

function responseOf({
  code,
  problem,
}: Pick<Attempt, "code" | "problem">): Pick<DeliveryMessage, "http_status" | "problem"> {
  return { http_status: code === 0 ? undefined : code, problem: shown(problem) };
}

/** The statuses that a caller gives to an endpoint. */
const GIVEN_STATUSES = ["ACTIVE", "PAUSED"] as const;

/** Parses the status that a caller gives to an endpoint. */
export function parseEndpointStatus(
  unchecked: WebhookEndpointStatus | undefined,
): Parsed<(typeof GIVEN_STATUSES)[number] | undefined> {
  if (unchecked === undefined) return parsed(undefined);
  const status = GIVEN_STATUSES.find((each) => STATUSES[each] === unchecked);
  return status === undefined ? unknownWord(GIVEN_STATUSES, STATUSES) : parsed(status);
}

/** Parses the sequence of an event. */
export function parseSequence(unchecked: bigint): Parsed<number> {
  return unchecked >= 1n && unchecked <= BigInt(Number.MAX_SAFE_INTEGER)
    ? parsed(Number(unchecked))
    : unparsed("must be the sequence of an event, from 1", unchecked === 0n ? "REQUIRED" : "OUT_OF_RANGE");
}
