import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { OperatorError } from "../../startup/operator-error.js";
import type { DatabaseAddress } from "../../storage/database.js";
import type { Diagnosed } from "../../storage/diagnosis/diagnosed.js";
import { missingFrom } from "../../storage/master-keys.js";
import { type Manifest, readManifest } from "../backup/manifest.js";
import { checkNamed, type CheckResult, type DoctorFinding, hoursOf } from "./finding.js";
import { openMasterKeys } from "./keys.js";

const { fail, ok, warn } = checkNamed("backup");
const HOUR_MILLIS = 3_600_000;
// A daily backup that takes its time.
const AGE_MILLIS_MAX = 26 * HOUR_MILLIS;

interface BackupOptions {
  /** The folder with the backups; undefined if the operator named none. */
  readonly folder: string | undefined;
  readonly now: number;
  /** Whether the master key file has the keys of the database. Otherwise that was said already. */
  readonly hasMasterKeys: boolean;
}

/**
 * Checks the age of the newest backup in a folder, its length, and that the master key file opens
 * it. Nothing notes in the database that a backup was made, so without a folder nothing is known.
 */
export function checkBackups(address: DatabaseAddress, { folder, now, hasMasterKeys }: BackupOptions): CheckResult {
  if (address.engine === "postgres") return [];
  if (folder === undefined) {
    return warn("Nothing here knows when the last backup was made.", "Name their folder: kesc doctor --backups FOLDER");
  }
  const newest = newestOf(folder);
  if (newest === undefined) {
    return fail(`${folder} has no backup with a readable manifest.`, `Make one: kesc backup ${folder}/NAME`);
  }
  const { file, manifest } = newest;
  const age = now - Date.parse(manifest.createdAt);
  const words = `The newest backup ${file} is of ${manifest.createdAt}, ${hoursOf(age)} ago.`;
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  if (bytes !== manifest.bytes) {
    const found =
      bytes === undefined ? "is missing" : `has ${String(bytes)} bytes in place of ${String(manifest.bytes)}`;
    return fail(`${file} ${found}, as its manifest shows.`, "Take another copy of it, and make a new backup.");
  }
  return [
    age > AGE_MILLIS_MAX
      ? warn(words, "A loss costs all that came since. Make one each hour: kesc backup FILE")
      : ok(words),
    ...(hasMasterKeys ? checkKeysOf(manifest, file, address.masterKeyFile) : []),
  ];
}

function checkKeysOf({ masterKeyIds }: Manifest, file: string, masterKeyFile: string): readonly DoctorFinding[] {
  const opened = openMasterKeys(masterKeyFile);
  const missing = "finding" in opened ? [] : missingFrom(opened.keys, masterKeyIds);
  if (missing.length === 0) return [];
  return [
    warn(
      `The master key file lacks the keys ${missing.join(", ")}, which the backup ${file} needs.`,
      "Keep the copy of the key file from that time until the backup is deleted.",
    ),
  ];
}

interface FoundBackup {
  readonly file: string;
  readonly manifest: Manifest;
}

function newestOf(folder: string): FoundBackup | undefined {
  const names = namesIn(folder).filter((name) => name.endsWith(".json"));
  const found = names.flatMap((name): readonly FoundBackup[] => {
    const file = join(folder, name.slice(0, -".json".length));
    try {
      return [{ file, manifest: readManifest(file) }];
    } catch (error) {
      if (error instanceof OperatorError) return [];
      throw error;
    }
  });
  return found.sort((left, right) => Date.parse(right.manifest.createdAt) - Date.parse(left.manifest.createdAt))[0];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Checks the archive of PostgreSQL's log, the only trace of its backups that can be seen. */
export function checkArchive({ archive }: Diagnosed, now: number): CheckResult {
  if (archive === undefined) return [];
  const { isOn, archivedAt, failedAt } = archive;
  const see = 'See "Back up and restore PostgreSQL" in docs/run.md.';
  if (!isOn) {
    return warn(
      "archive_mode is off, so PostgreSQL keeps no archive of its log. Whether there are other backups cannot be seen from here.",
      see,
    );
  }
  if (failedAt !== undefined) {
    return fail(
      `Archiving PostgreSQL's log failed at ${new Date(failedAt).toISOString()}.`,
      `Read PostgreSQL's log. ${see}`,
    );
  }
  if (archivedAt === undefined) return warn("PostgreSQL has archived no part of its log yet.", see);
  return ok(
    `PostgreSQL archived its log ${hoursOf(now - archivedAt)} ago. The age of its base backup cannot be seen from here.`,
  );
}
