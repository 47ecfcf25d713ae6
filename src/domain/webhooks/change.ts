import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Put, refuse } from "../decision.js";
import type { BookKind } from "../journal.js";
import type { Refusal } from "../refusal.js";
import { bookEntryOf } from "../second-person.js";
import type { WebhookEndpointId } from "../values/ids.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";
import type { Endpoint, EndpointRecord } from "../webhook-endpoint.js";

/** A command about one endpoint. */
export interface EndpointCommand extends Commanded {
  readonly endpointId: WebhookEndpointId;
}

/** A rule of a change needs all endpoints: their urls and their idempotency keys are unique. */
export function lookupEndpoints({ organizationId }: Commanded, rows: Lookup): void {
  rows.need("webhookEndpoints", organizationId);
}

/**
 * Decides a change of the endpoint that the command names. An endpoint whose row somebody has
 * changed past the service can only be deleted.
 *
 * Refuses, in this order: WEBHOOK_ENDPOINT_NOT_FOUND, WEBHOOK_ENDPOINT_CHANGED.
 */
export function decideOnEndpoint(
  book: Book,
  { organizationId, endpointId }: EndpointCommand,
  decide: (endpoint: Endpoint) => Decision<Endpoint>,
): Decision<Endpoint> {
  const endpoint = book.webhookEndpoints(organizationId).find(({ id }) => id === endpointId);
  if (endpoint === undefined) return refuse({ reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId });
  if (endpoint.disabledReason === "CHANGED") return refuse({ reason: "WEBHOOK_ENDPOINT_CHANGED", endpointId });
  return decide(endpoint);
}

/**
 * Returns the effect that writes an endpoint, with its row in the journal. Somebody may have
 * changed `createdAt` past the service, and the schema takes no row that ends before it begins.
 */
export function recorded<Record extends EndpointRecord>(
  book: Book,
  command: Commanded,
  kind: BookKind & `webhook_endpoint.${string}`,
  { row, now }: { readonly row: Omit<Record, "changedSeq" | "updatedAt">; readonly now: UnixMillis },
): Decision<Record> {
  const changedSeq = book.bookOf(command.organizationId).lastSeq + 1;
  const updatedAt = toUnixMillis(Math.max(now, row.createdAt));
  const written = { ...row, changedSeq, updatedAt } as Record;
  const entry = bookEntryOf({ ...command, now }, { kind, detail: written.id });
  const puts = [{ table: "webhookEndpoints", row: written }] as const;
  return { kind: "effect", resource: written, effect: { entries: [entry], puts } };
}

/**
 * Returns the effect of a change that says only what is delivered again. It has no row in the
 * journal: the events and the endpoint stay as they were.
 */
export function unrecorded(changed: Endpoint, puts: readonly Put[] = []): Decision<Endpoint> {
  const row = { ...changed, revision: changed.revision + 1 };
  const effect = { entries: [], puts: [{ table: "webhookEndpoints", row }, ...puts] } as const;
  return { kind: "effect", resource: row, effect };
}

/** Returns EVENT_NOT_FOUND if the book has no such row yet. */
export function refusalOfEvent(book: Book, { organizationId }: Commanded, sequence: number): Refusal | undefined {
  return sequence > book.bookOf(organizationId).lastSeq ? { reason: "EVENT_NOT_FOUND", sequence } : undefined;
}
