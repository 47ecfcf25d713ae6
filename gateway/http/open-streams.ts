import { FairShare } from "../../runtime/fair-share.js";

/** The streams that the gateway serves. They have places of their own, apart from requests. */
export class OpenStreams {
  readonly max: number;
  readonly #places: FairShare;
  readonly #listeners = new Set<() => void>();
  #isStopped = false;
  #open = 0;

  constructor(max: number) {
    this.max = max;
    this.#places = new FairShare(max);
  }

  /** The streams that are open now. */
  get open(): number {
    return this.#open;
  }

  /** Whether no stream may begin. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Returns whether the caller has room for one more stream. If so, `leave` must follow once. */
  enter(caller: string): boolean {
    const isIn = this.#places.acquire(caller);
    if (isIn) this.#open += 1;
    return isIn;
  }

  leave(caller: string): void {
    this.#places.release(caller);
    this.#open -= 1;
  }

  /** Calls the listener when the gateway stops. Returns what removes the listener. */
  onStop(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  stop(): void {
    this.#isStopped = true;
    for (const listener of this.#listeners) listener();
  }
}
