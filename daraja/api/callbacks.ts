import type { Clock } from "../clock.js";
import { keep } from "../kept.js";

/** Safaricom's patience is not published. */
const ANSWER_MILLIS_MAX = 10_000;

export interface Callback {
  readonly url: string;
  /** The text that was sent, which may be malformed on purpose. */
  readonly body: string;
  readonly isForged: boolean;
  readonly sentAtMillis: number;
  /** The HTTP status of the answer; undefined while there is none. */
  status: number | undefined;
}

export interface CallbackAnswer {
  readonly status: number;
  readonly text: string;
}

/** Posts callbacks, and remembers each. A callback that fails is not sent again. */
export class Callbacks {
  readonly sent: Callback[] = [];
  readonly #clock: Clock;
  /** Of posts under way. */
  readonly #aborts = new Set<AbortController>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the callback was answered, or could not be sent. */
  async send(url: string, body: string, { isForged = false } = {}): Promise<void> {
    await this.#post({ url, body, isForged }, new AbortController());
  }

  /** Returns the answer; undefined if none comes within `patienceMillis` of the clock. */
  async ask(url: string, body: string, patienceMillis: number): Promise<CallbackAnswer | undefined> {
    const abort = new AbortController();
    this.#clock.after(patienceMillis, () => {
      abort.abort();
      return Promise.resolve();
    });
    return this.#post({ url, body, isForged: false }, abort);
  }

  async #post(
    message: Pick<Callback, "url" | "body" | "isForged">,
    abort: AbortController,
  ): Promise<CallbackAnswer | undefined> {
    const { url, body } = message;
    const callback: Callback = { ...message, sentAtMillis: this.#clock.nowMillis(), status: undefined };
    keep(this.sent, callback);
    this.#aborts.add(abort);
    const timer = setTimeout(() => {
      abort.abort();
    }, ANSWER_MILLIS_MAX);
    try {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body, signal: abort.signal, redirect: "manual" });
      const text = await response.text();
      callback.status = response.status;
      return { status: response.status, text };
    } catch {
      // Nobody listened, or the answer took too long: the callback is lost.
      return undefined;
    } finally {
      clearTimeout(timer);
      this.#aborts.delete(abort);
    }
  }

  /** Gives up the posts that are under way. */
  stop(): void {
    for (const abort of this.#aborts) abort.abort();
  }
}
