import type { Clock } from "../clock.js";
import type { Ids } from "../mpesa/ids.js";
import type { Organization } from "../mpesa/organization.js";

export const TOKEN_SECONDS = 3_599;

/** Each app has one valid token: a new one makes the one before invalid. */
export class Tokens {
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #tokens = new Map<string, { token: string; untilMillis: number }>();
  #issued = 0;

  constructor(clock: Clock, ids: Ids) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /** How many tokens were given out. */
  get issued(): number {
    return this.#issued;
  }

  issue({ consumerKey }: Organization): string {
    const token = this.#ids.token();
    this.#tokens.set(consumerKey, { token, untilMillis: this.#clock.nowMillis() + TOKEN_SECONDS * 1_000 });
    this.#issued += 1;
    return token;
  }

  isValid({ consumerKey }: Organization, token: string): boolean {
    const valid = this.#tokens.get(consumerKey);
    return valid?.token === token && this.#clock.nowMillis() < valid.untilMillis;
  }

  invalidate({ consumerKey }: Organization): void {
    this.#tokens.delete(consumerKey);
  }
}
