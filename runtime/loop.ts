import type { LoopTiming } from "./wait.js";

export interface LoopOptions extends Pick<LoopTiming, "wait"> {
  /** Runs once a turn. Returns the wait until the next one, in milliseconds. Must not reject. */
  readonly step: () => Promise<number>;
  /** The wait before the first step. None when omitted. */
  readonly delayMillis?: number;
}

/** Runs a step again and again, from `start` to `stop`. */
export class Loop {
  readonly #options: LoopOptions;
  readonly #stopped = new AbortController();
  #waiting = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Aborts when the loop is stopped. A long step looks at it. */
  get signal(): AbortSignal {
    return this.#stopped.signal;
  }

  get isStopped(): boolean {
    return this.signal.aborted;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Begins the next step at once, or after the one that runs. */
  wake(): void {
    this.#waiting.abort();
  }

  /** Resolves once the step that runs has ended. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { step, wait, delayMillis } = this.#options;
    if (delayMillis !== undefined) await wait(delayMillis, this.signal);
    while (!this.isStopped) {
      // If `wake` is called during the step, the wait ends at once.
      this.#waiting = new AbortController();
      await wait(await step(), this.#waiting.signal);
    }
  }
}
