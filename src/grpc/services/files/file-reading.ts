import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { Turns } from "../../../../runtime/turns.js";
import type { RailReceipt } from "../../../domain/payment.js";
import type { ReadPayoutFile } from "../../../payouts/read-payout-file.js";
import type { ListedEntry } from "../../../payouts/read-payout-list.js";
import type { BankReport } from "../../../reconcile/banks/pain002.js";
import type { BankFile } from "../../../reconcile/banks/read-bank-file.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import type { StatementCharge, StatementFacts } from "../../../reconcile/statement-movements.js";
import type { InTurn } from "../../../statements/ports.js";
import type { AnyFile, BankStatementFile, RailStatement, ReadPart } from "./file-worker.js";

/** The bundle keeps the worker in the folder of this module, too (deploy/bundle.mjs). */
const FILE_WORKER = new URL("./file-worker.js", import.meta.url);
/** Beside the file and what it unpacks to, which are no part of the heap. */
const HEAP_MEGABYTES_MAX = 768;
/** Processor time, so that a busy machine refuses no file for what others do. */
const READ_MILLIS_MAX = 20_000;
const LOOK_MILLIS = 250;
/** One file is read at a time, and a few wait, each with its bytes. */
const TURNS = { runningMax: 1, waitingMax: 8, failsAll: () => false };

export interface ReadOptions {
  readonly inTurn: InTurn;
  readonly millisMax?: number;
}

/** The facts as the thread sends them, whose lists are arrays. */
interface ListedFacts extends Omit<StatementFacts, "charges"> {
  readonly charges: readonly (readonly [RailReceipt, StatementCharge])[];
}

/**
 * Reads statements in a thread of their own, one after another, with a rest after each. A command
 * reads its files so, too: what a bank or a merchant sends can take hours and gigabytes.
 */
export class FileReading {
  readonly #turns = new Turns<string>(TURNS);

  /**
   * Reads the statement of a rail, whose `bytes` no other thread has from then on. Takes each slice
   * of rows at a turn of `inTurn`: to receive one costs the event loop as much as to look at them.
   * Undefined: too many files wait.
   *
   * Rejects with a StatementError for a file that is no statement or breaks a bound.
   */
  ofRail(person: string, statement: RailStatement, options: ReadOptions): Promise<StatementFacts> | undefined {
    const reading = this.#read<ListedFacts>(person, statement, options);
    return reading?.then(({ charges, ...facts }) => ({ ...facts, charges: new Map(charges) }));
  }

  /** Reads the file of a bank in the same way. */
  ofBank(person: string, statement: BankStatementFile, options: ReadOptions): Promise<BankFile> | undefined {
    return this.#read<BankFile>(person, statement, options);
  }

  /** Reads a file of payouts in the same way. */
  ofPayouts(person: string, bytes: Uint8Array, options: ReadOptions): Promise<ReadPayoutFile> | undefined {
    return this.#read<ReadPayoutFile>(person, { payouts: true, bytes }, options);
  }

  /** Reads what a bank says of a file in the same way. */
  ofReport(person: string, bytes: Uint8Array, options: ReadOptions): Promise<BankReport> | undefined {
    return this.#read<BankReport>(person, { report: true, bytes }, options);
  }

  /** Reads a list of payouts that are held in the same way. */
  async ofPayoutList(
    person: string,
    bytes: Uint8Array,
    options: ReadOptions,
  ): Promise<readonly ListedEntry[] | undefined> {
    const read = this.#read<{ readonly entries: readonly ListedEntry[] }>(person, { payoutList: true, bytes }, options);
    return (await read)?.entries;
  }

  #read<Facts>(
    person: string,
    statement: AnyFile,
    { inTurn, millisMax = READ_MILLIS_MAX }: ReadOptions,
  ): Promise<Facts> | undefined {
    const { promise, resolve, reject } = Promise.withResolvers<Facts>();
    const work = async (): Promise<void> => {
      const begun = performance.now();
      const busy = { millis: 0 };
      await readInThread<Facts>(statement, {
        inTurn,
        millisMax,
        onParsed: () => (busy.millis = performance.now() - begun),
      }).then(resolve, reject);
      // The processor is for others as long as the file had it. On a busy machine it took longer.
      const millis = busy.millis === 0 ? performance.now() - begun : busy.millis;
      await sleep(Math.min(millis, millisMax), undefined, { ref: false });
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

async function readInThread<Facts>(statement: AnyFile, { inTurn, millisMax, onParsed }: ThreadOptions): Promise<Facts> {
  const worker = new Worker(FILE_WORKER, {
    workerData: statement,
    transferList: [statement.bytes.buffer as ArrayBuffer],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES_MAX },
  });
  const thread = partsOf(worker, adviceOf(statement));
  const looks = setInterval(() => {
    // Rejects once the thread has ended, which the reading then says.
    void worker.cpuUsage().then(
      ({ user, system }) => {
        if ((user + system) / 1_000 < millisMax) return;
        thread.fail(new StatementError(slowness(statement)));
      },
      () => undefined,
    );
  }, LOOK_MILLIS);
  try {
    const lists: Record<string, unknown[]> = {};
    let part = await thread.next();
    clearInterval(looks);
    onParsed();
    for (;;) {
      if ("problem" in part) throw new StatementError(part.problem);
      if ("end" in part) return { ...part.end, ...lists } as Facts;
      (lists[part.list] ??= []).push(...part.items);
      part = await inTurn(async () => {
        const result = await thread.next();
        return { result, lookedAt: "items" in result ? result.items.length : 1 };
      });
    }
  } finally {
    clearInterval(looks);
    await worker.terminate();
  }
}

/** Why a file takes too long, and what to change. */
function slowness(statement: AnyFile): string {
  if (!("form" in statement) || statement.form.referencePattern === undefined) {
    return `It takes too long to read. ${adviceOf(statement)}`;
  }
  return (
    "It takes too long to read with this form.reference_pattern, which may try too many ways to match. " +
    "Write it without a repetition inside another one, such as FT[0-9A-Z]+, or export fewer days."
  );
}

/** How a file becomes smaller. */
function adviceOf(statement: AnyFile): string {
  if ("payouts" in statement) return "Split it.";
  if ("payoutList" in statement) return "Save it as CSV.";
  return "report" in statement ? "Ask the bank for a smaller one." : "Export fewer days.";
}

/** Asks the thread for one part after another. */
function partsOf(worker: Worker, advice: string): { next(): Promise<ReadPart>; fail(error: Error): void } {
  let waiting = Promise.withResolvers<ReadPart>();
  const fail = (error: Error): void => {
    waiting.reject(error);
  };
  worker.on("message", (part: ReadPart) => {
    waiting.resolve(part);
  });
  worker.on("error", (error: Error & { readonly code?: string }) => {
    const isFull = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    fail(isFull ? new StatementError(`It needs too much memory to read. ${advice}`) : error);
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
