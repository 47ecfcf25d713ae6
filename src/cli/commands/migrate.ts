import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { openAnyDatabase } from "../../startup/open-database.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { migrate } from "../../storage/migrate.js";
import { printLine } from "./output.js";

/** `kesc migrate`: brings the schema up to date. */
export function addMigrate(program: Command): void {
  program
    .command("migrate")
    .description("create the database's tables, or bring them up to date")
    .action(async () => {
      const names = await migrateDatabase(configFromEnvironment().database);
      printLine(names.length === 0 ? "The database is up to date." : `Migrated: ${names.join(", ")}.`);
    });
}

/** Answers the names of the migrations that it ran. */
export async function migrateDatabase(address: DatabaseAddress): Promise<readonly string[]> {
  // A migration may take as long as it needs.
  const database = await openAnyDatabase(address, { statementMillisMax: 0 });
  try {
    return await migrate(database);
  } finally {
    await database.close();
  }
}
