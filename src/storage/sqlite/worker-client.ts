import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { StoreError } from "../../ledger/ports/store.js";
import {
  SQLITE_WORKER,
  type WorkerFailure,
  type WorkerOpened,
  type WorkerRequest,
  type WorkerResponse,
} from "./worker.js";

/**
 * A connection that lives on a thread of its own. Requests run there one after the other, in the
 * order of the calls.
 */
export class WorkerConnection {
  readonly #worker: Worker;
  /**
   * Few at a time. A Map would keep all that it ever held from the small garbage collections
   * (docs/adr/0015).
   */
  readonly #waiting: Waiting[] = [];
  #lastId = 0;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (answer: WorkerResponse) => {
      const waiting = this.#take(answer.id);
      if ("failure" in answer) waiting?.reject(errorOf(answer.failure));
      else waiting?.resolve(answer);
    });
    worker.on("error", (error) => {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on("exit", () => {
      this.#end(new Error("the thread of the database has ended"));
    });
  }

  /** Starts the thread and waits until the file is open. Rejects with what went wrong there. */
  static async open(filename: string): Promise<WorkerConnection> {
    const worker = new Worker(SQLITE_WORKER, { workerData: { filename } });
    const [{ failure }] = (await once(worker, "message")) as [WorkerOpened];
    if (failure !== undefined) throw errorOf(failure);
    return new WorkerConnection(worker);
  }

  get isUsable(): boolean {
    return this.#ended === undefined;
  }

  /** Rejects with what went wrong there. */
  request(request: DistributiveOmit<WorkerRequest, "id">): Promise<WorkerResult> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ id, resolve, reject });
      this.#worker.postMessage({ id, ...request } satisfies WorkerRequest);
    });
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = once(this.#worker, "exit");
    this.#worker.postMessage("close");
    await exited;
  }

  #take(id: number): Waiting | undefined {
    const index = this.#waiting.findIndex((waiting) => waiting.id === id);
    return index === -1 ? undefined : this.#waiting.splice(index, 1)[0];
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

export type WorkerResult = Exclude<WorkerResponse, { failure: WorkerFailure }>;

interface Waiting {
  readonly id: number;
  readonly resolve: (answer: WorkerResult) => void;
  readonly reject: (reason: Error) => void;
}

// Omit<> alone makes one type of all members of a union.
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

export function errorOf({ message, stack, code, kind }: WorkerFailure): Error {
  const error = Object.assign(new Error(message), { code, ...(stack === undefined ? {} : { stack }) });
  return kind === undefined ? error : new StoreError(kind, error);
}
