import type { Actor } from "../../domain/values/actor.js";
import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import type { Description } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { EndpointValues } from "../../domain/webhook-changes.js";
import type { NewEndpointValues } from "../../domain/webhook-creation.js";
import type { Attempt, Endpoint, EndpointSecret, Retry } from "../../domain/webhook-endpoint.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";

/** The author and the time of a change. */
export interface EndpointAct {
  readonly organizationId: OrganizationId;
  readonly actor: Actor;
  readonly now: UnixMillis;
}

export interface EndpointChange extends EndpointAct {
  readonly id: WebhookEndpointId;
}

export interface NewEndpoint extends EndpointChange, NewEndpointValues {
  readonly description: Description;
}

export interface EndpointUpdate extends EndpointChange, EndpointValues {
  readonly description: Description | undefined;
}

/** An endpoint with the secret that a call has made. Undefined: the call is not told it. */
export interface MadeSecret {
  readonly endpoint: Endpoint;
  readonly secret: EndpointSecret | undefined;
}

/** The names of an event of a book. */
export interface EventNames {
  readonly id: string;
  readonly type: string;
}

/** An attempt, as the log shows it. */
export interface ListedAttempt extends Attempt {
  /** Undefined for a test event of the log. */
  readonly event: EventNames | undefined;
}

/** An event that waits for another attempt, or is given up. */
export interface UndeliveredEvent extends Retry {
  readonly event: EventNames;
}

/** Which attempts the log shows. */
export type AttemptFilter = "all" | "failed";

/** The endpoint whose deliveries a list shows. */
export type ListedEndpoint = Pick<Endpoint, "id" | "organizationId">;

/** The endpoints of one cell, for their organizations. */
export interface WebhookEndpoints {
  endpoint(organizationId: OrganizationId, id: WebhookEndpointId): Promise<Endpoint | undefined>;
  /** Returns all endpoints, newest first. */
  endpoints(organizationId: OrganizationId): Promise<readonly Endpoint[]>;
  /** A call with the same idempotency key gets the secret once more, for a day. */
  create(endpoint: NewEndpoint): Promise<Outcome<MadeSecret>>;
  update(update: EndpointUpdate): Promise<Outcome<Endpoint>>;
  remove(change: EndpointChange): Promise<Outcome<WebhookEndpointId>>;
  /**
   * Adds a secret. The others sign for a day at most. A call with the same idempotency key gets the
   * same secret, for a day.
   */
  rotate(change: EndpointChange & { readonly secret: EndpointSecret }): Promise<Outcome<MadeSecret>>;
  resend(change: EndpointChange & { readonly seq: number }): Promise<Outcome<Endpoint>>;
  /** Sends the events from `startSeq` on again, before `endSeq` or up to the newest one. */
  replay(
    change: EndpointChange & { readonly startSeq: number; readonly endSeq: number | undefined },
  ): Promise<Outcome<Endpoint>>;
  /** Adds a test event's attempt to the log. */
  log(id: WebhookEndpointId, attempt: Attempt): Promise<void>;
  /** Returns a page of the log, newest attempt first. */
  attempts(endpoint: ListedEndpoint, filter: AttemptFilter, page: PageRequest): Promise<Page<ListedAttempt>>;
  /** Returns a page of the undelivered events, latest sequence first. */
  undelivered(endpoint: ListedEndpoint, page: PageRequest): Promise<Page<UndeliveredEvent>>;
}
