import { FairShare } from "../../runtime/fair-share.js";

/** The streams that the gateway serves. They have places of their own, apart from requests. */
export class OpenStreams {
  readonly max: number;
  readonly #places: FairShare;
  readonly #listeners = new Set<() => void>();
  #isStopped = false;

  constructor(max: number) {
    this.max = max;
    this.#places = new FairShare(max);
  }

  /** Whether no stream may begin. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Returns whether the caller has room for one more stream. If so, `leave` must follow once. */
  enter(caller: string): boolean {
    return this.#places.acquire(caller);
  }

  leave(caller: string): void {
    this.#places.release(caller);
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
