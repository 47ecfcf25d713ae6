import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

import { slicesOf } from "../../../../runtime/slices.js";
import type { StatementForm } from "../../../domain/statement-form.js";
import { readPayoutFile } from "../../../payouts/read-payout-file.js";
import { readPayoutList } from "../../../payouts/read-payout-list.js";
import { railNamed } from "../../../rails/rails.js";
import type { StatementFile } from "../../../rails/statement.js";
import { bankReport } from "../../../reconcile/banks/pain002.js";
import { readBankFile } from "../../../reconcile/banks/read-bank-file.js";
import { recordsIn } from "../../../reconcile/files/tables.js";
import { StatementError } from "../../../reconcile/statement-error.js";
import { readStatement, SLICE_ROWS } from "../../../reconcile/statement-movements.js";

/** A file, and the account at a rail that it should be of. */
export interface RailStatement extends StatementFile {
  readonly rail: string;
  readonly bytes: Uint8Array;
}

/** A file of a bank, and how it is read. */
export interface BankStatementFile {
  readonly form: StatementForm;
  readonly bytes: Uint8Array;
}

/** A file of payouts. */
export interface PayoutsFile {
  readonly payouts: true;
  readonly bytes: Uint8Array;
}

/** A list of payouts that are held. */
export interface PayoutListFile {
  readonly payoutList: true;
  readonly bytes: Uint8Array;
}

/** A status report of a bank. */
export interface ReportFile {
  readonly report: true;
  readonly bytes: Uint8Array;
}

/** What the thread sends at each request for more. The last two end it. */
export type ReadPart =
  | { readonly list: string; readonly items: readonly unknown[] }
  | { readonly end: object }
  | { readonly problem: string };

export type AnyFile = RailStatement | BankStatementFile | PayoutsFile | PayoutListFile | ReportFile;

/** A tenth of a core that mints want, too. On Linux a thread has a priority of its own. */
const PRIORITY = 10;
/** A problem may show a text of the file. */
const PROBLEM_CHARACTERS_MAX = 500;

/** Reads the whole file, and then makes the parts of what it says: its lists, and then the rest. */
async function* read(statement: AnyFile): AsyncGenerator<ReadPart, void, void> {
  try {
    const { lists, ...end } = await partsOf(statement);
    for (const [list, all] of Object.entries<readonly unknown[]>(lists)) {
      for (const items of slicesOf(all, SLICE_ROWS)) yield { list, items };
    }
    const empty = Object.fromEntries(Object.keys(lists).map((list) => [list, []]));
    yield { end: { ...empty, ...end } };
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    yield { problem: error.message.slice(0, PROBLEM_CHARACTERS_MAX) };
  }
}

function partsOf(file: AnyFile) {
  if ("payouts" in file) return readPayouts(file);
  if ("report" in file) return readReport(file);
  if ("payoutList" in file) return readList(file);
  return "form" in file ? readBank(file) : readRail(file);
}

async function readPayouts({ bytes }: PayoutsFile) {
  const { rows, sha256 } = await readPayoutFile(Buffer.from(bytes.buffer));
  return { lists: { rows }, sha256 };
}

function readReport({ bytes }: ReportFile) {
  const { payments, ...rest } = bankReport(Buffer.from(bytes.buffer).toString("utf8"));
  return { lists: { payments }, ...rest };
}

async function readList({ bytes }: PayoutListFile) {
  return { lists: { entries: await readPayoutList(Buffer.from(bytes.buffer)) } };
}

async function readRail({ rail, bytes, ...file }: RailStatement) {
  const format = railNamed(rail)?.statement;
  if (format === undefined) throw new Error(`the rail ${rail} has no statements`);
  const facts = await readStatement({ ...file, format, records: () => recordsIn(Buffer.from(bytes.buffer), format) });
  const { rows, charges, ...rest } = facts;
  return { lists: { rows, charges: [...charges] }, ...rest };
}

async function readBank({ form, bytes }: BankStatementFile) {
  const { entries, ...rest } = await readBankFile(Buffer.from(bytes.buffer), form);
  return { lists: { entries }, ...rest };
}

if (process.platform === "linux") setPriority(PRIORITY);
const parts = read(workerData as AnyFile);
parentPort?.on("message", () => {
  void parts.next().then(({ value }) => {
    parentPort?.postMessage(value);
  });
});
