import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { StoreError } from "../../ledger/ports/store.js";
import type { WorkerFailure, WorkerFiles, WorkerOpened, WorkerRequest, WorkerResponse } from "./worker.js";

/** The bundle keeps the worker in the folder of this module, too (deploy/bundle.mjs). */
const SQLITE_WORKER = new URL("./worker.js", import.meta.url);

/**
 * The client of a worker thread. The worker runs the requests one after another, in the order of
 * the calls.
 */
export class WorkerConnection {
  readonly #worker: Worker;
  /**
   * At most a few requests. A Map would keep removed entries alive for the young garbage
   * collections: without such chains the gateway's survivors fell from 42 to 4 % (docs/adr/0015).
   */
  readonly #pending: PendingRequest[] = [];
  #lastId = 0;
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (response: WorkerResponse) => {
      const pending = this.#take(response.id);
      if ("failure" in response) pending?.reject(errorOf(response.failure));
      else pending?.resolve(response);
    });
    worker.on("error", (error) => {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    });
    worker.on("exit", () => {
      this.#end(new Error("the worker thread of the database has ended"));
    });
  }

  /**
   * Starts the worker and waits until it has opened the file. Rejects with the error of the worker.
   */
  static async open(files: WorkerFiles): Promise<WorkerConnection> {
    const worker = new Worker(SQLITE_WORKER, { workerData: files });
    const [{ failure }] = (await once(worker, "message")) as [WorkerOpened];
    if (failure !== undefined) throw errorOf(failure);
    return new WorkerConnection(worker);
  }

  get isUsable(): boolean {
    return this.#ended === undefined;
  }

  /** Rejects with the error of the worker. */
  request(request: DistributiveOmit<WorkerRequest, "id">): Promise<WorkerResult> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#pending.push({ id, resolve, reject });
      this.#worker.postMessage({ id, ...request } satisfies WorkerRequest);
    });
  }

  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = once(this.#worker, "exit");
    this.#worker.postMessage("close");
    await exited;
  }

  #take(id: number): PendingRequest | undefined {
    const index = this.#pending.findIndex((pending) => pending.id === id);
    return index === -1 ? undefined : this.#pending.splice(index, 1)[0];
  }

  #end(reason: Error): void {
    this.#ended ??= reason;
    for (const { reject } of this.#pending.splice(0)) reject(this.#ended);
  }
}

export type WorkerResult = Exclude<WorkerResponse, { failure: WorkerFailure }>;

interface PendingRequest {
  readonly id: number;
  readonly resolve: (result: WorkerResult) => void;
  readonly reject: (reason: Error) => void;
}

// Omit alone would merge the members of a union into one type.
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never;

export function errorOf({ message, stack, code, kind }: WorkerFailure): Error {
  const error = Object.assign(new Error(message), { code, ...(stack === undefined ? {} : { stack }) });
  return kind === undefined ? error : new StoreError(kind, error);
}
