import { hash } from "node:crypto";

import type { Metadata } from "@grpc/grpc-js";
import { LRUCache } from "lru-cache";

import { type ApiKey, isLive } from "../../domain/api-key.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Keys } from "../../ledger/ports/keys.js";
import type { CallRefusal } from "../errors/refusal.js";

/** The caller's key, or why there is none. */
export type Authentication = ApiKey | Extract<CallRefusal, { reason: "MISSING_API_KEY" | "INVALID_API_KEY" }>;

export interface ApiKeyAuthenticatorOptions {
  readonly keys: Pick<Keys, "apiKeyWithSecret">;
  readonly now: () => UnixMillis;
}

interface CachedKey {
  readonly key: ApiKey;
  readonly freshUntil: number;
}

// How long a revoked key may go on working.
const FRESH_MILLIS = 1_000;
const CACHED_KEYS_MAX = 10_000;

const SECRET = /^kesc_[A-Za-z0-9_-]{20,100}$/;
const BEARER = /^bearer +(\S+)$/i;

/**
 * Finds out whose call it is, from its `x-api-key` or `authorization: Bearer`.
 *
 * Keys are remembered for a second, under the SHA-256 of their secret: no secret stays in memory,
 * and how long a look-up takes says nothing about it. Unknown keys are not remembered.
 */
export class ApiKeyAuthenticator {
  readonly #options: ApiKeyAuthenticatorOptions;
  readonly #cached = new LRUCache<string, CachedKey>({ max: CACHED_KEYS_MAX });
  readonly #lookups = new Map<string, Promise<ApiKey | undefined>>();

  constructor(options: ApiKeyAuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Answers at once for a key that is remembered, else after a look-up. Rejects with a StoreError
   * when the database does not answer.
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
    // From before the read: what is revoked during it is not known to be.
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
 * The secret that a call carries; the empty text, which is none, when it carries two that differ or
 * one in no known form.
 */
function presentedSecret(metadata: Metadata): string | undefined {
  const [apiKey] = metadata.get("x-api-key");
  const [authorization] = metadata.get("authorization");
  if (authorization === undefined) return apiKey?.toString();
  const bearer = BEARER.exec(authorization.toString())?.[1] ?? "";
  return apiKey === undefined || apiKey === bearer ? bearer : "";
}
