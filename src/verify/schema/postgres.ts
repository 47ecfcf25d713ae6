import { TABLES_BY_NAME } from "../../model/tables.js";
import objects from "../../storage/migrations/postgres-objects.json" with { type: "json" };
import type { Engine } from "../../storage/sql/engine.js";
import type { Snapshot } from "../../storage/sql/snapshot.js";
import { allRows } from "../all-rows.js";
import { withFlatConditions } from "./flat-conditions.js";
import type { SchemaComparison, SchemaObject } from "./schema-object.js";

/**
 * The objects of the schema that the migrations make on PostgreSQL, by table and name, as its
 * catalog describes them. `make docs` writes the file: read its diff.
 */
export const POSTGRES_OBJECTS: Readonly<Record<string, Readonly<Record<string, string>>>> = objects;

/** The names of the triggers that keep tables append-only, and of their functions. */
const GUARDS = /^(trigger|function) .*_refuses_change$/;

/** The tables whose rows never change. */
const APPEND_ONLY = Object.entries(POSTGRES_OBJECTS).flatMap(([table, objects]) =>
  `trigger ${table}_refuses_change` in objects ? [table] : [],
);
const named = (tables: readonly string[]): string => tables.map((table) => `'${table}'`).join(", ");
const OUR_TABLES = named(TABLES_BY_NAME.map(([name]) => name));
/** CHECK of a constraint, and WHERE of an index. */
const HAS_CONDITION = /^(constraint|index) /;

/**
 * Compares the schema with a list of what the migrations make. The list is part of the program, so
 * a role that may only read can run the audit. A test compares the list with a migrated database.
 *
 * Also checks that nobody but the owner may change append-only tables, that our tables have one
 * owner, and that no setting of a role or a database switches triggers off.
 */
export async function readPostgresSchema(snapshot: Snapshot, { schema = "public" }: Engine): Promise<SchemaComparison> {
  const found = await postgresObjects(snapshot, schema);
  const problemsOf = (sql: string): Promise<SchemaComparison["problems"]> => allRows(snapshot.rows(sql));
  const problems = [
    ...(await problemsOf(rightsSql(schema))),
    ...(await problemsOf(ownersSql(schema))),
    ...(await problemsOf(REPLICATION_ROLES)),
  ];
  const [citus] = await allRows(snapshot.rows("SELECT 1 FROM pg_catalog.pg_extension WHERE extname = 'citus'"));
  // A Citus cluster may refuse triggers. The rights alone guard the journal there.
  const isGuardedByRights = citus !== undefined && problems.length === 0;
  const present = new Set(found.map(({ name }) => name));
  const expected = Object.entries(POSTGRES_OBJECTS).flatMap(([table, objects]) =>
    Object.entries(objects).map(([name, definition]): SchemaObject => ({ table, name, definition })),
  );
  return {
    expected: (isGuardedByRights
      ? expected.filter(({ name }) => !GUARDS.test(name) || present.has(name))
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
  return `
    WITH tables AS (
      SELECT c.* FROM pg_class c WHERE c.relnamespace = '${schema}'::regnamespace AND c.relname IN (${OUR_TABLES})
    )
    SELECT relname AS "table", 'table' AS name, concat('kind ', relkind, ', persistence ', relpersistence,
      CASE WHEN relrowsecurity THEN ', row security' END, CASE WHEN relforcerowsecurity THEN ', forced' END,
      CASE WHEN EXISTS (SELECT FROM pg_inherits i WHERE tables.oid IN (i.inhparent, i.inhrelid)) THEN ', inherits' END
    ) AS definition
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
    SELECT t.relname, concat('function ', p.proname), concat(l.lanname, ': ', p.prosrc,
      CASE WHEN p.prosecdef THEN ' with the rights of its owner' END, ' SET ' || array_to_string(p.proconfig, ', '))
    FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
    JOIN pg_proc p ON p.oid = g.tgfoid JOIN pg_language l ON l.oid = p.prolang

    UNION ALL
    SELECT t.relname, concat('rule ', r.rulename), pg_get_ruledef(r.oid)
    FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid
    ORDER BY 1, 2`;
}

/** Roles other than the owner that may change or delete append-only rows. 0 means every role. */
function rightsSql(schema: string): string {
  const tables = `c.relnamespace = '${schema}'::regnamespace AND c.relname IN (${named(APPEND_ONLY)})`;
  const held = `
    SELECT c.relname, a.grantee, a.privilege_type, c.relowner
    FROM pg_catalog.pg_class c, pg_catalog.aclexplode(c.relacl) a WHERE ${tables}
    UNION ALL
    SELECT c.relname, a.grantee, a.privilege_type, c.relowner FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_attribute t ON t.attrelid = c.oid, pg_catalog.aclexplode(t.attacl) a WHERE ${tables}`;
  return `
    SELECT DISTINCT concat('${schema}.', relname, ': rights') AS id, 'only its owner may change rows' AS expected,
      concat(CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END, ' has ', privilege_type) AS found
    FROM (${held}) AS held
    WHERE grantee <> relowner AND privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER') ORDER BY 1, 3`;
}

/**
 * Tables, and functions of triggers, with another owner than most of our tables: an owner may do
 * everything. A superuser may do so anyway.
 */
function ownersSql(schema: string): string {
  return `
    WITH tables AS (
      SELECT c.oid, c.relname, c.relowner FROM pg_catalog.pg_class c
      WHERE c.relnamespace = '${schema}'::regnamespace AND c.relname IN (${OUR_TABLES})
    ), most AS (
      SELECT relowner AS owner FROM tables GROUP BY relowner ORDER BY COUNT(*) DESC, relowner LIMIT 1
    ), owned AS (
      SELECT relname AS name, relowner AS owner FROM tables
      UNION SELECT p.proname, p.proowner FROM tables t
      JOIN pg_catalog.pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal
      JOIN pg_catalog.pg_proc p ON p.oid = g.tgfoid
    )
    SELECT concat('${schema}.', o.name, ': owner') AS id, pg_get_userbyid(m.owner) AS expected,
      pg_get_userbyid(o.owner) AS found
    FROM owned o, most m JOIN pg_catalog.pg_roles r ON true
    WHERE o.owner <> m.owner AND r.oid = o.owner AND NOT r.rolsuper ORDER BY 1`;
}

const REPLICATION_ROLES = `
  SELECT 'session_replication_role' AS id, 'origin' AS expected,
    concat(setting, CASE WHEN s.setrole <> 0 THEN ' for the role ' || pg_get_userbyid(s.setrole) END) AS found
  FROM pg_catalog.pg_db_role_setting s, unnest(s.setconfig) setting
  WHERE setting LIKE 'session_replication_role=%' AND setting <> 'session_replication_role=origin'
    AND s.setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))`;
