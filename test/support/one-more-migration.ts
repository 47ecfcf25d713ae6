import { MIGRATIONS } from "../../src/storage/migrate.js";
import type { Migration } from "../../src/storage/migrations/migration.js";

/** Calls `work` while the program in this process has one more migration, as a later one will. */
export async function withOneMoreMigration<Result>(
  { name, migration }: { name: string; migration: Migration },
  work: () => Promise<Result>,
): Promise<Result> {
  const list = MIGRATIONS as Record<string, Migration>;
  list[name] = migration;
  try {
    return await work();
  } finally {
    Reflect.deleteProperty(list, name);
  }
}
