import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { finished } from "node:stream/promises";

import type { Command } from "commander";

import { apiKeyFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { printJson, printLine } from "../commands/output.js";
import { apiServer } from "../connection.js";
import { count } from "../terminal.js";
import { type GoodRow, readRows } from "./csv-rows.js";
import { Interruption } from "./interruption.js";
import { progressOn } from "./progress.js";
import { type ImportTotals, sendRows, settledOf } from "./send-rows.js";

interface ImportOptions {
  readonly address?: string;
  readonly rejects?: string;
  readonly json?: true;
}

const FORMAT = `
The first line of the file names the columns. Required: type (mint or redeem), account_id, amount, reference.
Optional: description, rail (direct if it is empty), destination_id, receipt.source, receipt.number, and metadata.KEY for
each key of the metadata. The command checks all lines before it sends one.

Set KESC_API_KEY to the API key of your organization, or KESC_API_KEY_FILE to a file that holds it. You may run the
command again at any time, for example after an interruption: the references ensure that each line is done once.`;

/** `kesc import`: mints and redeems the lines of a CSV file over gRPC. */
export function addImport(program: Command): void {
  program
    .command("import")
    .description("mint and redeem the lines of a CSV file; safe to run again")
    .argument("<file>", "a CSV file with a header line")
    .option("--address <address>", "address of the server: host:port or unix:/path (default: KESC_GRPC_ADDRESS)")
    .option("--rejects <file>", "write the header and the refused lines to this file")
    .option("--json", "print JSON, for scripts")
    .addHelpText("after", FORMAT)
    .action(importFile);
}

async function importFile(file: string, options: ImportOptions): Promise<void> {
  const interruption = new Interruption();
  try {
    await importRows(file, { ...options, interruption });
  } finally {
    interruption.remove();
  }
}

async function importRows(
  file: string,
  { address, rejects, json, interruption }: ImportOptions & { readonly interruption: Interruption },
): Promise<void> {
  const key = apiKeyFromEnvironment();
  if (key === undefined) throw new UsageError("KESC_API_KEY is not set. Set it to the API key of your organization.");
  const { connect } = apiServer(address);
  const { header, rows } = await checkedFile(file);
  let settled = 0;
  const soFar = (): string =>
    `${count(settled)} of ${count(rows)} lines have a result, and others may be done, too. ` +
    "Run the command again: it does no line twice.";
  interruption.words = `Interrupted: ${soFar()}`;
  const rejected = rejects === undefined ? undefined : await openRejects(rejects, { header, imported: file });
  interruption.rejects = rejected;
  const client = connect();
  const progress = progressOn(invocation().stderr, rows);
  let totals: ImportTotals;
  try {
    totals = await sendRows(goodRows(file), {
      client,
      key,
      onRefused: (row, words) => {
        progress.clear();
        invocation().stderr.write(`${file}:${String(row.line)}: ${words}\n`);
        rejected?.write(`${row.text}\n`);
      },
      onProgress: (now) => {
        settled = settledOf(now);
        interruption.words = `Interrupted: ${soFar()}`;
        progress.show(now);
      },
    });
  } catch (error) {
    if (!(error instanceof OperatorError) || !mayBeHalf(error, settled)) throw error;
    throw new OperatorError(`${error.message} ${soFar()}`, { cause: error });
  } finally {
    progress.clear();
    client.close();
    // Its listener for errors has reported one.
    if (rejected !== undefined) await finished(rejected.end()).catch(() => undefined);
  }

  if (json === true) printJson({ lines: rows, ...totals });
  else printLine(`${count(rows)} lines: ${count(totals.created)} new, ${count(totals.replayed)} done before.`);
  if (totals.refused > 0)
    throw new OperatorError(`Refused lines: ${count(totals.refused)}. Nothing was done for them.`);
}

/** Whether lines may be done. A server that refuses the call itself has done none. */
function mayBeHalf({ cause }: OperatorError, settled: number): boolean {
  return settled > 0 || cause === undefined;
}

/** Reads the whole file and prints each invalid line. Throws an OperatorError if there is one. */
async function checkedFile(file: string): Promise<{ header: string; rows: number }> {
  let header = "";
  let rows = 0;
  let bad = 0;
  for await (const read of readRowsOf(file)) {
    if ("header" in read) {
      header = read.header;
      continue;
    }
    rows += 1;
    if (read.kind === "good") continue;
    bad += 1;
    for (const { field, message } of read.problems) {
      invocation().stderr.write(`${file}:${String(read.line)}: ${field} ${message}\n`);
    }
  }
  if (bad > 0) throw new OperatorError(`${count(bad)} of ${count(rows)} lines are invalid. Nothing was sent.`);
  return { header, rows };
}

async function* goodRows(file: string): AsyncGenerator<GoodRow> {
  for await (const read of readRowsOf(file)) {
    if ("header" in read) continue;
    if (read.kind === "bad") throw new OperatorError(`${file} changed during the import.`);
    yield read;
  }
}

async function* readRowsOf(file: string): ReturnType<typeof readRows> {
  try {
    yield* readRows(file);
  } catch (error) {
    throw error instanceof OperatorError ? new OperatorError(`${file}: ${error.message}`, { cause: error }) : error;
  }
}

async function openRejects(
  file: string,
  { header, imported }: { header: string; imported: string },
): Promise<WriteStream> {
  if (await areOneFile(file, imported))
    throw new UsageError(`--rejects names the file to import, ${file}. Name another file.`);
  const unwritable = (error: Error): OperatorError => new OperatorError(`${file} cannot be written: ${error.message}.`);
  const stream = createWriteStream(file, { mode: 0o600 });
  await once(stream, "open").catch((error: unknown) => {
    throw error instanceof Error ? unwritable(error) : error;
  });
  stream.on("error", (error) => {
    invocation().stderr.write(`${unwritable(error).message}\n`);
  });
  stream.write(`${header}\n`);
  return stream;
}

/**
 * Returns whether both names refer to the same file. Opening that file for the rejects would empty
 * it.
 */
async function areOneFile(left: string, right: string): Promise<boolean> {
  const [one, other] = await Promise.all([left, right].map((file) => stat(file).catch(() => undefined)));
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}
