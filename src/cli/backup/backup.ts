import { rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { resolve } from "node:path";

import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { reasonOf } from "../../startup/failure-facts.js";
import { invocation, lowerPriority } from "../../startup/invocation.js";
import { isDamage, withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import { version } from "../../startup/version.js";
import { copySqliteInto, type LogBytes, openSqliteCopy } from "../../storage/backup.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { neededMasterKeys } from "../../storage/master-keys.js";
import { type Verification, verify } from "../../verify/verify.js";
import { printJson, printLine, timeOf } from "../commands/output.js";
import { findingLines } from "../commands/verify.js";
import { jobMetrics, METRICS_FILE, writeMetricsFile } from "../metrics-file.js";
import { ProgressLine } from "../terminal.js";
import { type Manifest, manifestJson, manifestNameOf } from "./manifest.js";
import { digestOf, NewFile, refuseExisting } from "./new-file.js";

/** The address of an SQLite file. */
export type SqliteAddress = DatabaseAddress & { readonly engine: "sqlite" };

/** `kesc backup`: copies an SQLite database. Servers may run meanwhile. */
export function addBackup(program: Command): void {
  program
    .command("backup")
    .description("copy an SQLite database into a new file, verified, while servers run")
    .argument("<file>", "name of the backup; its manifest gets the same name with .json")
    .option(...METRICS_FILE)
    .option("--json", "print JSON, for scripts")
    .action(async (file: string, { json, metricsFile }: { json?: true; metricsFile?: string }) => {
      const { database: address } = configFromEnvironment();
      if (address.engine !== "sqlite") {
        throw new UsageError(
          "kesc backup is for SQLite. PostgreSQL has its own tools for backups: " +
            'see "Back up and restore PostgreSQL" in docs/run.md.',
        );
      }
      // The audit takes long. The calls of the servers come first.
      const progress = new ProgressLine(invocation().stderr, { isWanted: json !== true });
      const made = await backUp(address, file, { onCopied: yieldToServers, progress }).finally(() => {
        progress.clear();
      });
      if (metricsFile !== undefined) writeMetricsFile(metricsFile, jobMetrics("backup", now()));
      if (json === true) printJson(jsonOf(made));
      else for (const line of linesOf(made, address)) printLine(line);
    });
}

/** A backup that was made. */
export interface Backup {
  readonly file: string;
  readonly manifestFile: string;
  readonly manifest: Manifest;
  readonly logBytes: LogBytes;
}

/**
 * Copies the database into a new file, verifies the copy, and writes its manifest. Both files get
 * their names at the end, the backup last.
 *
 * Throws an OperatorError if a file exists, if it cannot be written, or if the books of the copy
 * are wrong. Then neither file exists.
 */
export async function backUp(
  address: SqliteAddress,
  filename: string,
  { onCopied = () => undefined, progress }: { readonly onCopied?: () => void; readonly progress?: ProgressLine } = {},
): Promise<Backup> {
  const file = resolve(filename);
  const manifestFile = manifestNameOf(file);
  for (const name of [file, manifestFile]) refuseExisting(name);
  // The copy is made while this connection is open. As the last to close, it removes the log.
  return withCurrentDatabase(address, async () => {
    const copy = NewFile.create(file);
    try {
      const createdAt = timeOf(now());
      progress?.say(`Copying ${address.filename} …`);
      const logBytes = copySqliteInto(copy.part, address.filename);
      onCopied();
      const digest = digestOf(copy.part);
      const found = await factsOf(copy.part, address.masterKeyFile, progress);
      const manifest: Manifest = { kescVersion: version(), createdAt, ...digest, ...found };
      publish(copy, manifest);
      return { file, manifestFile, manifest, logBytes };
    } catch (error) {
      throw error instanceof OperatorError || isDamage(error) ? error : writingError(file, error);
    } finally {
      copy.remove();
    }
  });
}

function yieldToServers(): void {
  lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

/** Verifies the copy without changing it. Throws an OperatorError if its books are wrong. */
async function factsOf(
  part: string,
  masterKeyFile: string,
  progress: ProgressLine | undefined,
): Promise<Pick<Manifest, "masterKeyIds" | "heads">> {
  const copy = openSqliteCopy(part, masterKeyFile);
  try {
    const verification = await verify(copy, {
      onRows: (read, total) => progress?.show(read, total, " rows verified"),
    });
    if (verification.findingsCount > 0) throw wrongBooksError(verification);
    const heads = new Map(verification.coverage.heads.map((head) => [head.organizationId, head]));
    return { masterKeyIds: [...(await neededMasterKeys(copy))].sort(), heads };
  } finally {
    await copy.close();
  }
}

function wrongBooksError(verification: Verification): OperatorError {
  return new OperatorError(
    [
      "This is not a backup: the books of the copy are NOT correct. The copy was removed.",
      ...findingLines(verification),
      "Keep the earlier backups. To examine the database: kesc verify",
    ].join("\n"),
  );
}

/** The backup comes last: a backup without a manifest looks incomplete. */
function publish(copy: NewFile, manifest: Manifest): void {
  const description = NewFile.create(manifestNameOf(copy.name));
  try {
    writeFileSync(description.part, `${JSON.stringify(manifestJson(manifest), undefined, 2)}\n`);
    description.publish();
    try {
      copy.publish();
    } catch (error) {
      rmSync(description.name, { force: true });
      throw error;
    }
  } finally {
    description.remove();
  }
}

function writingError(file: string, error: unknown): OperatorError {
  return new OperatorError(`${file} was not written: ${reasonOf(error)}. No backup was made.`, { cause: error });
}

function jsonOf({ file, manifestFile, manifest, logBytes }: Backup) {
  return {
    file,
    manifest_file: manifestFile,
    ...manifestJson(manifest),
    log_bytes_before: logBytes.before,
    log_bytes_after: logBytes.after,
  };
}

function linesOf({ file, manifestFile, manifest, logBytes }: Backup, address: SqliteAddress): string[] {
  const { bytes, createdAt, masterKeyIds, heads } = manifest;
  const grown = logBytes.after - logBytes.before;
  return [
    `Backed up ${String(heads.size)} books as of ${createdAt}: ${file}, ${megabytes(bytes)}. The books of the copy are correct.`,
    `Its manifest is ${manifestFile}. Keep both together.`,
    `To restore it, you need the master keys ${masterKeyIds.join(", ") || "of no book"}. ` +
      `Keep a copy of ${address.masterKeyFile}, but not beside the backup.`,
    ...(grown > 0
      ? [`Meanwhile ${address.filename}-wal grew by ${megabytes(grown)}. Servers use this space again.`]
      : []),
  ];
}

const MEGABYTE = 1_000_000;

function megabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`;
}
