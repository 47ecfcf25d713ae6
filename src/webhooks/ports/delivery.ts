import type { LoopTiming } from "../../../runtime/wait.js";
import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Attempt, Endpoint, Replay, Retry } from "../../domain/webhook-endpoint.js";

/** The clocks and waits of the deliveries. Tests with a virtual clock implement them, too. */
export interface DeliveryTiming extends LoopTiming {
  readonly now: () => UnixMillis;
  /** A number from 0 to 1, for the jitter. */
  readonly random: () => number;
}

/** The right to work, which one server of a cell has at a time. */
export interface DeliveryLease {
  /** For how long this server has it. Not positive if it does not. */
  leftMillis(): number;
}

/** An event of a book. */
export interface WebhookEvent {
  readonly seq: number;
  /** Every delivery of the event has this id. */
  readonly id: string;
  readonly type: string;
  readonly recordedAt: UnixMillis;
  /** Returns the event as REST shows it. */
  readonly json: () => string;
}

/** The books of a cell. */
export interface WebhookEvents {
  /** Returns the events after a sequence, in their order, without gaps. */
  after(organizationId: OrganizationId, seq: number, limit: number): Promise<readonly WebhookEvent[]>;
}

/** An endpoint that has something to do. */
export interface Due {
  readonly id: WebhookEndpointId;
  readonly revision: number;
  /** The sequence of the last event of its book. */
  readonly lastSeq: number;
}

/** What has changed at an endpoint since it was stored. */
export interface EndpointChanges extends Pick<Endpoint, "id" | "settledSeq" | "failures" | "failingSince" | "probeAt"> {
  readonly revision: number;
  readonly replay: Replay | undefined;
  /** When the first of all retries is due. */
  readonly retryAt: UnixMillis | undefined;
  readonly retries: readonly Retry[];
  /** The sequences of the events that are no retries any more. */
  readonly settledRetries: readonly number[];
  readonly attempts: readonly Attempt[];
}

/** The endpoints of one cell, for the server that delivers. */
export interface DeliveryStore {
  /**
   * Returns the active endpoints that have something to do, in the order of their ids, at most
   * `limit`. Leaves out those of books that are restored or moving.
   */
  due(page: { readonly now: UnixMillis; readonly after: string; readonly limit: number }): Promise<readonly Due[]>;
  /** Returns those of the organizations whose books are restored or moving. */
  closed(organizationIds: readonly OrganizationId[]): Promise<readonly OrganizationId[]>;
  /**
   * Takes an endpoint: its revision grows, so whatever another server has in memory about it can no
   * longer be stored. Returns undefined if the endpoint is not active.
   */
  take(id: WebhookEndpointId, now: UnixMillis): Promise<TakenEndpoint | undefined>;
  /** Stores the changes in one transaction. Returns the endpoints whose revision differs. */
  save(changes: readonly EndpointChanges[]): Promise<readonly WebhookEndpointId[]>;
}

export interface TakenEndpoint {
  readonly endpoint: Endpoint;
  readonly retries: readonly Retry[];
}

/** What a receiver answered. */
export interface ReceiverAnswer {
  /** The HTTP status. 0 without a response. */
  readonly code: number;
  /** Why the delivery failed. Empty if it succeeded. */
  readonly problem: string;
  /** The receiver asks for this wait before the next delivery. */
  readonly retryAfterMillis: number | undefined;
  /** Only of a request that reads it: the body of the response, as text. */
  readonly body?: string;
}

/** A signed request. */
export interface Delivery {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request, and returns what came of it. Never rejects. */
export type SendDelivery = (
  delivery: Delivery,
  options: {
    readonly millis: number;
    readonly signal: AbortSignal;
    /** Whether the body of the response matters. Otherwise what is too long of it is cut off. */
    readonly readsBody?: true;
  },
) => Promise<ReceiverAnswer>;
