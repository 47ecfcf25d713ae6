import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { now } from "../../startup/clock.js";
import { reasonOf } from "../../startup/failure-facts.js";
import { usingMasterKeyFile } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { openSqliteCopy, type SqliteCopy } from "../../storage/backup.js";
import { type BookSummary, listBooks } from "../../storage/books.js";
import { openDatabase } from "../../storage/database.js";
import { missingFrom, neededMasterKeys } from "../../storage/master-keys.js";
import { migrationState } from "../../storage/migrate.js";
import { markRestored } from "../../storage/restores.js";
import { type MasterKey, MasterKeyError, readMasterKeys } from "../../storage/secrets/master-key.js";
import { refuseForeignFile } from "../../storage/sqlite/file.js";
import { formatHeads } from "../../verify/heads.js";
import { type Verification, verify } from "../../verify/verify.js";
import { findingLines } from "../commands/verify.js";
import type { SqliteAddress } from "./backup.js";
import { type Manifest, manifestNameOf, readManifest } from "./manifest.js";
import { digestOf, NewFile } from "./new-file.js";

const OWNER_ONLY_FOLDER = 0o700;

/** A database that was made from a backup. */
export interface Restored {
  /** Undefined if the backup had none. */
  readonly manifest: Manifest | undefined;
  readonly books: readonly BookSummary[];
  readonly verification: Verification;
}

/**
 * Makes the database of `address` from a backup. Checks the backup against its manifest, sets its
 * books to RESTORED, lets keys and persons wait, and verifies the books. The database gets its name
 * at the end.
 *
 * Throws an OperatorError if the database exists, if the backup is not whole, or if its books are
 * wrong. Then the database does not exist.
 */
export function restoreBackup(
  address: SqliteAddress,
  filename: string,
  options: RestoreOptions = { withoutManifest: false },
): Promise<Restored> {
  return usingMasterKeyFile(address, () => restore(address, filename, options));
}

export interface RestoreOptions {
  /** Restores a copy that has no manifest. */
  readonly withoutManifest: boolean;
}

async function restore(
  address: SqliteAddress,
  filename: string,
  { withoutManifest }: RestoreOptions,
): Promise<Restored> {
  const file = resolve(filename);
  const target = resolve(address.filename);
  refuseDatabase(target);
  refuseOtherFile(file);
  const manifest = withoutManifest ? undefined : readManifest(file);
  if (manifest !== undefined) {
    refuseOtherBytes(file, manifest, { bytes: statSync(file).size });
    refuseMissingKeys(address, manifest.masterKeyIds);
  }
  mkdirSync(dirname(target), { recursive: true, mode: OWNER_ONLY_FOLDER });
  const copy = NewFile.create(target);
  try {
    const digest = digestOf(file, { target: copy.part });
    if (manifest !== undefined) refuseOtherBytes(file, manifest, digest);
    await refuseUnusable(copy.part, address);
    const restored = await markedAndVerified({ ...address, filename: copy.part }, manifest);
    if (existsSync(`${copy.part}-wal`)) throw new Error(`another program has opened ${copy.part}`);
    copy.publish();
    return restored;
  } catch (error) {
    throw error instanceof OperatorError || error instanceof MasterKeyError ? error : restoringError(file, error);
  } finally {
    copy.remove();
  }
}

/** Opening the restored database later would otherwise read the log of another database. */
function refuseDatabase(target: string): void {
  const found = ["", "-wal", "-shm"].map((ending) => `${target}${ending}`).filter((name) => existsSync(name));
  if (found.length === 0) return;
  throw new OperatorError(
    `${found.join(" and ")} of DATABASE_URL exist${found.length === 1 ? "s" : ""}, and nothing is overwritten. ` +
      "Stop the servers and move these files away together, or set DATABASE_URL to another file.",
  );
}

function refuseOtherFile(file: string): void {
  if (!existsSync(file)) throw new OperatorError(`There is no file ${file}.`);
  const log = `${file}-wal`;
  if (existsSync(log) && statSync(log).size > 0) {
    throw new OperatorError(
      `${log} exists: a program has opened ${file} and changed it, or it was copied beside its log. Take another copy.`,
    );
  }
  try {
    refuseForeignFile(file);
  } catch (error) {
    throw restoringError(file, error);
  }
}

function restoringError(file: string, error: unknown): OperatorError {
  return new OperatorError(`${file} cannot be restored: ${reasonOf(error)}. Nothing was restored.`, { cause: error });
}

function refuseOtherBytes(file: string, manifest: Manifest, found: { bytes: number; sha256?: string }): void {
  const facts = [
    ["bytes", manifest.bytes, found.bytes],
    ["SHA-256", manifest.sha256, found.sha256 ?? manifest.sha256],
  ] as const;
  const [wrong] = facts.filter(([, expected, actual]) => expected !== actual);
  if (wrong === undefined) return;
  const [what, expected, actual] = wrong;
  throw new OperatorError(
    `${file} is not the file that its manifest ${manifestNameOf(file)} describes: ${what} ${String(expected)} expected, ` +
      `${String(actual)} found. It is damaged, or a program opened it for writing. Take another copy. Nothing was restored.`,
  );
}

function refuseMissingKeys({ masterKeyFile }: SqliteAddress, ids: Iterable<string>): void {
  const missing = missingFrom(keysOrNone(masterKeyFile), ids);
  if (missing.length === 0) return;
  throw new OperatorError(
    `The master key file ${masterKeyFile} lacks the keys ${missing.join(", ")}, which the backup needs. ` +
      "Find the copy of the master key file from the time of the backup: add its lines to this file, or set " +
      "KESC_MASTER_KEY_FILE to it (docs/run.md). Nothing was restored.",
  );
}

function keysOrNone(masterKeyFile: string): readonly MasterKey[] {
  try {
    return readMasterKeys(masterKeyFile);
  } catch (error) {
    if (error instanceof MasterKeyError && error.isMissing) return [];
    throw error;
  }
}

/** Refuses a copy of another version's schema, or one whose master keys are missing. */
async function refuseUnusable(part: string, address: SqliteAddress): Promise<void> {
  const copy = openSqliteCopy(part, address.masterKeyFile);
  try {
    await refuseOtherSchema(copy);
    refuseMissingKeys(address, await neededMasterKeys(copy));
  } finally {
    await copy.close();
  }
}

async function refuseOtherSchema({ cells: [cell] }: SqliteCopy): Promise<void> {
  const { pending, unknown } = await migrationState(cell);
  if (pending.length === 0 && unknown.length === 0) return;
  const differs =
    pending.length > 0 ? `lacks the migrations ${pending.join(", ")}` : `has the migrations ${unknown.join(", ")}`;
  throw new OperatorError(
    `The backup ${differs}: another version of kesc made it. Restore it with that version, which the manifest names. ` +
      "Then run kesc migrate with this version. Nothing was restored.",
  );
}

function wrongBooksError(verification: Verification): OperatorError {
  return new OperatorError(
    [
      "The books of the backup are NOT correct. Take another backup. Nothing was restored.",
      ...findingLines(verification),
    ].join("\n"),
  );
}

/** Closing the database copies its log into the file, and removes the log. */
async function markedAndVerified(address: SqliteAddress, manifest: Manifest | undefined): Promise<Restored> {
  const database = await openDatabase(address);
  try {
    await markRestored(database, now());
    const verification = await verify(database, { notedHeads: manifest?.heads });
    if (verification.findingsCount > 0) throw wrongBooksError(verification);
    const ends = formatHeads(verification.coverage.heads);
    if (manifest !== undefined && ends !== formatHeads(manifest.heads.values())) {
      throw new OperatorError("The books do not end where the manifest says. Take another copy. Nothing was restored.");
    }
    return { manifest, verification, books: await listBooks(database) };
  } finally {
    await database.close();
  }
}
