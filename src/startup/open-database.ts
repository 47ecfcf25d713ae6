import { type Database, type DatabaseAddress, type DatabaseOptions, openDatabase } from "../storage/database.js";
import { missingMasterKeys } from "../storage/master-keys.js";
import { areOfEarlierBuild, EARLIER_BUILD_ADVICE, type MigrationState, migrationState } from "../storage/migrate.js";
import { describePostgres } from "../storage/postgres/address.js";
import { MasterKeyError } from "../storage/secrets/master-key.js";
import { BusyMachineError, ForeignFileError, MissingFileError } from "../storage/sqlite/file.js";
import type { Config } from "./config.js";
import { configFromEnvironment } from "./environment.js";
import { failureFacts, reasonOf } from "./failure-facts.js";
import { OperatorError } from "./operator-error.js";

/** What to do about a file that is not ours, or no longer whole. */
export const RESTORE =
  "Check DATABASE_URL; if the file is the right one, it is damaged: stop the servers, " +
  "move it away with its -wal and -shm files, and restore the last backup: kesc restore FILE (docs/run.md).";

const INSUFFICIENT_PRIVILEGE = "42501";
const OWNER =
  "Use the role that owns the tables. That role can also give another role the rights that a server needs: " +
  "kesc migrate --grant-to ROLE.";

/** Returns what to do if a role of PostgreSQL lacks a right. Returns undefined for other errors. */
export function adviceOnRights(error: unknown): string | undefined {
  const { code, message } = failureFacts(error);
  // Knex drops the code of an error that occurs while it locks the migrations.
  return code === INSUFFICIENT_PRIVILEGE || message?.startsWith("permission denied for ") === true ? OWNER : undefined;
}

/** PgBouncer refuses a connection that sets what it is not told to ignore. */
function adviceOnPooler(error: unknown): string | undefined {
  return failureFacts(error).message?.startsWith("unsupported startup parameter") === true
    ? "PgBouncer needs ignore_startup_parameters = extra_float_digits,statement_timeout,idle_in_transaction_session_timeout (docs/run.md)."
    : undefined;
}

const LOCK_NOT_AVAILABLE = "55P03";

/** Whether PostgreSQL gave up the wait for a lock. */
export function isLockTimeout(error: unknown): boolean {
  return failureFacts(error).code === LOCK_NOT_AVAILABLE;
}

/** Whether an error says that the database's file is not ours, or no longer whole. */
export function isDamage(error: unknown): boolean {
  return error instanceof ForeignFileError || /^SQLITE_(CORRUPT|NOTADB)/.test(failureFacts(error).code ?? "");
}

/**
 * Opens the database, even if migrations are pending. Creates a missing SQLite file.
 *
 * Throws an OperatorError if it cannot be opened, or if a newer version of KESC has migrated it.
 */
export async function openAnyDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  const { database } = await open(address, { ...options, accepts: refuseUnknown });
  return database;
}

/**
 * Opens the database. Throws an OperatorError if it cannot be opened, if its schema is not that of
 * this version, or if the master key file does not open its books.
 */
export function openCurrentDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  return openMigrated(address, { ...options, accepts: refuseUnknown });
}

/**
 * Opens the database for a server, as `openCurrentDatabase` does. It may have the schema of the
 * next release, if that schema says that this version may serve it (docs/run.md).
 */
export function openServableDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  return openMigrated(address, { ...options, accepts: refuseUnservable });
}

async function openMigrated(address: DatabaseAddress, options: OpenOptions): Promise<Database> {
  const { database, states } = await open(address, { ...options, mustExist: true });
  try {
    const pending = namesOf(states, "pending");
    if (pending.length > 0) {
      throw new OperatorError(`${nameOf(address)} lacks the migrations ${pending.join(", ")}. ${MIGRATE}`);
    }
    await refuseWrongMasterKey(address, database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Throws an OperatorError if a program may not use cells with these migrations. */
type Accepts = (address: DatabaseAddress, states: readonly MigrationState[]) => void;

type OpenOptions = DatabaseOptions & { readonly accepts: Accepts };

function refuseUnknown(address: DatabaseAddress, states: readonly MigrationState[]): void {
  const unknown = namesOf(states, "unknown");
  if (unknown.length === 0) return;
  const { problem, advice } = unknownWords(unknown);
  const isNext = states.every(({ isServable }) => isServable);
  throw new OperatorError(
    `${nameOf(address)} ${problem}. ` +
      (isNext
        ? "Servers of this version may serve it, but no other command may use it: use the version that created them."
        : advice),
  );
}

/** What is wrong with a database that has unknown migrations, and what to do about it. */
export function unknownWords(unknown: readonly string[]): { readonly problem: string; readonly advice: string } {
  if (areOfEarlierBuild(unknown)) {
    return { problem: "comes from a build before the first release", advice: EARLIER_BUILD_ADVICE };
  }
  return {
    problem: `has the migrations ${unknown.join(", ")}, which this version of kesc does not know`,
    advice: "Use the version that created them, or restore an earlier backup.",
  };
}

/** A migration that ran is never run again: what has no proof would get one. */
function refuseGap(address: DatabaseAddress, states: readonly MigrationState[]): void {
  const gap = namesOf(states, "gap");
  if (gap.length === 0) return;
  throw new OperatorError(`${nameOf(address)} ${gapWords(gap)}. ${GAP_ADVICE}`);
}

export function gapWords(gap: readonly string[]): string {
  return `has run migrations that come after ${gap.join(", ")}, and its list of migrations lacks that`;
}

/** What to do about a list of migrations that lacks one in the middle. */
export const GAP_ADVICE =
  "Somebody has changed the table knex_migrations past the service. Find out who, and restore a backup (docs/run.md).";

function refuseUnservable(address: DatabaseAddress, states: readonly MigrationState[]): void {
  if (!states.every(({ isServable }) => isServable)) refuseUnknown(address, states);
}

function namesOf(states: readonly MigrationState[], kind: "pending" | "unknown" | "gap"): readonly string[] {
  return [...new Set(states.flatMap((state) => state[kind]))];
}

const MIGRATE = "Run: kesc migrate";
const NEW_OR_RESTORE =
  "For a new service run: kesc migrate. If it was lost, restore a backup: kesc restore FILE (docs/run.md).";

async function refuseWrongMasterKey(address: DatabaseAddress, database: Database): Promise<void> {
  const missing = await usingMasterKeyFile(address, () => missingMasterKeys(database));
  if (missing.length === 0) return;
  throw new OperatorError(
    `The master key file ${address.masterKeyFile} lacks the keys ${missing.join(", ")}, which the database needs. ` +
      FIND_MASTER_KEY,
  );
}

const FIND_MASTER_KEY = "Put the file back from its copy, or set KESC_MASTER_KEY_FILE to it (docs/run.md).";

/** Calls `work`. Throws an OperatorError if the master key file is missing or cannot be used. */
export async function usingMasterKeyFile<Result>(
  { masterKeyFile }: DatabaseAddress,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof MasterKeyError)) throw error;
    throw new OperatorError(
      `The master key file ${masterKeyFile} cannot be used: ${error.message}. ${error.advice ?? FIND_MASTER_KEY}`,
      { cause: error },
    );
  }
}

async function open(
  address: DatabaseAddress,
  { accepts, ...options }: OpenOptions,
): Promise<{ database: Database; states: readonly MigrationState[] }> {
  const database = await openDatabase(address, options).catch((error: unknown) => {
    throw openingError(address, error);
  });
  try {
    const states = await Promise.all(database.cells.map(migrationState));
    refuseGap(address, states);
    accepts(address, states);
    return { database, states };
  } catch (error) {
    await database.close();
    throw error instanceof OperatorError ? error : openingError(address, error);
  }
}

/** Explains why the database cannot be opened. */
export function openingError(address: DatabaseAddress, error: unknown): OperatorError {
  if (error instanceof MissingFileError) {
    return new OperatorError(`${nameOf(address)} does not exist. ${NEW_OR_RESTORE}`, { cause: error });
  }
  if (error instanceof BusyMachineError) {
    const advice = "Nothing is known about the file. Run the command again when the machine has time.";
    return new OperatorError(`${nameOf(address)} was not opened: ${error.message}. ${advice}`, { cause: error });
  }
  const advice = isDamage(error) ? RESTORE : (adviceOnRights(error) ?? adviceOnPooler(error) ?? adviceOn(address));
  return new OperatorError(`${nameOf(address)} cannot be opened: ${reasonOf(error)}. ${advice}`, { cause: error });
}

/** Opens the database, calls `work`, and closes the database. */
export async function withCurrentDatabase<Result>(
  address: DatabaseAddress,
  work: (database: Database) => Promise<Result>,
  options?: DatabaseOptions,
): Promise<Result> {
  const database = await openCurrentDatabase(address, options);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Calls `work` with the database that the environment of this command names. */
export async function onDatabase<Result>(
  work: (database: Database, config: Config) => Promise<Result>,
  options?: DatabaseOptions,
): Promise<Result> {
  const config = configFromEnvironment();
  return withCurrentDatabase(config.database, (database) => work(database, config), options);
}

/** Does as `onDatabase` without a limit on statements, for work that takes longer than a call. */
export function onDatabaseForLong<Result>(
  work: (database: Database, config: Config) => Promise<Result>,
  options: Pick<DatabaseOptions, "onlyReads"> = {},
): Promise<Result> {
  return onDatabase(work, { ...options, statementMillisMax: 0 });
}

/** Omits the user name and the password. */
function nameOf(address: DatabaseAddress): string {
  if (address.engine === "sqlite") return `The database file ${address.filename}`;
  return `The database ${describePostgres(address.url)}`;
}

function adviceOn(address: DatabaseAddress): string {
  return address.engine === "sqlite"
    ? "Check DATABASE_URL, and that this user may write the file and its folder."
    : "Check DATABASE_URL, and that PostgreSQL is running and accepts this user.";
}
