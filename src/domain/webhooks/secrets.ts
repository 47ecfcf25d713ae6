import type { UnixMillis } from "../values/time.js";
import type { Endpoint, EndpointSecret } from "../webhook-endpoint.js";

const DAY_MILLIS = 24 * 60 * 60 * 1_000;

/** How long an earlier secret signs as well after a rotation. */
export const OLD_SECRET_MILLIS = DAY_MILLIS;
/** For how long an idempotency key returns the secret that its first call made. */
const KEYED_SECRET_MILLIS = DAY_MILLIS;

/** A call that makes a secret. */
export interface SecretCall {
  readonly secret: EndpointSecret;
  /** When the call came. The lives of secrets count from it. */
  readonly at: UnixMillis;
}

/**
 * Returns what an earlier call with the same idempotency key has made, of all endpoints of the
 * organization. `isSame` says whether that call had the same content.
 */
export function earlierCall(
  { secret: { keyed }, at }: SecretCall,
  all: readonly Endpoint[],
): { readonly endpoint: Endpoint; readonly isSame: boolean } | undefined {
  if (keyed === undefined) return undefined;
  for (const endpoint of all) {
    for (const { keyed: before } of endpoint.secrets) {
      if (before?.key !== keyed.key || before.at + KEYED_SECRET_MILLIS <= at) continue;
      return { endpoint, isSame: before.content === keyed.content };
    }
  }
  return undefined;
}

/**
 * Returns the secret that a call shows: the one that it has made, or that the first call with its
 * idempotency key has. Undefined for a repeat without a key.
 */
export function shownSecretOf(
  { secrets }: Pick<Endpoint, "secrets">,
  { base64, keyed }: EndpointSecret,
): EndpointSecret | undefined {
  return secrets.find((each) => each.base64 === base64 || (keyed !== undefined && each.keyed?.key === keyed.key));
}
