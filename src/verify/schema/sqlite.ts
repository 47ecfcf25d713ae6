import BetterSqlite3 from "better-sqlite3";

import { migrationStatements } from "../../storage/migrate.js";
import type { Engine } from "../../storage/sql/engine.js";
import type { Snapshot } from "../../storage/sql/snapshot.js";
import { allRows } from "../all-rows.js";
import type { SchemaComparison, SchemaObject } from "./schema-object.js";

// SQLite keeps the text of each statement that made an object, and follows it.
const OBJECTS = `
  SELECT tbl_name AS "table", type || ' ' || name AS name, sql AS definition FROM sqlite_schema
  WHERE sql IS NOT NULL ORDER BY 1, 2`;

const PROBLEMS_MAX = 20;

/** Compares the schema with that of an empty database after the same migrations. */
export async function readSqliteSchema(snapshot: Snapshot, engine: Engine): Promise<SchemaComparison> {
  const expected = expectedObjects(engine);
  const tables = new Set(expected.map(({ table }) => table));
  const found = await allRows(snapshot.rows<SchemaObject>(OBJECTS));
  const problems = await allRows(
    snapshot.rows<{ readonly integrity_check: string }>(`PRAGMA integrity_check(${String(PROBLEMS_MAX)})`),
  );
  return {
    expected,
    found: found.filter(({ table }) => tables.has(table)).map(withPlainSpaces),
    // An index must have the values of its table, for example. Otherwise a read could miss a row.
    problems: problems
      .filter(({ integrity_check: problem }) => problem !== "ok")
      .map(({ integrity_check: problem }) => ({ id: "integrity_check", expected: "ok", found: problem })),
  };
}

function expectedObjects(engine: Engine): readonly SchemaObject[] {
  const memory = new BetterSqlite3(":memory:");
  try {
    for (const statement of migrationStatements(engine)) memory.exec(statement);
    return memory.prepare<[], SchemaObject>(OBJECTS).all().map(withPlainSpaces);
  } finally {
    memory.close();
  }
}

/** ALTER TABLE writes other spaces before a comma or a parenthesis than CREATE TABLE. */
function withPlainSpaces(object: SchemaObject): SchemaObject {
  return { ...object, definition: object.definition.replaceAll(/\s+/g, " ").replaceAll(/ (?=[,)])/g, "") };
}
