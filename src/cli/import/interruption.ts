import type { WriteStream } from "node:fs";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Says on Ctrl-C how far the import has come. Then the signal ends the command as usual. */
export class Interruption {
  words = "Interrupted while the file was checked. Nothing was sent.";
  /** A file whose last lines must be written before the end. */
  rejects: WriteStream | undefined;

  constructor() {
    const listener = (signal: NodeJS.Signals): void => {
      for (const name of SIGNALS) process.off(name, listener);
      process.stderr.write(`\n${this.words}\n`);
      const end = (): void => {
        process.kill(process.pid, signal);
      };
      if (this.rejects === undefined) end();
      else this.rejects.end(end);
    };
    for (const name of SIGNALS) process.on(name, listener);
  }
}
