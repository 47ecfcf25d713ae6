import { hash } from "node:crypto";

import type { Metadata } from "@grpc/grpc-js";
import { LRUCache } from "lru-cache";

import { Turns } from "../../../runtime/turns.js";
import { type ApiKey, credentialOfCertificate, isLive, namesOfCredential } from "../../domain/api-key.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Keys } from "../../ledger/ports/keys.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { PEER_CERTIFICATE } from "../transport/peer-certificate.js";

/** Makes the turns of connections whose keys no call has used yet. */
export function lookupTurns(): Turns<string> {
  return new Turns({ runningMax: LOOKUPS_RUNNING_MAX, waitingMax: LOOKUPS_WAITING_MAX });
}

/** The API key of the caller, or the refusal of the call. */
export type Authentication =
  | ApiKey
  | Extract<
      AnyRefusal,
      { reason: "MISSING_API_KEY" | "INVALID_API_KEY" | "QUEUE_FULL" | "BOOK_MOVING" | "RESTORE_NOT_CONFIRMED" }
    >;

/** The parts of a call that identify its caller. */
export interface AuthenticatedCall {
  readonly metadata: Metadata;
  /** Returns the address of the connection. */
  getPeer(): string;
}

export interface ApiKeyAuthenticatorOptions {
  readonly keys: Pick<Keys, "apiKeyWithSecret">;
  /** Whether the database was restored, and no person has confirmed that yet. */
  readonly restoreWaits: () => Promise<boolean>;
  readonly now: () => UnixMillis;
}

interface CachedKey {
  readonly key: ApiKey;
  readonly freshUntil: number;
}

// A revoked key keeps working for at most this long.
const FRESH_MILLIS = 1_000;
const CACHED_KEYS_MAX = 10_000;

// The look-ups that run, and those that wait.
const LOOKUPS_RUNNING_MAX = 2;
const LOOKUPS_WAITING_MAX = 1_000;

const SECRET = /^kesc_[A-Za-z0-9_-]{20,100}$/;
// No secret is empty.
const INVALID = "";
/** The value of `authorization` that holds a key. */
export const BEARER = /^bearer +(\S+)$/i;

/** "moved": another place has the organization of the key. "restored": no key is believed yet. */
type LookedUpKey = ApiKey | "moved" | "restored" | undefined;

/**
 * Identifies the caller by `x-api-key` or `authorization: Bearer`, and a caller without either by
 * the certificate of its connection.
 *
 * Caches keys for a second, under the SHA-256 of their secret. So the cache holds no secret, and
 * the time of a look-up reveals nothing about it. Unknown keys are not cached.
 *
 * Few look-ups of new keys run at a time, and connections take turns. A client that tries random
 * keys keeps neither the database nor other new keys waiting for long.
 */
export class ApiKeyAuthenticator {
  readonly #options: ApiKeyAuthenticatorOptions;
  readonly #cached = new LRUCache<string, CachedKey>({ max: CACHED_KEYS_MAX });
  readonly #lookups = new Map<string, Promise<LookedUpKey>>();
  /** The look-ups of keys that no call has used yet. That of a known key never waits for them. */
  readonly #newLookups = lookupTurns();

  constructor(options: ApiKeyAuthenticatorOptions) {
    this.#options = options;
  }

  /**
   * Returns the result at once for a cached key, and a promise otherwise. Rejects with a StoreError
   * if the database fails.
   */
  authenticate(call: AuthenticatedCall): Authentication | Promise<Authentication> {
    const secret = presentedSecret(call.metadata);
    if (secret === undefined) return { reason: "MISSING_API_KEY" };
    if (secret === INVALID) return { reason: "INVALID_API_KEY", ...problemOf(call.metadata) };

    const digest = digestOf(secret);
    const now = this.#options.now();
    const cached = this.#cached.get(digest);
    if (cached !== undefined && cached.freshUntil > now) return liveOrInvalid(cached.key, now);
    return this.#lookUp({ secret, digest, connection: cached === undefined ? call.getPeer() : undefined });
  }

  /**
   * Returns the organization of a key that was valid when it was looked up last. Never asks the
   * database.
   */
  organizationOf(metadata: Metadata): OrganizationId | undefined {
    const secret = presentedSecret(metadata);
    if (secret === undefined) return undefined;
    const key = this.#cached.get(digestOf(secret))?.key;
    return key !== undefined && isLive(key, this.#options.now()) ? key.organizationId : undefined;
  }

  async #lookUp({ secret, digest, connection }: KeyLookup): Promise<Authentication> {
    let lookup = this.#lookups.get(digest);
    if (lookup === undefined) {
      const read = (): Promise<LookedUpKey> => this.#read(secret, digest);
      const begun = connection === undefined ? read() : this.#newLookups.run(connection, read);
      if (begun === undefined) return { reason: "QUEUE_FULL" };
      lookup = begun.finally(() => this.#lookups.delete(digest));
      this.#lookups.set(digest, lookup);
    }
    const key = await lookup;
    if (key === "moved") return { reason: "BOOK_MOVING" };
    if (key === "restored") return { reason: "RESTORE_NOT_CONFIRMED" };
    // A certificate may be there for the connection alone. Then the caller has forgotten its key.
    if (key === undefined && namesOfCredential(secret) !== undefined) return { reason: "MISSING_API_KEY" };
    return liveOrInvalid(key, this.#options.now());
  }

  async #read(secret: string, digest: string): Promise<LookedUpKey> {
    // Takes the time before the read. A revocation during the read may be missed, and the second
    // counts from then.
    const freshUntil = this.#options.now() + FRESH_MILLIS;
    const { keys, restoreWaits } = this.#options;
    const key = (await restoreWaits()) ? "restored" : await keys.apiKeyWithSecret(secret);
    if (typeof key !== "object") this.#cached.delete(digest);
    else this.#cached.set(digest, { key, freshUntil });
    return key;
  }
}

interface KeyLookup {
  readonly secret: string;
  readonly digest: string;
  /** The connection of a key that no call has used yet. */
  readonly connection: string | undefined;
}

function digestOf(secret: string): string {
  return hash("sha256", secret, "base64");
}

function liveOrInvalid(key: ApiKey | undefined, now: UnixMillis): Authentication {
  return key !== undefined && isLive(key, now) ? key : { reason: "INVALID_API_KEY" };
}

/** Says which header is in the way. A proxy adds an `authorization` that its caller never sees. */
function problemOf(metadata: Metadata): { readonly problem?: string } {
  const [authorization] = metadata.get("authorization");
  if (authorization === undefined) return {};
  const isKey = BEARER.test(authorization.toString());
  if (metadata.get("x-api-key").length > 0) {
    const other = isKey ? "another key" : "something else";
    return { problem: `authorization holds ${other} than x-api-key, and both count. Send one of them` };
  }
  return isKey ? {} : { problem: "authorization must be Bearer and the key" };
}

/**
 * Returns the secret of a call, or INVALID if it cannot be one: the call has two different secrets
 * or an unknown scheme. A call without a secret has the names of its certificate in place of it, if
 * its connection has one.
 */
function presentedSecret(metadata: Metadata): string | undefined {
  const [apiKey] = metadata.get("x-api-key");
  const [authorization] = metadata.get("authorization");
  if (apiKey === undefined && authorization === undefined) {
    const [names] = metadata.get(PEER_CERTIFICATE);
    return names === undefined ? undefined : credentialOfCertificate(names.toString());
  }
  const secret = authorization === undefined ? apiKey?.toString() : BEARER.exec(authorization.toString())?.[1];
  if (secret === undefined || !SECRET.test(secret)) return INVALID;
  return apiKey === undefined || apiKey === secret ? secret : INVALID;
}
