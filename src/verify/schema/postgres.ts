import type { Engine } from "../../storage/sql/engine.js";
import type { Snapshot } from "../../storage/sql/snapshot.js";
import { allRows } from "../all-rows.js";
import { withFlatConditions } from "./flat-conditions.js";
import { POSTGRES_OBJECTS } from "./postgres-objects.js";
import type { SchemaComparison, SchemaObject } from "./schema-object.js";

const JOURNAL = "journal";
/** The names of the triggers that keep tables append-only, and of their functions. */
const APPEND_ONLY = /^(trigger|function) .*_refuses_change$/;

/** CHECK of a constraint, and WHERE of an index. */
const HAS_CONDITION = /^(constraint|index) /;

/**
 * Compares the schema with a list of what the migrations make. The list is part of the program, so
 * a role that may only read can run the audit. A test compares the list with a migrated database.
 *
 * Also checks that nobody but the owner may change the journal.
 */
export async function readPostgresSchema(snapshot: Snapshot, { schema = "public" }: Engine): Promise<SchemaComparison> {
  const found = await postgresObjects(snapshot, schema);
  const problems = await allRows(snapshot.rows<SchemaComparison["problems"][number]>(rightsSql(schema)));
  const [citus] = await allRows(snapshot.rows("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'"));
  // A Citus cluster may refuse triggers. The rights alone guard the journal there.
  const isGuardedByRights = citus !== undefined && problems.length === 0;
  const present = new Set(found.map(({ name }) => name));
  const expected = Object.entries(POSTGRES_OBJECTS).flatMap(([table, objects]) =>
    Object.entries(objects).map(([name, definition]): SchemaObject => ({ table, name, definition })),
  );
  return {
    expected: (isGuardedByRights
      ? expected.filter(({ name }) => !APPEND_ONLY.test(name) || present.has(name))
      : expected
    ).map(comparable),
    found: found.map(comparable),
    problems,
  };
}

/** The conditions of a restored dump have fewer parentheses. */
function comparable(object: SchemaObject): SchemaObject {
  return HAS_CONDITION.test(object.name) ? { ...object, definition: withFlatConditions(object.definition) } : object;
}

/** Returns the objects of the tables of one cell, without the name of the schema. */
export async function postgresObjects(snapshot: Snapshot, schema: string): Promise<readonly SchemaObject[]> {
  // PostgreSQL then writes the schema of every name, so that no other schema can stand in.
  await allRows(snapshot.rows("SELECT set_config('search_path', 'pg_catalog', true)"));
  const objects = await allRows(snapshot.rows<SchemaObject>(objectsSql(schema)));
  return objects.map((object) => ({
    ...object,
    definition: object.definition.replaceAll(`${schema}.`, "").replaceAll(/\s+/g, " ").trim(),
  }));
}

function objectsSql(schema: string): string {
  const names = Object.keys(POSTGRES_OBJECTS)
    .map((table) => `'${table}'`)
    .join(", ");
  return `
    WITH tables AS (
      SELECT c.* FROM pg_class c WHERE c.relnamespace = '${schema}'::regnamespace AND c.relname IN (${names})
    )
    SELECT relname AS "table", 'table' AS name, concat('kind ', relkind, ', persistence ', relpersistence,
      CASE WHEN relrowsecurity THEN ', row security' END) AS definition
    FROM tables

    UNION ALL
    SELECT t.relname, concat('column ', a.attname), concat(format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation <> y.typcollation THEN ' with its own collation' END,
      CASE WHEN a.attnotnull THEN ' NOT NULL' END,
      ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ' ' || NULLIF(concat(a.attidentity, a.attgenerated), ''))
    FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_type y ON y.oid = a.atttypid
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum

    UNION ALL
    SELECT t.relname, concat('constraint ', c.conname), pg_get_constraintdef(c.oid)
    FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid AND c.contype IN ('p', 'u', 'f', 'c', 'x')

    UNION ALL
    SELECT t.relname, concat('index ', c.relname), concat(pg_get_indexdef(c.oid),
      CASE WHEN NOT (i.indisvalid AND i.indisready AND i.indislive) THEN ' not valid' END)
    FROM tables t JOIN pg_index i ON i.indrelid = t.oid JOIN pg_class c ON c.oid = i.indexrelid
    WHERE NOT (i.indisvalid AND i.indisready AND i.indislive)
      OR NOT EXISTS (SELECT FROM pg_constraint p WHERE p.conindid = c.oid AND p.conrelid = t.oid)

    UNION ALL
    SELECT t.relname, concat('trigger ', g.tgname), concat(
      CASE g.tgenabled WHEN 'O' THEN '' ELSE concat('enabled ', g.tgenabled, ': ') END, pg_get_triggerdef(g.oid))
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid
    WHERE NOT g.tgisinternal OR g.tgenabled <> 'O'

    UNION ALL
    SELECT t.relname, concat('function ', p.proname), concat(l.lanname, ': ', p.prosrc)
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
    JOIN pg_proc p ON p.oid = g.tgfoid JOIN pg_language l ON l.oid = p.prolang

    UNION ALL
    SELECT t.relname, concat('rule ', r.rulename), pg_get_ruledef(r.oid)
    FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid
    ORDER BY 1, 2`;
}

/** Roles other than the owner that may change or delete rows of the journal. 0 means every role. */
function rightsSql(schema: string): string {
  const held = `
    SELECT a.grantee, a.privilege_type, c.relowner FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a
    WHERE c.relnamespace = '${schema}'::regnamespace AND c.relname = '${JOURNAL}'
    UNION ALL
    SELECT a.grantee, a.privilege_type, c.relowner FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_attribute t ON t.attrelid = c.oid, pg_catalog.aclexplode(t.attacl) a
    WHERE c.relnamespace = '${schema}'::regnamespace AND c.relname = '${JOURNAL}'`;
  return `
    SELECT DISTINCT '${schema}.${JOURNAL}: rights' AS id, 'only its owner may change rows' AS expected,
      concat(CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END, ' has ', privilege_type) AS found
    FROM (${held}) AS held
    WHERE grantee <> relowner AND privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER') ORDER BY 3`;
}
