import { FairQueue } from "../ledger/fair-queue.js";

/** A look-up that waits for its turn. */
interface WaitingLookup {
  readonly run: () => Promise<void>;
  readonly reject: (error: unknown) => void;
}

// The look-ups that run, and those that wait.
const RUNNING_MAX = 2;
const WAITING_MAX = 1_000;

/**
 * Lets the look-ups of new keys take turns. Few run at a time, and connections take turns. A client
 * that tries random keys keeps neither the database nor other new keys waiting for long.
 */
export class LookupTurns {
  readonly #waiting = new FairQueue<string, WaitingLookup>(WAITING_MAX);
  #running = 0;

  /** Runs `read` when few others run. Resolves with "refused" if too many wait. */
  run<Result>(connection: string, read: () => Promise<Result>): Promise<Result | "refused"> {
    return new Promise((resolve, reject) => {
      const run = (): Promise<void> => read().then(resolve);
      if (this.#waiting.push(connection, { run, reject })) this.#start();
      else resolve("refused");
    });
  }

  #start(): void {
    while (this.#running < RUNNING_MAX) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#running += 1;
      void next
        .run()
        .catch((error: unknown) => {
          // The database fails. The others would wait for the same error one after the other.
          for (let failed: WaitingLookup | undefined = next; failed; failed = this.#waiting.shift()) {
            failed.reject(error);
          }
        })
        .finally(() => {
          this.#running -= 1;
          this.#start();
        });
    }
  }
}
