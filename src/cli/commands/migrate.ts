import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { openAnyDatabase, usingMasterKeys } from "../../startup/open-database.js";
import type { DatabaseAddress } from "../../storage/database.js";
import { ensureMasterKeyFile } from "../../storage/master-keys.js";
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

/**
 * Migrates all cells. Creates the master key file for a new database. Returns the names of the
 * migrations that it ran. Throws an OperatorError if the master key file cannot be used.
 */
export async function migrateDatabase(address: DatabaseAddress): Promise<readonly string[]> {
  // A migration has no statement timeout.
  const database = await openAnyDatabase(address, { statementMillisMax: 0 });
  try {
    const names = new Set<string>();
    for (const cell of database.cells) for (const name of await migrate(cell)) names.add(name);
    if (await usingMasterKeys(address, ensureMasterKeyFile(database, address.masterKeyFile))) {
      printLine(`Created the master key file ${address.masterKeyFile}. Keep a copy apart from the backups.`);
    }
    return [...names];
  } finally {
    await database.close();
  }
}
