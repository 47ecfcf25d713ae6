import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { stat } from "node:fs/promises";

import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { OperatorError } from "../../startup/operator-error.js";
import { printJson, printLine } from "../commands/output.js";
import { type GoodRow, readRows } from "./csv-rows.js";
import { connectTo } from "./import-stream.js";
import { progressOn } from "./progress.js";
import { sendRows, type Totals } from "./send-rows.js";

interface Options {
  readonly address?: string;
  readonly rejects?: string;
  readonly json?: true;
}

const FORMAT = `
The file's first line names its columns: type (mint or redeem), account_id, amount, reference, and if you like
description and metadata.KEY, one for each key. All lines are checked before the first is sent.

The key is read from KESC_API_KEY. Run it twice, or again after it was cut: the references see to it that each line is
done once.`;

/** `kesc import`: mints and redeems what a CSV file says, over gRPC. */
export function addImport(program: Command): void {
  program
    .command("import")
    .description("mint and redeem what a CSV file says; safe to run again")
    .argument("<file>", "a CSV file with a header line")
    .option("--address <address>", "where the server is: host:port or unix:/path (default: KESC_GRPC_ADDRESS)")
    .option("--rejects <file>", "write the lines that are refused to this file, with the header")
    .option("--json", "print JSON, for scripts")
    .addHelpText("after", FORMAT)
    .action(importFile);
}

async function importFile(file: string, { address, rejects, json }: Options): Promise<void> {
  const key = process.env["KESC_API_KEY"] ?? "";
  if (key === "") throw new OperatorError("KESC_API_KEY is not set: it must hold the key to call with.", 2);
  const { grpcAddress } = configFromEnvironment();

  const { header, rows } = await checkedFile(file);
  const rejected = rejects === undefined ? undefined : await openRejects(rejects, { header, imported: file });
  const client = connectTo(address ?? grpcAddress);
  const progress = progressOn(process.stderr, rows);
  let totals: Totals;
  try {
    totals = await sendRows(goodRows(file), {
      client,
      key,
      onRefused: (row, words) => {
        progress.clear();
        process.stderr.write(`${file}:${String(row.line)}: ${words}\n`);
        rejected?.write(`${row.text}\n`);
      },
      onProgress: (now) => {
        progress.show(now);
      },
    });
  } finally {
    progress.clear();
    client.close();
    rejected?.end();
  }

  if (json === true) printJson({ lines: rows, ...totals });
  else printLine(`${count(rows)} lines: ${count(totals.created)} new, ${count(totals.replayed)} there already.`);
  if (totals.refused > 0)
    throw new OperatorError(`${count(totals.refused)} lines were refused; nothing of them was done.`);
}

/**
 * Reads the whole file, and names each line that is not right. Throws an OperatorError when there
 * is one.
 */
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
      process.stderr.write(`${file}:${String(read.line)}: ${field} ${message}\n`);
    }
  }
  if (bad > 0) throw new OperatorError(`${count(bad)} of ${count(rows)} lines are not right: nothing was sent.`);
  return { header, rows };
}

async function* goodRows(file: string): AsyncGenerator<GoodRow> {
  for await (const read of readRowsOf(file)) {
    if ("header" in read) continue;
    if (read.kind === "bad")
      throw new OperatorError(`${file} has changed while it was imported. See to it and run this again.`);
    yield read;
  }
}

async function* readRowsOf(file: string): ReturnType<typeof readRows> {
  try {
    yield* readRows(file);
  } catch (error) {
    throw error instanceof OperatorError ? new OperatorError(`${file}: ${error.message}`, 1, { cause: error }) : error;
  }
}

async function openRejects(
  file: string,
  { header, imported }: { header: string; imported: string },
): Promise<WriteStream> {
  if (await areOneFile(file, imported))
    throw new OperatorError(`${file} is the file to import: name another for --rejects.`, 2);
  const unwritable = (error: Error): OperatorError => new OperatorError(`${file} can't be written: ${error.message}.`);
  const stream = createWriteStream(file, { mode: 0o600 });
  await once(stream, "open").catch((error: unknown) => {
    throw error instanceof Error ? unwritable(error) : error;
  });
  stream.on("error", (error) => {
    process.stderr.write(`${unwritable(error).message}\n`);
  });
  stream.write(`${header}\n`);
  return stream;
}

/** Whether both names lead to the same file: opening the one would empty the other. */
async function areOneFile(left: string, right: string): Promise<boolean> {
  const [one, other] = await Promise.all([left, right].map((file) => stat(file).catch(() => undefined)));
  return one !== undefined && one.dev === other?.dev && one.ino === other.ino;
}

function count(lines: number): string {
  return lines.toLocaleString("en");
}
