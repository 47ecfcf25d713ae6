import { FairQueue } from "./fair-queue.js";

interface WaitingWork {
  readonly run: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

export interface TurnsOptions {
  /** The number of works that run at once. */
  readonly runningMax: number;
  /** The number of works that wait, shared fairly among the callers. */
  readonly waitingMax: number;
  /**
   * Whether the works that wait fail with this error, too: each of them would only wait for the
   * same one. Every error does when omitted.
   */
  readonly failsAll?: (error: unknown) => boolean;
}

/** Lets work begin when few others run. Callers take turns, however much work each of them has. */
export class Turns<Caller> {
  readonly #options: TurnsOptions;
  readonly #waiting: FairQueue<Caller, WaitingWork>;
  #running = 0;

  constructor(options: TurnsOptions) {
    this.#options = options;
    this.#waiting = new FairQueue(options.waitingMax);
  }

  /** Runs the work at its turn. Returns undefined if too much of the caller's work waits. */
  run<Result>(caller: Caller, work: () => Promise<Result>): Promise<Result> | undefined {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    if (!this.#waiting.push(caller, { run: () => work().then(resolve), reject })) return undefined;
    this.#start();
    return promise;
  }

  #start(): void {
    const { runningMax, failsAll = () => true } = this.#options;
    while (this.#running < runningMax) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#running += 1;
      void next
        .run()
        .catch((error: unknown) => {
          next.reject(error);
          if (failsAll(error)) this.#rejectAll(error);
        })
        .finally(() => {
          this.#running -= 1;
          this.#start();
        });
    }
  }

  #rejectAll(error: unknown): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) next.reject(error);
  }
}
