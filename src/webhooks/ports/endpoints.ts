import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import type { Attempt, Endpoint, Retry } from "../../domain/webhook-endpoint.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";

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

/** The endpoints of one cell, as their organizations see them. Commands change them. */
export interface WebhookEndpoints {
  endpoint(organizationId: OrganizationId, id: WebhookEndpointId): Promise<Endpoint | undefined>;
  /** Returns all endpoints, newest first. */
  endpoints(organizationId: OrganizationId): Promise<readonly Endpoint[]>;
  /** Adds a test event's attempt to the log. */
  log(id: WebhookEndpointId, attempt: Attempt): Promise<void>;
  /** Returns a page of the log, newest attempt first. */
  attempts(endpoint: ListedEndpoint, filter: AttemptFilter, page: PageRequest): Promise<Page<ListedAttempt>>;
  /** Returns a page of the undelivered events, latest sequence first. */
  undelivered(endpoint: ListedEndpoint, page: PageRequest): Promise<Page<UndeliveredEvent>>;
}
