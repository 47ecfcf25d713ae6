import { type Database, type DatabaseAddress, type DatabaseOptions, openDatabase } from "../storage/database.js";
import { migrationState } from "../storage/migrate.js";
import { isDamage, RESTORE } from "./damage.js";
import { failureFacts } from "./failure-facts.js";
import { Problem } from "./operator-error.js";

/**
 * Opens the database, even if migrations are pending. Throws a Problem if it cannot be opened, or
 * if a newer version of KESC has migrated it.
 */
export async function openAnyDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  return (await open(address, options)).database;
}

/**
 * Opens the database. Throws a Problem if it cannot be opened, or if its schema is not that of this
 * version.
 */
export async function openCurrentDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  const { database, pending } = await open(address, options);
  if (pending.length === 0) return database;
  await database.close();
  throw new Problem(`${nameOf(address)} lacks the migrations ${pending.join(", ")}. Run: npx kesc migrate`);
}

async function open(
  address: DatabaseAddress,
  options?: DatabaseOptions,
): Promise<{ database: Database; pending: readonly string[] }> {
  const database = await openDatabase(address, options).catch((error: unknown) => {
    throw unopened(address, error);
  });
  try {
    const { pending, unknown } = await migrationState(database);
    if (unknown.length > 0) {
      throw new Problem(
        `${nameOf(address)} has the migrations ${unknown.join(", ")}, which this version of kesc does not know. ` +
          "Use the version that created them, or restore an earlier backup.",
      );
    }
    return { database, pending };
  } catch (error) {
    await database.close();
    throw error instanceof Problem ? error : unopened(address, error);
  }
}

function unopened(address: DatabaseAddress, error: unknown): Problem {
  const { code, message } = failureFacts(error);
  const reason = message ?? code ?? "it gave no reason";
  const advice = isDamage(error) ? RESTORE : adviceOn(address);
  return new Problem(`${nameOf(address)} cannot be opened: ${reason}. ${advice}`, 1, { cause: error });
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

/** Omits the user name and the password. */
function nameOf(address: DatabaseAddress): string {
  if (address.engine === "sqlite") return `The database file ${address.filename}`;
  const { host, pathname } = new URL(address.url);
  return `The database ${pathname.slice(1)} at ${host}`;
}

function adviceOn(address: DatabaseAddress): string {
  return address.engine === "sqlite"
    ? "Check DATABASE_URL, and that this user may write the file and its folder."
    : "Check DATABASE_URL, and that PostgreSQL is running and accepts this user.";
}
