import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { LRUCache } from "lru-cache";

import { callerOf, FairShare } from "../../runtime/fair-share.js";
import { Queue } from "../../runtime/queue.js";

const KNOWN_KEYS_MAX = 10_000;
const UNKNOWN = "";

/**
 * Names the caller of a request. A key has a name of its own once the server has accepted it; all
 * other keys together are one caller. So random keys do not take the slots and turns of others
 * (docs/adr/0026).
 */
export class Callers {
  /** The SHA-256 of each accepted key, so that the cache holds no secret. */
  readonly #known = new LRUCache<string, true>({ max: KNOWN_KEYS_MAX });

  nameOf(headers: IncomingHttpHeaders): string {
    const digest = digestOf(headers);
    return this.#known.get(digest) === true ? digest : UNKNOWN;
  }

  /** Learns from the code of a response, such as "OK", whether the key is valid. */
  learn(headers: IncomingHttpHeaders, code: string | undefined): void {
    if (code === "OK") this.#known.set(digestOf(headers), true);
    else if (code === "INVALID_API_KEY") this.#known.delete(digestOf(headers));
  }
}

function digestOf(headers: IncomingHttpHeaders): string {
  return hash("sha256", callerOf(String(headers["x-api-key"] ?? headers.authorization ?? "")), "base64");
}

// A refusal costs about as much as a quick answer, and a refused caller retries at once. Under
// overload the gateway would only refuse. So it gives one refusal per 32 answers.
const ANSWERS_PER_REFUSAL = 32;
// Past this length the next request is refused at once. A client that has hung up still waits here,
// in memory.
const WAITING_MAX = 20_000;

interface Waiting {
  readonly caller: string;
  readonly answer: (isIn: boolean) => void;
}

/**
 * Admits a limited number of requests at a time, and shares the slots fairly among callers. A
 * request without a slot waits for one. The oldest waiting request is refused after every 32
 * answers.
 */
export class Admission {
  readonly #slots: FairShare;
  readonly #waiting = new Queue<Waiting>();
  #answers = 0;

  constructor(requestsMax: number) {
    this.#slots = new FairShare(requestsMax);
  }

  /** Returns whether the caller is in. If so, `leave` must follow exactly once. */
  enter(caller: string): Promise<boolean> | true {
    if (this.#slots.acquire(caller)) return true;
    if (this.#waiting.length >= WAITING_MAX) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#waiting.push({ caller, answer: resolve });
    });
  }

  leave(caller: string): void {
    this.#slots.release(caller);
    this.#answers += 1;
    if (this.#answers % ANSWERS_PER_REFUSAL === 0) this.#waiting.shift()?.answer(false);
    this.#admitWaiting();
  }

  #admitWaiting(): void {
    for (let next = this.#waiting.first; next !== undefined; next = this.#waiting.first) {
      if (!this.#slots.acquire(next.caller)) return;
      this.#waiting.shift();
      next.answer(true);
    }
  }
}
