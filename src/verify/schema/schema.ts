import type { Engine } from "../../storage/sql/engine.js";
import type { Snapshot } from "../../storage/sql/snapshot.js";
import type { Findings } from "../findings.js";
import { readPostgresSchema } from "./postgres.js";
import type { SchemaObject } from "./schema-object.js";
import { readSqliteSchema } from "./sqlite.js";

/**
 * Compares the tables with what the migrations make: without a trigger or a constraint, a wrong row
 * could have been written and made good again. Returns whether all objects are as migrated.
 */
export async function auditSchema(snapshot: Snapshot, engine: Engine, findings: Findings): Promise<boolean> {
  const read = engine.name === "sqlite" ? readSqliteSchema : readPostgresSchema;
  const { expected, found, problems } = await read(snapshot, engine);
  const add = (id: string, texts: { expected: string; found: string }): void => {
    findings.of(undefined).add({ seq: undefined, table: "schema", id }, texts);
  };
  // The name of a table contains its schema, and so its cell.
  const idOf = ({ table, name }: SchemaObject): string => `${engine.table(table)}: ${name}`;
  for (const { id, ...texts } of problems) add(id, texts);
  const countBefore = findings.count;
  const foundById = new Map(found.map((object) => [idOf(object), object.definition]));
  for (const object of expected) {
    const id = idOf(object);
    const definition = foundById.get(id);
    foundById.delete(id);
    if (definition !== object.definition) add(id, { expected: object.definition, found: definition ?? "none" });
  }
  for (const [id, definition] of foundById) add(id, { expected: "none", found: definition });
  return findings.count === countBefore;
}
