import pg from "pg";

import type { TableModel } from "../../model/column.js";
import { KNEX_TABLE_NAMES, TABLES_BY_NAME } from "../../model/tables.js";

/** Our tables. A server reads them, and inserts rows. */
export const TABLE_NAMES = TABLES_BY_NAME.map(([name]) => name);
const APPEND_ONLY = namesOf(({ isAppendOnly }) => isAppendOnly === true);
const DELETED_FROM = namesOf(({ isDeletedFrom }) => isDeletedFrom === true);

const POWERS_SHOWN_MAX = 3;

function namesOf(isMeant: (table: TableModel) => boolean): readonly string[] {
  return TABLES_BY_NAME.filter(([, table]) => isMeant(table)).map(([name]) => name);
}

/** The columns that a server changes. The others keep the values of the INSERT. */
function changedColumnsOf({ columns }: TableModel): readonly string[] {
  return Object.entries(columns)
    .filter(([, { isChanged }]) => isChanged)
    .map(([name]) => name);
}

/** There is no such role. */
export class UnknownRoleError extends Error {}

/** The role could still change the journal, or the tables. The message lists why. */
export class PowerfulRoleError extends Error {}

/**
 * Gives the role the rights with which a server works, and takes all other rights on our tables
 * from it. Throws an UnknownRoleError or a PowerfulRoleError, and then changes nothing.
 */
export async function grantTo(client: pg.Client, schemas: readonly string[], role: string): Promise<void> {
  const { rows } = await client.query("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1", [role]);
  if (rows.length === 0) throw new UnknownRoleError(role);
  const refusePowers = async (select: string): Promise<void> => {
    const powers = await powersIn(client, select, [role, schemas]);
    if (powers.length > 0) throw new PowerfulRoleError(listOf(powers));
  };
  await refusePowers(POWERS_OF_OWNERS);
  await client.query("BEGIN");
  try {
    for (const schema of schemas) {
      for (const statement of grantsOn(schema, pg.escapeIdentifier(role))) await client.query(statement);
    }
    await refusePowers(OTHER_RIGHTS);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

/**
 * Returns why the role could change the journal or the tables. Empty if it could not. An owner has
 * all rights, so that says enough.
 */
export async function powersOf(
  client: pg.Client,
  schemas: readonly string[],
  role: string,
): Promise<readonly string[]> {
  for (const select of [POWERS_OF_OWNERS, OTHER_RIGHTS]) {
    const powers = await powersIn(client, select, [role, schemas]);
    if (powers.length > 0) return powers;
  }
  return [];
}

async function powersIn(
  client: pg.Client,
  select: string,
  [role, schemas]: readonly [role: string, schemas: readonly string[]],
): Promise<readonly string[]> {
  const sql = `${OWN_POWERS} ${select} ORDER BY power`;
  const { rows } = await client.query<{ readonly power: string }>(sql, [role, schemas, TABLE_NAMES]);
  return rows.map(({ power }) => power);
}

/** Returns the rights that a server needs and the role lacks: "INSERT on public.journal". */
export async function missingRights(
  client: pg.Client,
  schemas: readonly string[],
  role: string,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ readonly lacking: string }>(
    `SELECT p || ' on ' || n.nspname || '.' || c.relname AS lacking
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
       unnest(ARRAY ['SELECT', 'INSERT']) p
     WHERE n.nspname = ANY ($2) AND c.relname = ANY ($3) AND c.relkind IN ('r', 'p')
       AND NOT has_table_privilege($1::name, c.oid, p)
     ORDER BY lacking`,
    [role, schemas, TABLE_NAMES],
  );
  return rows.map(({ lacking }) => lacking);
}

function grantsOn(schema: string, role: string): string[] {
  const named = (names: readonly string[]): string => names.map((name) => `${schema}.${name}`).join(", ");
  const all = named([...TABLE_NAMES, ...KNEX_TABLE_NAMES]);
  const updates = TABLES_BY_NAME.map(([name, table]) => [name, changedColumnsOf(table)] as const).filter(
    ([, columns]) => columns.length > 0,
  );
  return [
    `REVOKE ALL ON SCHEMA ${schema} FROM ${role}`,
    `REVOKE ALL ON ${all} FROM ${role}`,
    `GRANT USAGE ON SCHEMA ${schema} TO ${role}`,
    `GRANT SELECT ON ${all} TO ${role}`,
    `GRANT INSERT ON ${named(TABLE_NAMES)} TO ${role}`,
    `GRANT DELETE ON ${named(DELETED_FROM)} TO ${role}`,
    ...updates.map(([name, columns]) => `GRANT UPDATE (${columns.join(", ")}) ON ${schema}.${name} TO ${role}`),
  ];
}

/**
 * The role with all roles that it can become with SET ROLE, our tables, and our schemas.
 * Parameters: the role, the schemas, the names of the tables.
 */
const OWN_POWERS = `
  WITH own AS (
    SELECT oid, rolsuper, rolcreaterole, CASE WHEN rolname = $1 THEN '' ELSE ' as a member of ' || rolname END AS how
    FROM pg_catalog.pg_roles WHERE pg_has_role($1::name, oid, 'MEMBER')
  ), tables AS (
    SELECT c.oid, c.relowner, c.relname, n.nspname || '.' || c.relname AS name
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($2) AND c.relname = ANY ($3)
  ), schemas AS (SELECT oid, nspname AS name FROM pg_catalog.pg_namespace WHERE nspname = ANY ($2))`;

/** Powers that no REVOKE takes away. A superuser owns everything, so that says enough. */
const POWERS_OF_OWNERS = `
  SELECT 'it is a superuser' || how AS power FROM own WHERE rolsuper
  UNION SELECT 'it may create roles' || how FROM own WHERE rolcreaterole AND NOT rolsuper
  UNION SELECT 'it owns ' || t.name || how FROM own JOIN tables t ON t.relowner = own.oid
    WHERE NOT EXISTS (SELECT 1 FROM own WHERE rolsuper)`;

/** Rights that the role has through PUBLIC or another role, so our REVOKE did not take them. */
const OTHER_RIGHTS = `
  SELECT 'it has ' || p || ' on ' || t.name || how AS power
    FROM own, tables t, unnest(ARRAY ['DELETE', 'TRUNCATE', 'TRIGGER']) p WHERE has_table_privilege(own.oid, t.oid, p)
      AND NOT (p = 'DELETE' AND t.relname IN (${DELETED_FROM.map((name) => `'${name}'`).join(", ")}))
  UNION SELECT 'it has UPDATE on ' || t.name || how FROM own, tables t
    WHERE t.relname IN (${APPEND_ONLY.map((name) => `'${name}'`).join(", ")}) AND has_any_column_privilege(own.oid, t.oid, 'UPDATE')
  UNION SELECT 'it has CREATE on the schema ' || s.name || how
    FROM own, schemas s WHERE has_schema_privilege(own.oid, s.oid, 'CREATE')
  UNION SELECT 'it has CREATE on the database' || how
    FROM own WHERE has_database_privilege(own.oid, current_database(), 'CREATE')`;

function listOf(powers: readonly string[]): string {
  const more = powers.length - POWERS_SHOWN_MAX;
  return powers.slice(0, POWERS_SHOWN_MAX).join("; ") + (more > 0 ? `; and ${String(more)} more` : "");
}
