import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { onDatabaseForLong } from "../../startup/open-database.js";
import { UsageError } from "../../startup/operator-error.js";
import { type BookSummary, listBooks } from "../../storage/books.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { markRestored } from "../../storage/restores.js";
import type { NotedHeads } from "../../verify/heads.js";
import { verify } from "../../verify/verify.js";
import { printJson, printLine, timeOf } from "../commands/output.js";
import { notedHeadsIn, verificationJson, verificationLines } from "../commands/verify.js";
import { bookJson } from "./book-json.js";
import { manifestJson } from "./manifest.js";
import { restoreBackup, type Restored } from "./restore-backup.js";

const BROKEN = 1;
/** The books that the output lists. `kesc book list` has the others. */
const BOOKS_SHOWN_MAX = 20;

interface RestoreCommandOptions {
  readonly withoutManifest?: true;
  readonly inPlace?: true;
  readonly heads?: string;
  readonly yes?: true;
  readonly json?: true;
}

/** `kesc restore`: makes a database from a backup. All its books are RESTORED. */
export function addRestore(program: Command): void {
  program
    .command("restore")
    .description("restore a backup into a new SQLite database, or prepare a database that other tools restored")
    .argument("[file]", "the backup of an SQLite database, with its manifest beside it")
    .option("--without-manifest", "restore a copy that has no manifest, if its books are correct")
    .option("--in-place", "set the books of DATABASE_URL to RESTORED, after other tools have restored it")
    .option("--heads <file>", "with --in-place: compare the books with the heads that verify --write-heads noted")
    .option("--yes", "with --in-place: do it; without this option the command only says what it would do")
    .option("--json", "print JSON, for scripts")
    .action(async (file: string | undefined, options: RestoreCommandOptions) => {
      refuseMixed(file, options);
      if (file === undefined) await restoreInPlace(options);
      else await restoreFile(configFromEnvironment().database, file, options);
    });
}

function refuseMixed(file: string | undefined, { inPlace, withoutManifest, heads, yes }: RestoreCommandOptions): void {
  if ((file === undefined) !== (inPlace === true)) {
    const usage = "Give the FILE of a backup, or --in-place for a database that other tools have restored.";
    throw new UsageError(usage);
  }
  if (file === undefined && withoutManifest !== undefined) {
    throw new UsageError("--without-manifest belongs to the FILE of a backup. Leave it out.");
  }
  if (file !== undefined && (heads !== undefined || yes !== undefined)) {
    throw new UsageError("--heads and --yes belong to --in-place. Leave them out.");
  }
}

async function restoreFile(address: DatabaseAddress, file: string, options: RestoreCommandOptions): Promise<void> {
  if (address.engine !== "sqlite") {
    throw new UsageError(
      "kesc restore FILE is for SQLite. Restore PostgreSQL with its own tools, and then run: " +
        'kesc restore --in-place. See "Back up and restore PostgreSQL" in docs/run.md.',
    );
  }
  const restored = await restoreBackup(address, file, { withoutManifest: options.withoutManifest === true });
  if (options.json === true) printJson(jsonOf(restored));
  else {
    const asOf = restored.manifest === undefined ? "" : `, as of ${restored.manifest.createdAt}`;
    printLine(`Restored ${file} into ${address.filename}${asOf}.`);
    for (const line of linesOf(restored)) printLine(line);
  }
}

/** Sets the books to RESTORED first, so that they are even if the audit finds an error. */
async function restoreInPlace({ heads, yes, json }: RestoreCommandOptions): Promise<void> {
  const noted = heads === undefined ? undefined : notedHeadsIn(heads);
  const restored = await onDatabaseForLong(async (database) => {
    if (yes !== true) throw new UsageError(intentOf(await listBooks(database)));
    await markRestored(database, now());
    return { verification: await verify(database, { notedHeads: noted }), books: await listBooks(database) };
  });
  if (json === true) printJson(jsonOf(restored));
  else for (const line of linesOf(restored, noted)) printLine(line);
  if (restored.verification.findingsCount > 0) invocation().exitCode = BROKEN;
}

function intentOf(books: readonly BookSummary[]): string {
  const open = books.filter(({ state }) => state === "OPEN").length;
  return (
    `This would set ${String(open)} of ${String(books.length)} books to RESTORED. They serve reads, and mints and ` +
    "redemptions on direct; other rails begin nothing until kesc book activate opens each book. No key and no person " +
    "would act until kesc confirm-restore, and all sessions would end. Do it after other tools have restored the database. Nothing was done. To do it, add --yes."
  );
}

type Result = Pick<Restored, "books" | "verification"> & Partial<Pick<Restored, "manifest">>;

function jsonOf({ manifest, books, verification }: Result) {
  return {
    manifest: manifest === undefined ? null : manifestJson(manifest),
    books: books.map(bookJson),
    verification: verificationJson(verification),
  };
}

function linesOf({ manifest, books, verification }: Result, noted?: NotedHeads): string[] {
  const shown = books.slice(0, BOOKS_SHOWN_MAX);
  const more = books.length - shown.length;
  return [
    ...verificationLines(verification, manifest?.heads ?? noted),
    "The books, with the last row of each. What happened after that row is missing:",
    ...shown.map(({ organizationId, name, state, lastSeq, lastRecordedAt }) => {
      return `  ${organizationId} ${state}, seq ${String(lastSeq)} of ${timeOf(lastRecordedAt)} ("${name}")`;
    }),
    ...(more > 0 ? [`  and ${String(more)} more: kesc book list`] : []),
    "A RESTORED book serves reads, and mints and redemptions on direct. Other rails begin nothing.",
    "No key and no person acts before a person has seen who acts again, and has confirmed it: kesc confirm-restore",
    "When an organization has reconciled its book (docs/operations.md): kesc book activate ORG --yes",
  ];
}
