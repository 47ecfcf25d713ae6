import pg from "pg";

import { toUnixMillis } from "../../domain/values/time.js";
import type { DatabaseAddress } from "../database.js";
import { withConnection } from "../postgres/administration.js";
import { cellSchemas } from "../postgres/cells.js";
import { postgresEngine } from "../postgres/engine.js";
import { missingRights, powersOf } from "../postgres/grants.js";
import { masterKeysIn } from "../secrets/master-key.js";
import { BookDirectory } from "../sql/book-directory.js";
import type { Reader } from "../sql/reader.js";
import type { Diagnosed, DiagnosedCell, DurabilitySetting, LogArchive } from "./diagnosed.js";

const FACTS = `
  SELECT current_user AS role, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now,
    current_setting('fsync', true) AS fsync,
    current_setting('full_page_writes', true) AS full_page_writes,
    current_setting('synchronous_commit', true) AS synchronous_commit,
    current_setting('archive_mode', true) AS archive_mode`;

const ARCHIVE = `
  SELECT CAST(extract(epoch FROM last_archived_time) * 1000 AS BIGINT) AS archived,
    CAST(extract(epoch FROM last_failed_time) * 1000 AS BIGINT) AS failed
  FROM pg_catalog.pg_stat_archiver`;

interface Facts {
  readonly role: string;
  readonly now: number;
  readonly fsync: string | null;
  readonly full_page_writes: string | null;
  readonly synchronous_commit: string | null;
  readonly archive_mode: string | null;
}

/** Uses a connection of its own: those of a server refuse a database whose settings are unsafe. */
export function diagnosePostgres<Result>(
  { url, masterKeyFile }: DatabaseAddress & { readonly engine: "postgres" },
  work: (diagnosed: Diagnosed) => Promise<Result>,
): Promise<Result> {
  return withConnection(url, async (client) => {
    client.setTypeParser(pg.types.builtins.INT8, Number);
    const schemas = await cellSchemas((sql) => client.query(sql));
    const sentAt = Date.now();
    const [facts] = (await client.query<Facts>(FACTS)).rows as [Facts];
    // The database read its clock about halfway between sending and receiving.
    const clockAheadMillis = Math.round((sentAt + Date.now()) / 2 - facts.now);
    const masterKeys = masterKeysIn(masterKeyFile);
    const reader = readerOf(client);
    const cellOf = (schema: string, number: number): DiagnosedCell => {
      const engine = postgresEngine(schema);
      return { number, engine, reader, directory: new BookDirectory(engine, masterKeys), masterKeys };
    };
    const [first, ...others] = schemas;
    return work({
      cells: [cellOf(first, 0), ...others.map((schema, index) => cellOf(schema, index + 1))],
      durability: durabilityOf(facts),
      clockAheadMillis,
      role: {
        name: facts.role,
        powers: await powersOf(client, schemas, facts.role),
        missingRights: await missingRights(client, schemas, facts.role),
      },
      archive: await archiveOf(client, facts),
    });
  });
}

/** A server sets `synchronous_commit` with each transaction, so its value does not count. */
function durabilityOf(facts: Facts): readonly DurabilitySetting[] {
  return (["fsync", "full_page_writes"] as const).map((name) => ({
    name,
    value: facts[name] ?? "unknown",
    isSafe: facts[name] !== "off",
  }));
}

async function archiveOf(client: pg.Client, { archive_mode: mode }: Facts): Promise<LogArchive> {
  const { rows } = await client.query<{ readonly archived: number | null; readonly failed: number | null }>(ARCHIVE);
  const { archived = null, failed = null } = rows[0] ?? {};
  const isFailing = failed !== null && (archived === null || failed > archived);
  return {
    isOn: mode !== null && mode !== "off",
    archivedAt: archived === null ? undefined : toUnixMillis(archived),
    failedAt: isFailing ? toUnixMillis(failed) : undefined,
  };
}

/** Our statements have a `?` for each parameter, and PostgreSQL's protocol has $1, $2 and so on. */
function readerOf(client: pg.Client): Pick<Reader, "rows"> {
  return {
    rows: async <Row>(sql: string, bindings: readonly unknown[] = []) => {
      let count = 0;
      const numbered = sql.replace(/\?/g, () => `$${String((count += 1))}`);
      return (await client.query(numbered, [...bindings])).rows as readonly Row[];
    },
  };
}
