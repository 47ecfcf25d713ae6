import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { Turns } from "../../../../runtime/turns.js";
import type { RailReceipt } from "../../../domain/payment.js";
import type { StatementRow } from "../../../rails/statement.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import type { StatementCharge, StatementFacts } from "../../../reconcile/statement-movements.js";
import type { InTurn } from "../../../statements/ports.js";
import type { ReadPart, StatementToRead } from "./statement-worker.js";

/** The bundle keeps the worker in the folder of this module, too (deploy/bundle.mjs). */
const STATEMENT_WORKER = new URL("./statement-worker.js", import.meta.url);
/** Beside the file and what it unpacks to, which are no part of the heap. */
const HEAP_MEGABYTES_MAX = 768;
const READ_MILLIS_MAX = 20_000;
/** One file is read at a time, and a few wait, each with its bytes. */
const TURNS = { runningMax: 1, waitingMax: 8, failsAll: () => false };

/** Reads statements in a thread of their own, one after another, with a rest after each. */
export class StatementReading {
  readonly #turns = new Turns<string>(TURNS);

  /**
   * Reads the file of a person, whose `bytes` no other thread has from then on. Takes each slice of
   * rows at a turn of `inTurn`: to receive one costs the event loop as much as to look at them.
   * Undefined: too many files wait.
   *
   * Rejects with a StatementError for a file that is no statement or breaks a bound.
   */
  read(
    person: string,
    statement: StatementToRead,
    { inTurn, millisMax = READ_MILLIS_MAX }: { readonly inTurn: InTurn; readonly millisMax?: number },
  ): Promise<StatementFacts> | undefined {
    const { promise, resolve, reject } = Promise.withResolvers<StatementFacts>();
    const work = async (): Promise<void> => {
      const begun = performance.now();
      const busy = { millis: 0 };
      await readInThread(statement, {
        inTurn,
        millisMax,
        onParsed: () => (busy.millis = performance.now() - begun),
      }).then(resolve, reject);
      // The processor is for others as long as the file had it.
      await sleep(busy.millis === 0 ? performance.now() - begun : busy.millis, undefined, { ref: false });
    };
    return this.#turns.run(person, work) && promise;
  }
}

interface ThreadOptions {
  readonly inTurn: InTurn;
  readonly millisMax: number;
  /** Called when the file is parsed. */
  readonly onParsed: () => void;
}

async function readInThread(
  statement: StatementToRead,
  { inTurn, millisMax, onParsed }: ThreadOptions,
): Promise<StatementFacts> {
  const worker = new Worker(STATEMENT_WORKER, {
    workerData: statement,
    transferList: [statement.bytes.buffer as ArrayBuffer],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  const thread = partsOf(worker);
  const tooLong = setTimeout(() => {
    thread.fail(new StatementError("It takes too long to read. Export fewer days."));
  }, millisMax);
  try {
    const rows: StatementRow[] = [];
    const charges = new Map<RailReceipt, StatementCharge>();
    let part = await thread.next();
    clearTimeout(tooLong);
    onParsed();
    for (;;) {
      if ("problem" in part) throw new StatementError(part.problem);
      if ("end" in part) return { ...part.end, rows, charges };
      if ("rows" in part) rows.push(...part.rows);
      else for (const [receipt, charge] of part.charges) charges.set(receipt, charge);
      part = await inTurn(async () => {
        const result = await thread.next();
        return { result, lookedAt: "rows" in result ? result.rows.length : 1 };
      });
    }
  } finally {
    clearTimeout(tooLong);
    await worker.terminate();
  }
}

/** Asks the thread for one part after another. */
function partsOf(worker: Worker): { next(): Promise<ReadPart>; fail(error: Error): void } {
  let waiting = Promise.withResolvers<ReadPart>();
  const fail = (error: Error): void => {
    waiting.reject(error);
  };
  worker.on("message", (part: ReadPart) => {
    waiting.resolve(part);
  });
  worker.on("error", (error: Error & { readonly code?: string }) => {
    const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    fail(isFull ? new StatementError("It needs too much memory to read. Export fewer days.") : error);
  });
  return {
    next: () => {
      waiting = Promise.withResolvers();
      worker.postMessage("next");
      return waiting.promise;
    },
    fail,
  };
}
