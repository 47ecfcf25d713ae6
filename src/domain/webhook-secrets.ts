import type { Refusal } from "./refusal.js";
import { toUnixMillis, type UnixMillis } from "./values/time.js";
import type { Endpoint, EndpointSecret } from "./webhook-endpoint.js";

const DAY_MILLIS = 24 * 60 * 60 * 1_000;

/** How long an earlier secret signs as well after a rotation. */
export const OLD_SECRET_MILLIS = DAY_MILLIS;
/** For how long an idempotency key returns the secret that its first call made. */
const KEYED_SECRET_MILLIS = DAY_MILLIS;
const SECRETS_MAX = 4;

/** A call that makes a secret. */
export interface SecretCall {
  readonly secret: EndpointSecret;
  readonly now: UnixMillis;
}

/**
 * Adds a secret. Those that still sign do so for a day at most. Returns undefined if a call with
 * the same idempotency key has added one.
 *
 * Refuses: IDEMPOTENCY_KEY_REUSED.
 */
export function withSecret(
  endpoint: Endpoint,
  { secret, now }: SecretCall,
  all: readonly Endpoint[],
): Endpoint | Refusal | undefined {
  const before = earlierCall({ secret, now }, all);
  if (before !== undefined) return before.isSame ? undefined : { reason: "IDEMPOTENCY_KEY_REUSED" };
  const oldValidUntil = toUnixMillis(now + OLD_SECRET_MILLIS);
  const old = endpoint.secrets
    .filter(({ validUntil = Infinity }) => validUntil > now)
    .map((each) => ({ ...each, validUntil: each.validUntil ?? oldValidUntil }));
  return { ...endpoint, secrets: [secret, ...old].slice(0, SECRETS_MAX) };
}

/**
 * Returns what an earlier call with the same idempotency key has made, of all endpoints of the
 * organization. `isSame` says whether that call had the same content.
 */
export function earlierCall(
  { secret: { keyed }, now }: SecretCall,
  all: readonly Endpoint[],
): { readonly endpoint: Endpoint; readonly isSame: boolean } | undefined {
  if (keyed === undefined) return undefined;
  for (const endpoint of all) {
    for (const { keyed: before } of endpoint.secrets) {
      if (before?.key !== keyed.key || before.at + KEYED_SECRET_MILLIS <= now) continue;
      return { endpoint, isSame: before.content === keyed.content };
    }
  }
  return undefined;
}

/** Returns the secret that the first call with this idempotency key has made. */
export function keyedSecretOf(
  { secrets }: Pick<Endpoint, "secrets">,
  { keyed }: EndpointSecret,
): EndpointSecret | undefined {
  return keyed === undefined ? undefined : secrets.find((each) => each.keyed?.key === keyed.key);
}
