import { setFlagsFromString } from "node:v8";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";

import type { Logger } from "pino";

import { traceOf } from "../runtime/error-trace.js";
import type { MetricsJson } from "../runtime/metrics/metrics.js";
import type { GatewayConfig } from "./config.js";
import { type GatewayProgram, GatewayStartError } from "./program.js";
import type { ThreadAnswer, ThreadData, ThreadQuestion } from "./thread.js";

/** The bundle keeps it in the folder of this module, too (deploy/bundle.mjs). */
const THREAD = new URL("./thread.js", import.meta.url);

/**
 * V8's default. The server's option of 64 MiB would hold for its threads, too, whatever their
 * resourceLimits say: V8 reads it for each new heap.
 */
const THREAD_OPTION = "--max-semi-space-size=16";

export interface ThreadsOptions {
  readonly log: Logger;
  /** Takes the calls of a thread with this name. Undefined: the threads call their target. */
  readonly takeCalls?: ((port: MessagePort, name: string) => void) | undefined;
}

/**
 * A gateway of `config.processes` threads, which share its address and its limits. The kernel
 * gives each connection to one of them. Throws a GatewayStartError.
 */
export class GatewayThreads implements GatewayProgram {
  readonly address: string;
  readonly ended: Promise<number>;
  readonly #threads: readonly GatewayThread[];

  private constructor(address: string, threads: readonly GatewayThread[]) {
    this.address = address;
    this.#threads = threads;
    this.ended = Promise.race(threads.map(({ exited }) => exited));
  }

  static async start(config: GatewayConfig, options: ThreadsOptions): Promise<GatewayThreads> {
    const threads: GatewayThread[] = [];
    const start = (listen: GatewayConfig["listen"]): Promise<string> => {
      const thread = new GatewayThread({ ...shareOf(config), listen }, threads.length, options);
      threads.push(thread);
      return thread.ready;
    };
    try {
      // The first one starts alone: an error that keeps all of them from starting is thrown once,
      // and the system chooses a port once.
      const address = await start(config.listen);
      const { host } = config.listen;
      const port = Number(address.slice(address.lastIndexOf(":") + 1));
      await Promise.all(Array.from({ length: config.processes - 1 }, () => start({ host, port })));
      return new GatewayThreads(address, threads);
    } catch (error) {
      await Promise.all(threads.map((thread) => thread.terminate()));
      throw error;
    }
  }

  async metrics(): Promise<readonly MetricsJson[]> {
    return (await Promise.all(this.#threads.map((thread) => thread.metrics()))).flat();
  }

  async stop(): Promise<boolean> {
    const exits = await Promise.all(this.#threads.map((thread) => thread.stop()));
    return exits.every((exit) => exit === 0);
  }
}

/** Returns the configuration of one thread. */
function shareOf(config: GatewayConfig): GatewayConfig {
  const { processes, connectionsMax, requestsMax, streamsMax } = config;
  return {
    ...config,
    connectionsMax: Math.ceil(connectionsMax / processes),
    requestsMax: Math.ceil(requestsMax / processes),
    streamsMax: Math.ceil(streamsMax / processes),
  };
}

class GatewayThread {
  /** Resolves with the address. */
  readonly ready: Promise<string>;
  /** Resolves with the exit code. */
  readonly exited: Promise<number>;
  readonly #worker: Worker;

  constructor(config: GatewayConfig, index: number, { log, takeCalls }: ThreadsOptions) {
    const { port1, port2 } = new MessageChannel();
    takeCalls?.(port1, `gateway ${String(index)}`);
    const calls = takeCalls === undefined ? undefined : port2;
    setFlagsFromString(THREAD_OPTION);
    // The process is counted once.
    const workerData: ThreadData = { config, calls, hasProcess: index === 0 };
    this.#worker = new Worker(THREAD, { workerData, transferList: calls === undefined ? [] : [calls] });
    // Not `once`, which rejects on an error.
    this.exited = new Promise((resolve) => this.#worker.on("exit", resolve));
    let problem = "";
    this.#worker.on("error", (error) => {
      problem = String(error);
      log.fatal({ trace: traceOf(error) }, "a thread of the gateway has ended");
    });
    this.ready = Promise.race([
      this.#answer("ready").then(({ address }) => address),
      this.#answer("failed").then(({ problem: reason, isUsage }) => {
        throw new GatewayStartError(reason, { isUsage });
      }),
      this.exited.then(() => {
        throw new GatewayStartError(`the gateway cannot start: ${problem}`);
      }),
    ]);
    // A thread that has started ends later.
    this.ready.catch(() => undefined);
  }

  async metrics(): Promise<readonly MetricsJson[]> {
    const answered = this.#answer("metrics");
    this.#ask("metrics");
    return (await answered).metrics;
  }

  stop(): Promise<number> {
    this.#ask("stop");
    return this.exited;
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #ask(question: ThreadQuestion): void {
    this.#worker.postMessage(question);
  }

  #answer<Kind extends ThreadAnswer["kind"]>(kind: Kind): Promise<Extract<ThreadAnswer, { kind: Kind }>> {
    return new Promise((resolve) => {
      const listener = (answer: ThreadAnswer): void => {
        if (answer.kind !== kind) return;
        this.#worker.off("message", listener);
        resolve(answer as Extract<ThreadAnswer, { kind: Kind }>);
      };
      this.#worker.on("message", listener);
    });
  }
}
