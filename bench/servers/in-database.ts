import type { OrganizationId } from "../../src/domain/values/ids.js";
import { now } from "../../src/startup/clock.js";
import { type Database, type DatabaseAddress, openDatabase } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import type { Service } from "./service.js";

/** Opens the service's database in this process. No server may run on an SQLite file. */
export async function inDatabase<Result>(
  { databaseUrl, startOptions }: Pick<Service, "databaseUrl" | "startOptions">,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const masterKeyFile = startOptions.env?.["KESC_MASTER_KEY_FILE"] ?? "./keys/master.key";
  const address: DatabaseAddress = databaseUrl.startsWith("sqlite:")
    ? { engine: "sqlite", filename: databaseUrl.slice("sqlite:".length), masterKeyFile }
    : { engine: "postgres", url: databaseUrl, connectionsMax: 4, masterKeyFile };
  const database = await openDatabase(address, { statementMillisMax: 0 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

export async function organizationOf(database: Database, apiKey: string): Promise<OrganizationId> {
  const key = await keys(database, now).apiKeyWithSecret(apiKey);
  if (key === undefined || key === "moved") throw new Error("the key is not in the database");
  return key.organizationId;
}
