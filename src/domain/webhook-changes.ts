import type { EventTypes } from "./event-types.js";
import type { Refusal } from "./refusal.js";
import type { Endpoint, EndpointStatus } from "./webhook-endpoint.js";

/** The new values of an endpoint. A field that is undefined stays as it is. */
export interface EndpointValues {
  readonly url: string | undefined;
  readonly types: EventTypes | undefined;
  readonly description: string | undefined;
  readonly status: Exclude<EndpointStatus, "DISABLED"> | undefined;
  /** The version that the caller has read. Undefined: any. */
  readonly etag: string | undefined;
}

/**
 * Returns the endpoint with new values, or undefined if it has them. One that becomes active begins
 * as if it had never failed.
 *
 * Refuses, in this order: ETAG_MISMATCH, WEBHOOK_ENDPOINT_ALREADY_EXISTS.
 */
export function withValues(
  endpoint: Endpoint,
  given: EndpointValues,
  { etag, all }: { readonly etag: string; readonly all: readonly Endpoint[] },
): Endpoint | Refusal | undefined {
  const { url = endpoint.url, description = endpoint.description, status = endpoint.status } = given;
  const types = given.types === undefined ? endpoint.types : given.types.only;
  const isSame = url === endpoint.url && description === endpoint.description && status === endpoint.status;
  if (isSame && sameTypes(types, endpoint.types)) return undefined;
  if (given.etag !== undefined && given.etag !== etag) return { reason: "ETAG_MISMATCH", etag };
  const other = all.find((each) => each.url === url);
  if (other !== undefined && other.id !== endpoint.id) {
    return { reason: "WEBHOOK_ENDPOINT_ALREADY_EXISTS", endpointId: other.id, differingFields: [] };
  }
  const changed: Endpoint = { ...endpoint, url, description, status, types };
  // A caller may pause an endpoint that the service has disabled.
  if (status === "PAUSED") return { ...changed, disabledReason: undefined };
  if (status === endpoint.status) return changed;
  return { ...changed, failures: 0, failingSince: undefined, probeAt: undefined, disabledReason: undefined };
}

export function sameTypes(left: readonly string[] | undefined, right: readonly string[] | undefined): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

/**
 * Begins a replay of the events from `startSeq` on, before `endSeq` or up to the newest one.
 * Returns undefined if the endpoint replays the range.
 *
 * Refuses, in this order: EVENT_NOT_FOUND, WEBHOOK_ENDPOINT_BUSY.
 */
export function withReplay(
  endpoint: Endpoint,
  { startSeq, endSeq }: { readonly startSeq: number; readonly endSeq: number | undefined },
  nextSeq: number,
): Endpoint | Refusal | undefined {
  const untilSeq = (endSeq ?? nextSeq) - 1;
  const lastSeq = Math.max(startSeq, untilSeq);
  if (lastSeq >= nextSeq) return { reason: "EVENT_NOT_FOUND", sequence: lastSeq };
  const { id, replay } = endpoint;
  if (replay === undefined) return { ...endpoint, replay: { settledSeq: startSeq - 1, untilSeq } };
  if (replay.untilSeq === untilSeq && replay.settledSeq >= startSeq - 1) return undefined;
  return { reason: "WEBHOOK_ENDPOINT_BUSY", endpointId: id };
}
