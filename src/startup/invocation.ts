import { AsyncLocalStorage } from "node:async_hooks";
import { setPriority } from "node:os";
import type { Readable } from "node:stream";

/** A stream for output. A terminal also says how wide it is. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** What a command reads and writes. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** One run of a command. */
export interface Invocation extends Surroundings {
  /** The exit code if the command throws no error. */
  exitCode: number;
  /** The exit code if the command fails, unless it was called wrongly. */
  failedExitCode: number;
  /** What the operator must do if the output is lost, because it cannot be shown again. */
  adviceOnLoss: string;
  /** Whether the process ends with the command. */
  readonly ownsProcess: boolean;
}

const FAILED = 1;

const OF_PROCESS: Invocation = {
  env: process.env,
  // Getters, because Node opens a stream at its first use. An open standard input keeps a process
  // alive.
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
  exitCode: 0,
  failedExitCode: FAILED,
  adviceOnLoss: "",
  ownsProcess: true,
};

// The command of the process itself never enters the storage. On Node 22 a storage that is in use
// slows down every promise of a server.
const entered = new AsyncLocalStorage<Invocation>();

/** Returns the run of the caller: that of the process, unless `runWithin` began it. */
export function invocation(): Invocation {
  return entered.getStore() ?? OF_PROCESS;
}

/** Calls `run` as a run of its own. Others may go on in the same process meanwhile. */
export function runWithin<Result>(given: Surroundings, run: () => Promise<Result>): Promise<Result> {
  return entered.run({ ...given, exitCode: 0, failedExitCode: FAILED, adviceOnLoss: "", ownsProcess: false }, run);
}

/** Lowers the priority of this process. Does nothing if other work goes on in it. */
export function lowerPriority(priority: number): void {
  if (invocation().ownsProcess) setPriority(priority);
}
