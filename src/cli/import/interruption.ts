import type { WriteStream } from "node:fs";

import { invocation } from "../../startup/invocation.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Says on Ctrl-C how far the import has come. Then the signal ends the command as usual. */
export class Interruption {
  words = "Interrupted while the file was checked. Nothing was sent.";
  /** A file whose last lines must be written before the end. */
  rejects: WriteStream | undefined;

  constructor() {
    for (const name of SIGNALS) process.on(name, this.#onSignal);
  }

  /** From here on a signal ends the process as usual. */
  remove(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
  }

  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.remove();
    invocation().stderr.write(`\n${this.words}\n`);
    const end = (): void => {
      process.kill(process.pid, signal);
    };
    if (this.rejects === undefined) end();
    else this.rejects.end(end);
  };
}
