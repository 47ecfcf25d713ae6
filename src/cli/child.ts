import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

const KESC = new URL("./kesc.js", import.meta.url);

/** One of kesc's own commands, running as a process that stops when this one is gone. */
export class Child {
  readonly name: string;
  /** Resolves with its exit code, or with the name of the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Resolves with the address that it listens on; undefined when it ends before that. */
  readonly ready: Promise<string | undefined>;
  readonly #process: ChildProcess;

  /**
   * Starts `kesc NAME OPTIONS` with our environment and these variables; its output goes where ours
   * goes.
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

  /** Lets it finish what it has, and then end. */
  stop(): void {
    // What it would also see if we were gone.
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
