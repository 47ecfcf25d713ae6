import type { Metadata } from "@grpc/grpc-js";

import type { ApiKeyId } from "../../domain/values/ids.js";
import type { AnyRefusal } from "../errors/refusal.js";
import type { RpcContract } from "../messages/contract.js";

/** The rates at which an API key may call one server. */
export interface RateLimits {
  /** Calls a second, but for lists. 0: no limit. */
  readonly callsPerSecond: number;
  /** Calls a second of rpcs that read many rows. 0: no limit. */
  readonly listsPerSecond: number;
  /** How many seconds' worth of calls a key can save up. */
  readonly rateBurstSeconds: number;
}

type RateLimited = Extract<AnyRefusal, { reason: "RATE_LIMITED" }>;
/** The name of a rate, as callers see it. */
type RateName = RateLimited["rate"];

interface Rate {
  readonly name: RateName;
  readonly perSecond: number;
  /** The calls of a full bucket. */
  readonly quota: number;
  /** The value of the header RateLimit-Policy. */
  readonly policy: string;
  /** A clock in milliseconds that never goes back. */
  readonly now: () => number;
}

/** The calls that one key has left at one rate. */
export class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #refilledAt: number;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#left = rate.quota;
    this.#refilledAt = rate.now();
  }

  /** Takes up to `calls`, and returns how many there were. */
  take(calls: number): number {
    this.#refill();
    const taken = Math.min(calls, Math.floor(this.#left));
    this.#left -= taken;
    return taken;
  }

  /** Refuses the call that comes `position` after the last one that was taken. */
  refusal(position = 1): RateLimited {
    this.#refill();
    const { name, perSecond } = this.#rate;
    return { reason: "RATE_LIMITED", rate: name, callsPerSecond: perSecond, retryMillis: this.#millisUntil(position) };
  }

  /**
   * Sets the headers of draft-ietf-httpapi-ratelimit-headers-11. `r` calls are left. `t` is the
   * number of seconds until the bucket is full, or until it has a call if it has none.
   */
  writeTo(metadata: Metadata): void {
    this.#refill();
    const { name, quota, policy } = this.#rate;
    const left = Math.floor(this.#left);
    const seconds = Math.max(1, Math.ceil(this.#millisUntil(left === 0 ? 1 : quota) / 1_000));
    metadata.set("ratelimit-policy", policy);
    metadata.set("ratelimit", `"${name}";r=${String(left)};t=${String(seconds)}`);
  }

  #millisUntil(calls: number): number {
    return (Math.max(0, calls - this.#left) / this.#rate.perSecond) * 1_000;
  }

  #refill(): void {
    const { perSecond, quota, now } = this.#rate;
    const at = now();
    this.#left = Math.min(quota, this.#left + ((at - this.#refilledAt) / 1_000) * perSecond);
    this.#refilledAt = at;
  }
}

/** The buckets of all keys at one rate. */
class Buckets {
  readonly #rate: Rate;
  readonly #fullAfterMillis: number;
  // A bucket that no call has used for so long is full, as a new one is. So the older half can be
  // dropped at each turn, and the memory holds the keys of the last calls only.
  #young = new Map<ApiKeyId, TokenBucket>();
  #old = new Map<ApiKeyId, TokenBucket>();
  #turnsOldAt: number;

  constructor(rate: Rate) {
    this.#rate = rate;
    this.#fullAfterMillis = (rate.quota / rate.perSecond) * 1_000;
    this.#turnsOldAt = rate.now() + this.#fullAfterMillis;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  of(key: ApiKeyId): TokenBucket {
    const now = this.#rate.now();
    if (now >= this.#turnsOldAt) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#turnsOldAt = now + this.#fullAfterMillis;
    }
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const bucket = this.#old.get(key) ?? new TokenBucket(this.#rate);
    this.#old.delete(key);
    this.#young.set(key, bucket);
    return bucket;
  }
}

/**
 * Limits how fast each API key calls this server: two token buckets for a key, one for rpcs that
 * read many rows and one for all others. Other servers do not know of them (docs/adr/0052).
 *
 * Only a call with a valid key has a bucket, so no other caller can empty it or fill the memory.
 */
export class CallRates {
  readonly #calls: Buckets | undefined;
  readonly #lists: Buckets | undefined;

  constructor(
    { callsPerSecond, listsPerSecond, rateBurstSeconds }: RateLimits,
    now: () => number = () => performance.now(),
  ) {
    const bucketsOf = (name: RateName, perSecond: number): Buckets | undefined => {
      const quota = perSecond * rateBurstSeconds;
      const policy = `"${name}";q=${String(quota)};w=${String(rateBurstSeconds)}`;
      return perSecond === 0 ? undefined : new Buckets({ name, perSecond, quota, policy, now });
    };
    this.#calls = bucketsOf("calls", callsPerSecond);
    this.#lists = bucketsOf("lists", listsPerSecond);
  }

  /** The number of buckets in memory. */
  get size(): number {
    return (this.#calls?.size ?? 0) + (this.#lists?.size ?? 0);
  }

  /** Returns the bucket in which a call of the key counts. Undefined: it has no limit. */
  bucketOf(key: ApiKeyId, { readsMany }: Pick<RpcContract, "readsMany">): TokenBucket | undefined {
    return (readsMany ? this.#lists : this.#calls)?.of(key);
  }
}
