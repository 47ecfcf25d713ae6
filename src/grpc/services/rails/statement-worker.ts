import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

import { slicesOf } from "../../../../runtime/slices.js";
import type { RailReceipt } from "../../../domain/payment.js";
import { railNamed } from "../../../rails/rails.js";
import type { StatementFile, StatementRow } from "../../../rails/statement.js";
import { recordsIn } from "../../../reconcile/files/tables.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import {
  readStatement,
  SLICE_ROWS,
  type StatementCharge,
  type StatementFacts,
} from "../../../reconcile/statement-movements.js";

/** A file, and the account that it should be of. */
export interface StatementToRead extends StatementFile {
  readonly rail: string;
  readonly bytes: Uint8Array;
}

/** What the thread sends at each request for more. The last two end it. */
export type ReadPart =
  | { readonly rows: readonly StatementRow[] }
  | { readonly charges: readonly (readonly [RailReceipt, StatementCharge])[] }
  | { readonly end: Omit<StatementFacts, "rows" | "charges"> }
  | { readonly problem: string };

/** A tenth of a core that mints want, too. On Linux a thread has a priority of its own. */
const PRIORITY = 10;

/** Reads the whole file, and then makes the parts of what it says. */
async function* read({ rail, bytes, ...file }: StatementToRead): AsyncGenerator<ReadPart, void, void> {
  const format = railNamed(rail)?.statement;
  if (format === undefined) throw new Error(`the rail ${rail} has no statements`);
  try {
    const facts = await readStatement({ ...file, format, records: () => recordsIn(Buffer.from(bytes.buffer), format) });
    for (const rows of slicesOf(facts.rows, SLICE_ROWS)) yield { rows };
    for (const charges of slicesOf([...facts.charges], SLICE_ROWS)) yield { charges };
    const { notCompleted, period, doubts } = facts;
    yield { end: { notCompleted, period, doubts } };
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    yield { problem: error.message };
  }
}

if (process.platform === "linux") setPriority(PRIORITY);
const parts = read(workerData as StatementToRead);
parentPort?.on("message", () => {
  void parts.next().then(({ value }) => {
    parentPort?.postMessage(value);
  });
});
