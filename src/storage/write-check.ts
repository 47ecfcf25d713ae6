import type { StoreError } from "../ledger/ports/store.js";
import type { Cell } from "./database.js";

/**
 * Tells whether a cell takes commits, after a batch was not committed. A ping only reads, so it
 * misses a full disk.
 *
 * A commit that succeeds would prove nothing: a batch of refusals writes nothing.
 */
export class WriteCheck {
  readonly #tryToWrite: Cell["tryToWrite"];
  /** The error of the last failed batch since the last check. */
  #failure: StoreError | undefined;
  #isInDoubt = false;
  #trial: Promise<void> | undefined;

  constructor({ tryToWrite }: Pick<Cell, "tryToWrite">) {
    this.#tryToWrite = tryToWrite;
  }

  /** Notes why a batch was not committed. Only "unavailable" concerns the cell. */
  failed(error: StoreError): void {
    if (error.kind === "unavailable") this.#failure = error;
  }

  /**
   * Rejects if a batch has failed since the last check. After that, resolves as soon as a trial
   * write succeeds, and without a write from then on.
   */
  async check(): Promise<void> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) {
      this.#isInDoubt = true;
      throw new Error("a batch could not be committed", { cause: failure.cause });
    }
    if (!this.#isInDoubt) return;
    // A trial that hangs holds a connection, so the next check waits for the same one.
    this.#trial ??= this.#tryToWrite().finally(() => (this.#trial = undefined));
    await this.#trial;
    this.#isInDoubt = false;
  }
}
