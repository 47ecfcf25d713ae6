import { type Comparison, differingFields } from "../../domain/repeat.js";
import { sameTypes } from "../../domain/webhook-changes.js";
import type { Endpoint, EndpointSecret } from "../../domain/webhook-endpoint.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import { KEYED_SECRET_MILLIS } from "../../webhooks/limits.js";
import type { EndpointAct, MadeSecret, NewEndpoint } from "../../webhooks/ports/endpoints.js";

type KeyedChange = Pick<EndpointAct, "now"> & { readonly secret: EndpointSecret };

/**
 * Returns what an earlier call with the same idempotency key has made, of all endpoints of the
 * organization. `isSame` says whether that call had the same content.
 */
export function earlierCall(
  { secret: { keyed }, now }: KeyedChange,
  stored: readonly { readonly endpoint: Endpoint }[],
): { readonly endpoint: Endpoint; readonly isSame: boolean } | undefined {
  if (keyed === undefined) return undefined;
  for (const { endpoint } of stored) {
    for (const { keyed: before } of endpoint.secrets) {
      if (before?.key !== keyed.key || before.at + KEYED_SECRET_MILLIS <= now) continue;
      return { endpoint, isSame: before.content === keyed.content };
    }
  }
  return undefined;
}

/** Adds the secret that the call has made. A replay gets one only by its idempotency key. */
export function madeBy({ secret }: KeyedChange, outcome: Outcome<Endpoint>): Outcome<MadeSecret> {
  if (outcome.kind === "refused") return outcome;
  const { resource: endpoint, replayed } = outcome;
  const { keyed } = secret;
  const earlier = endpoint.secrets.find((each) => keyed !== undefined && each.keyed?.key === keyed.key);
  return { kind: "done", resource: { endpoint, secret: replayed ? earlier : secret }, replayed };
}

const COMPARISON: Comparison<NewEndpoint, Endpoint, undefined> = {
  id: "no content",
  now: "no content",
  secret: "no content",
  url: ["url", ({ url }, existing) => url === existing.url],
  types: ["types", ({ types }, existing) => sameTypes(types, existing.types)],
  description: ["description", ({ description }, existing) => description === existing.description],
};

/** Returns the fields in which a creation differs from the endpoint that has its URL. */
export function differencesTo(existing: Endpoint, given: NewEndpoint): readonly string[] {
  return differingFields(COMPARISON, given, existing, undefined);
}
