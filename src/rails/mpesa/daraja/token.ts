import type { Faulty } from "../../rail.js";

/** A token of the rail's OAuth endpoint, or the code of the failure to get one. */
export type TokenResult = { readonly kind: "token"; readonly token: string } | TokenFailure;

/** What the OAuth endpoint grants. */
export type Grant = { readonly kind: "granted"; readonly token: string; readonly lifeMillis: number } | TokenFailure;

interface TokenFailure extends Faulty {
  readonly kind: "failed";
  readonly code: string;
}

const RENEWED_AT_SHARE_OF_LIFE = 0.9;

/**
 * Holds the one access token of an app at the rail. All callers share it and its renewal: a request
 * for a new token makes the rail forget the previous one.
 */
export class AccessToken {
  readonly #request: () => Promise<Grant>;
  readonly #monotonicMillis: () => number;
  #held: { readonly token: string; readonly renewedAtMillis: number } | undefined;
  #renewal: Promise<TokenResult> | undefined;

  /** `request` must not reject, and must end by itself. */
  constructor(request: () => Promise<Grant>, monotonicMillis: () => number) {
    this.#request = request;
    this.#monotonicMillis = monotonicMillis;
  }

  /** Returns the token, after a renewal if 90 % of its life are over. */
  async current(): Promise<TokenResult> {
    const held = this.#held;
    if (held !== undefined && this.#monotonicMillis() < held.renewedAtMillis)
      return { kind: "token", token: held.token };
    return this.#renewed();
  }

  /**
   * Returns a token in place of one that the rail refused. It requests a new one only if no other
   * caller has done so since.
   */
  async replacing(refused: string): Promise<TokenResult> {
    if (this.#held?.token === refused) this.#held = undefined;
    return this.current();
  }

  #renewed(): Promise<TokenResult> {
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renew(): Promise<TokenResult> {
    // The life counts from before the request: the rail may have started it at any time since.
    const requestedAtMillis = this.#monotonicMillis();
    const grant = await this.#request();
    if (grant.kind === "failed") return grant;
    const { token, lifeMillis } = grant;
    this.#held = { token, renewedAtMillis: requestedAtMillis + lifeMillis * RENEWED_AT_SHARE_OF_LIFE };
    return { kind: "token", token };
  }
}
