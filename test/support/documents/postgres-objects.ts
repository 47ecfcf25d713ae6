import { format, resolveConfig } from "prettier";

import { postgresObjects } from "../../../src/verify/schema/postgres.js";
import { openTestDatabase } from "../databases.js";

/** The file with the expectation of `verify`, which `make docs` writes. */
export const POSTGRES_OBJECTS_FILE = "src/storage/migrations/postgres-objects.json";

/** Returns the definitions of all objects of a migrated database, by table and name. */
export async function migratedPostgresObjects(): Promise<Record<string, Record<string, string>>> {
  const opened = await openTestDatabase("postgres");
  try {
    const objects = await opened.cell.reader.snapshot((snapshot) => postgresObjects(snapshot, "public"));
    const byTable: Record<string, Record<string, string>> = {};
    const order = (text: string): string => text.toLowerCase();
    const sorted = objects.toSorted((a, b) => (order(`${a.table} ${a.name}`) < order(`${b.table} ${b.name}`) ? -1 : 1));
    for (const { table, name, definition } of sorted) (byTable[table] ??= {})[name] = definition;
    return byTable;
  } finally {
    await opened.dispose();
  }
}

/** Returns the text of the file. */
export async function postgresObjectsText(): Promise<string> {
  const text = JSON.stringify(await migratedPostgresObjects());
  return format(text, { ...(await resolveConfig(POSTGRES_OBJECTS_FILE)), filepath: POSTGRES_OBJECTS_FILE });
}
