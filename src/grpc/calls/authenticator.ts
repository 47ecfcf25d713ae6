import { hash } from "node:crypto";

import type { Metadata } from "@grpc/grpc-js";
import { LRUCache } from "lru-cache";

import { type ApiKey, isLive } from "../../domain/api-key.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Keys } from "../../ledger/ports/keys.js";
import type { CallRefusal } from "../errors/refusal.js";

/** The API key of the caller, or the refusal of the call. */
export type Authentication = ApiKey | Extract<CallRefusal, { reason: "MISSING_API_KEY" | "INVALID_API_KEY" }>;

export interface ApiKeyAuthenticatorOptions {
  readonly keys: Pick<Keys, "apiKeyWithSecret">;
  readonly now: () => UnixMillis;
}

interface CachedKey {
  readonly key: ApiKey;
  readonly freshUntil: number;
}

// A revoked key keeps working for at most this long.
const FRESH_MILLIS = 1_000;
const CACHED_KEYS_MAX = 10_000;

const SECRET = /^kesc_[A-Za-z0-9_-]{20,100}$/;
const BEARER = /^bearer +(\S+)$/i;

/**
 * Identifies the caller by `x-api-key` or `authorization: Bearer`.
 *
 * Caches keys for a second, under the SHA-256 of their secret. So the cache holds no secret, and
 * the time of a look-up reveals nothing about it. Unknown keys are not cached.
 */
export class ApiKeyAuthenticator {
  readonly #options: ApiKeyAuthenticatorOptions;
  readonly #cached = new LRUCache<string, CachedKey>({ max: CACHED_KEYS_MAX });
  readonly #lookups = new Map<string, Promise<ApiKey | undefined>>();

  constructor(options: ApiKeyAuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Returns the result at once for a cached key, and a promise otherwise. Rejects with a StoreError
   * if the database fails.
   */
  authenticate(metadata: Metadata): Authentication | Promise<Authentication> {
    const secret = presentedSecret(metadata);
    if (secret === undefined) return { reason: "MISSING_API_KEY" };
    if (!SECRET.test(secret)) return { reason: "INVALID_API_KEY" };

    const digest = hash("sha256", secret, "base64");
    const now = this.#options.now();
    const cached = this.#cached.get(digest);
    if (cached !== undefined && cached.freshUntil > now) return liveOrInvalid(cached.key, now);
    return this.#lookUp(secret, digest);
  }

  async #lookUp(secret: string, digest: string): Promise<Authentication> {
    let lookup = this.#lookups.get(digest);
    if (lookup === undefined) {
      lookup = this.#read(secret, digest).finally(() => this.#lookups.delete(digest));
      this.#lookups.set(digest, lookup);
    }
    return liveOrInvalid(await lookup, this.#options.now());
  }

  async #read(secret: string, digest: string): Promise<ApiKey | undefined> {
    // Takes the time before the read. A revocation during the read may be missed, and the second
    // counts from then.
    const freshUntil = this.#options.now() + FRESH_MILLIS;
    const key = await this.#options.keys.apiKeyWithSecret(secret);
    if (key === undefined) this.#cached.delete(digest);
    else this.#cached.set(digest, { key, freshUntil });
    return key;
  }
}

function liveOrInvalid(key: ApiKey | undefined, now: UnixMillis): Authentication {
  return key !== undefined && isLive(key, now) ? key : { reason: "INVALID_API_KEY" };
}

/**
 * Returns the secret of a call. Returns the empty text, which is never valid, if the call has two
 * different secrets or an unknown scheme.
 */
function presentedSecret(metadata: Metadata): string | undefined {
  const [apiKey] = metadata.get("x-api-key");
  const [authorization] = metadata.get("authorization");
  if (authorization === undefined) return apiKey?.toString();
  const bearer = BEARER.exec(authorization.toString())?.[1] ?? "";
  return apiKey === undefined || apiKey === bearer ? bearer : "";
}
