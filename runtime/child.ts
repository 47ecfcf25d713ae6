import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { once } from "node:events";

import { STOP_MESSAGE } from "./shutdown.js";

/** How a process ended: its exit code, or the name of the signal that killed it. */
export type Exit = number | NodeJS.Signals;

/**
 * A program of ours that runs as a child process. It reports with `announceReady` when it serves,
 * and it stops on a stop message, or when this process has ended (`shutdownSignal`).
 */
export class Child {
  readonly name: string;
  readonly exited: Promise<Exit>;
  /** Resolves with the address on which it serves; undefined if it exits before that. */
  readonly ready: Promise<string | undefined>;
  readonly #process: ChildProcess;
  #isHeld = true;

  constructor(name: string, process: ChildProcess) {
    this.name = name;
    this.#process = process;
    this.exited = once(process, "exit").then(([code, signal]: unknown[]) => (code ?? signal) as Exit);
    const ready = new Promise<string>((resolve) => {
      process.on("message", (message: unknown) => {
        if (isReadyMessage(message)) resolve(message.address);
      });
    });
    this.ready = Promise.race([ready, this.exited.then(() => undefined)]);
  }

  /** Asks the child to finish its calls and exit. */
  stop(): void {
    this.#sendStop();
    // A child that has just been started does not listen yet.
    void this.ready.then(() => {
      this.#sendStop();
    });
  }

  /**
   * Passes the held output on to the output of this process (`holdOutput`). What the child has
   * printed so far comes first.
   */
  releaseOutput(): void {
    if (this.#isHeld) this.#process.stdout?.pipe(process.stdout, { end: false });
    this.#isHeld = false;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #sendStop(): void {
    // With a callback, Node reports here that the child has exited already, and throws no error.
    this.#process.send(STOP_MESSAGE, () => undefined);
  }
}

export interface ChildOptions {
  readonly name: string;
  readonly args: readonly string[];
  /** Environment variables on top of those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Options of Node itself; those of this process when omitted. */
  readonly nodeOptions?: readonly string[];
  /** Whether its standard output waits for `releaseOutput`. */
  readonly holdOutput?: boolean;
}

/** Starts `program`, a JavaScript file, as a child. It writes to the output of this process. */
export function startChild(
  program: URL,
  { name, args, variables, nodeOptions = process.execArgv, holdOutput = false }: ChildOptions,
): Child {
  const options: ForkOptions = {
    env: { ...process.env, ...variables },
    execArgv: [...nodeOptions],
    stdio: ["inherit", holdOutput ? "pipe" : "inherit", "inherit", "ipc"],
  };
  return new Child(name, fork(program, args, options));
}

/**
 * Resolves with the exits of the children, in their order, when all of them have ended. Kills those
 * that still run after `graceMillis`.
 */
export async function exitsOf(children: readonly Child[], graceMillis: number): Promise<readonly Exit[]> {
  const force = setTimeout(() => {
    for (const child of children) child.kill();
  }, graceMillis);
  const exits = await Promise.all(children.map(({ exited }) => exited));
  clearTimeout(force);
  return exits;
}

/** Tells the parent process, if it is one of ours, that this process serves on `address`. */
export function announceReady(address: string, more: Readonly<Record<string, string>> = {}): void {
  process.send?.({ ...more, kind: "ready", address });
}

function isReadyMessage(message: unknown): message is { readonly kind: "ready"; readonly address: string } {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === "ready";
}
