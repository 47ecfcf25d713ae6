import { type Database, type DatabaseAddress, type DatabaseOptions, openDatabase } from "../storage/database.js";
import { migrationState } from "../storage/migrate.js";
import { isDamage, RESTORE } from "./damage.js";
import { failureFacts } from "./failure-facts.js";
import { Problem } from "./operator-error.js";

/**
 * Opens the database, also one that lacks migrations. Throws a Problem when it can't be had, or
 * when a newer version of KESC has migrated it.
 */
export async function openAnyDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  return (await open(address, options)).database;
}

/**
 * Opens the database for work. Throws a Problem when it can't be had or its schema is not this
 * version's.
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
          "Run the version that made them, or restore a backup from before.",
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
  const reason = message ?? code ?? "it does not say why";
  const advice = isDamage(error) ? RESTORE : adviceOn(address);
  return new Problem(`${nameOf(address)} can't be opened: ${reason}. ${advice}`, 1, { cause: error });
}

/** Opens the database for work, and closes it afterwards. */
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

/** Without the user's name and password. */
function nameOf(address: DatabaseAddress): string {
  if (address.engine === "sqlite") return `The database file ${address.filename}`;
  const { host, pathname } = new URL(address.url);
  return `The database ${pathname.slice(1)} at ${host}`;
}

function adviceOn(address: DatabaseAddress): string {
  return address.engine === "sqlite"
    ? "Check DATABASE_URL, and that this user may write the file and its folder."
    : "Check DATABASE_URL, and that PostgreSQL runs and lets this user in.";
}
