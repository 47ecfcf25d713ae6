import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

const KESC = new URL("./kesc.js", import.meta.url);

/** A command of kesc that runs as a child process. It stops when this process ends. */
export class Child {
  readonly name: string;
  /** Resolves with the exit code, or with the signal that ended the process. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /**
   * Resolves with the address that the child listens on. Resolves with undefined if the child exits
   * first.
   */
  readonly ready: Promise<string | undefined>;
  readonly #process: ChildProcess;

  /**
   * Starts `kesc NAME OPTIONS` with the environment of this process and `variables`. The child
   * shares our standard output and error.
   */
  constructor(
    name: string,
    { options = [], variables = {} }: { options?: string[]; variables?: Readonly<Record<string, string>> } = {},
  ) {
    this.name = name;
    this.#process = fork(KESC, [name, ...options], { env: { ...process.env, ...variables } });
    this.exited = once(this.#process, "exit").then(
      ([code, signal]: unknown[]) => (code ?? signal) as number | NodeJS.Signals,
    );
    this.ready = Promise.race([this.#readyAddress(), this.exited.then(() => undefined)]);
  }

  /** Asks the child to finish its work and exit. */
  stop(): void {
    // The child stops on "disconnect", as it does when this process ends.
    if (this.#process.connected) this.#process.disconnect();
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #readyAddress(): Promise<string> {
    return new Promise((resolve) => {
      this.#process.on("message", (message: unknown) => {
        if (isReady(message)) resolve(message.address);
      });
    });
  }
}

function isReady(message: unknown): message is { kind: "ready"; address: string } {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "ready";
}
