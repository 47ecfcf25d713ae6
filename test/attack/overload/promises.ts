/** Prints figures and promises, and remembers whether a promise was broken. */
export class Promises {
  readonly #write: (line: string) => void;
  #broken = false;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  get broken(): boolean {
    return this.#broken;
  }

  note(text: string): void {
    this.#write(text);
  }

  figure(what: string, value: string): void {
    this.#write(`          ${what}: ${value}`);
  }

  /** Prints a promise, whether it was kept, and the figure that shows it or the cause. */
  check(promise: string, kept: boolean, value: string): void {
    this.#broken ||= !kept;
    this.#write(`  ${kept ? "kept  " : "BROKEN"}  ${promise}${value === "" ? "" : `: ${value}`}`);
  }
}
