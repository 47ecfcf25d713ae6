import type { EventPattern } from "./event-types.js";
import type { OrganizationId, WebhookEndpointId } from "./values/ids.js";
import type { UnixMillis } from "./values/time.js";

/** The endpoints of an organization. */
export const ENDPOINTS_MAX = 10;
/** The events of one endpoint that may be undelivered beside its cursor. */
export const RETRIES_MAX = 1_000;

export const ENDPOINT_STATUSES = ["ACTIVE", "PAUSED", "DISABLED"] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];
/** CHANGED: somebody has changed the row past the service. No row has it as its reason. */
export const DISABLED_REASONS = ["GONE", "FAILING", "CHANGED"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** A secret that signs deliveries. */
export interface EndpointSecret {
  /** The random bytes in base64, without the prefix "whsec_". */
  readonly base64: string;
  /** Until when it signs. Undefined for the newest one. */
  readonly validUntil: UnixMillis | undefined;
  /** The request that made it, if that had an idempotency key. */
  readonly keyed?: KeyedRequest | undefined;
}

/** A request with an idempotency key. Neither hash reveals anything: both cover the key. */
export interface KeyedRequest {
  /** The SHA-256 of the key. */
  readonly key: string;
  /** The SHA-256 of the key and of all that the caller sent. */
  readonly content: string;
  readonly at: UnixMillis;
}

/** A range of events that is sent again. */
export interface Replay {
  /** Each event of the range up to this one was sent again. */
  readonly settledSeq: number;
  readonly untilSeq: number;
}

/** An endpoint, as it is stored. */
export interface Endpoint {
  readonly id: WebhookEndpointId;
  readonly organizationId: OrganizationId;
  readonly url: string;
  readonly description: string;
  /** The types of its events. Undefined for all. */
  readonly types: readonly EventPattern[] | undefined;
  readonly status: EndpointStatus;
  readonly disabledReason: DisabledReason | undefined;
  /** Changes with each change by anybody but the server that delivers. */
  readonly revision: number;
  /** The newest one first. */
  readonly secrets: readonly EndpointSecret[];
  /** Each event up to this one is delivered, filtered out, or among the retries. */
  readonly settledSeq: number;
  readonly replay: Replay | undefined;
  /** The failed deliveries since the last one that succeeded. */
  readonly failures: number;
  readonly failingSince: UnixMillis | undefined;
  /** When the next probe goes out, if the endpoint gets only probes. */
  readonly probeAt: UnixMillis | undefined;
  /** When the first retry is due. `RETRY_ALL`: each is, whatever its own time. */
  readonly retryAt: UnixMillis | typeof RETRY_ALL | undefined;
  /** The `seq` of the newest row of the journal about the endpoint. */
  readonly changedSeq: number;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}

/** The server that next takes the endpoint tries all its retries at once. */
export const RETRY_ALL = 0;

/** What is left of an endpoint once it is deleted. */
export interface DeletedEndpoint extends Pick<
  Endpoint,
  "id" | "organizationId" | "revision" | "changedSeq" | "createdAt" | "updatedAt"
> {
  readonly status: "DELETED";
}

/** A row of the table of endpoints. */
export type EndpointRecord = Endpoint | DeletedEndpoint;

export function isStanding(record: EndpointRecord): record is Endpoint {
  return record.status !== "DELETED";
}

/**
 * Returns the version of what callers decide about an endpoint. Each row of the journal about it
 * makes a new one. Deliveries make none: a caller could hardly name the version under load.
 */
export function etagOf({ changedSeq }: Pick<Endpoint, "changedSeq">): string {
  return String(changedSeq);
}

/** What came of one attempt. */
export interface Attempt {
  /** The sequence of the event. 0 for a test event. */
  readonly seq: number;
  /** How often the event was tried, with this attempt. */
  readonly tries: number;
  readonly succeeded: boolean;
  /** The HTTP status. 0 without a response. */
  readonly code: number;
  /** Why it failed. Empty if it succeeded. */
  readonly problem: string;
  readonly at: UnixMillis;
  readonly millis: number;
}

/** An event that was tried without success. */
export interface Retry {
  readonly seq: number;
  readonly tries: number;
  /** Undefined once the event is given up. */
  readonly nextAt: UnixMillis | undefined;
  /** The last attempt. Undefined if the event was only asked for again. */
  readonly last: Omit<Attempt, "seq" | "tries" | "succeeded"> | undefined;
}

/** A retry, with the endpoint to which it belongs. */
export interface EndpointRetry extends Retry {
  readonly organizationId: OrganizationId;
  readonly endpointId: WebhookEndpointId;
}
