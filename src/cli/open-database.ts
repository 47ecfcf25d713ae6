import { openDatabase, type Database, type DatabaseAddress, type DatabaseOptions } from "../storage/database.js";
import { pendingMigrations } from "../storage/migrate.js";
import { failureFacts } from "./failure-facts.js";
import { Problem } from "./problem.js";

/** Opens the database, whatever its schema is. Throws a Problem when it can't be had. */
export async function openAnyDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  try {
    return await openDatabase(address, options);
  } catch (error) {
    const { code, message } = failureFacts(error);
    const reason = message ?? code ?? "it does not say why";
    throw new Problem(`${nameOf(address)} can't be opened: ${reason}. ${adviceOn(address)}`, 1, { cause: error });
  }
}

/** Opens the database for work. Throws a Problem when it can't be had or its schema is not up to date. */
export async function openCurrentDatabase(address: DatabaseAddress, options?: DatabaseOptions): Promise<Database> {
  const database = await openAnyDatabase(address, options);
  try {
    const pending = await pendingMigrations(database);
    if (pending.length > 0) {
      throw new Problem(`${nameOf(address)} lacks the migrations ${pending.join(", ")}. Run: npx kesc migrate`);
    }
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
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
