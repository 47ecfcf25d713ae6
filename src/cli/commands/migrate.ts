import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { openAnyDatabase } from "../../startup/open-database.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { migrate } from "../../storage/migrate.js";
import { printLine } from "./output.js";

/** `kesc migrate`: migrates the schema to this version. */
export function addMigrate(program: Command): void {
  program
    .command("migrate")
    .description("create or update the tables of the database")
    .action(async () => {
      const names = await migrateDatabase(configFromEnvironment().database);
      printLine(names.length === 0 ? "The database is up to date." : `Migrated: ${names.join(", ")}.`);
    });
}

/** Returns the names of the migrations that it ran. */
export async function migrateDatabase(address: DatabaseAddress): Promise<readonly string[]> {
  // A migration has no statement timeout.
  const database = await openAnyDatabase(address, { statementMillisMax: 0 });
  try {
    return await migrate(database);
  } finally {
    await database.close();
  }
}
