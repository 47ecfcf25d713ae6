import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { isLockTimeout, openAnyDatabase, openingError, usingMasterKeyFile } from "../../startup/open-database.js";
import { OperatorError, UsageError } from "../../startup/operator-error.js";
import type { Cell, Database, DatabaseAddress } from "../../storage/database.js";
import { ensureMasterKeyFile } from "../../storage/master-keys.js";
import { migrate, migrationState } from "../../storage/migrate.js";
import { type LockHolder, takeMigrationLock, withConnection } from "../../storage/postgres/administration.js";
import { cellSchemas, createCellSchemas, OneCellError, TooManyCellsError } from "../../storage/postgres/cells.js";
import { grantTo, PowerfulRoleError, UnknownRoleError } from "../../storage/postgres/grants.js";
import { wholeNumber } from "./arguments.js";
import { printLine } from "./output.js";

const CELLS_MAX = 64;
const WAITING = "Waiting for another kesc migrate…";

interface MigrateOptions {
  /** The number of cells after the migration. The existing ones when omitted. */
  readonly cells?: number;
  /** The role that gets the rights of a server. */
  readonly grantTo?: string;
  /** The operator says that no server runs. */
  readonly serversStopped?: boolean;
}

/** `kesc migrate`: migrates the schema to this version. */
export function addMigrate(program: Command): void {
  program
    .command("migrate")
    .description("create or update the tables of the database")
    .option(
      "--cells <count>",
      "cells of the database: schemas with books of their own, on PostgreSQL (default: those that exist, or 1)",
      wholeNumber({ min: 1, max: CELLS_MAX }),
    )
    .option("--grant-to <role>", "PostgreSQL role that gets the rights of a server; it cannot change the journal")
    .option("--servers-stopped", "no server runs: allows migrations beside which the servers so far cannot go on")
    .action(async (options: MigrateOptions) => {
      const names = await migrateDatabase(configFromEnvironment().database, options);
      printLine(names.length === 0 ? "The database is up to date." : `Migrated: ${names.join(", ")}.`);
      if (options.grantTo !== undefined) {
        printLine(`The role ${options.grantTo} may run servers. It can add rows to the journal, but not change them.`);
      }
    });
}

/**
 * Migrates all cells. Creates the master key file for a new database. Returns the names of the
 * migrations that it ran. Two calls at once take turns.
 */
export async function migrateDatabase(
  address: DatabaseAddress,
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  if (address.engine === "sqlite") {
    refuseOnSqlite(options);
    return migrateCells(address, options);
  }
  const release = await takeMigrationLock(address.url, (holder) => {
    for (const line of linesOnWait(holder)) printLine(line);
  }).catch((error: unknown) => {
    throw openingError(address, error);
  });
  try {
    if (options.cells !== undefined) await createCells(address.url, options.cells);
    const names = await migrateCells(address, options);
    if (options.grantTo !== undefined) await grant(address.url, options.grantTo);
    return names;
  } finally {
    await release();
  }
}

function linesOnWait(holder: LockHolder | undefined): readonly string[] {
  if (holder === undefined) return [WAITING];
  const { pid, application, since } = holder;
  const connected = since === null ? "" : `, connected since ${since.toISOString()}`;
  return [
    WAITING,
    `PostgreSQL's process ${String(pid)} holds the lock (${application}${connected}). If no kesc migrate runs any ` +
      `more, end it: SELECT pg_terminate_backend(${String(pid)})`,
  ];
}

function refuseOnSqlite({ cells = 1, grantTo: role }: MigrateOptions): void {
  const useful = "Leave the option out, or set DATABASE_URL to a PostgreSQL database";
  if (cells > 1) {
    throw new UsageError(`--cells: an SQLite database has one cell, not ${String(cells)}. ${useful}.`);
  }
  if (role !== undefined) throw new UsageError(`--grant-to: an SQLite database has no roles. ${useful}.`);
}

async function migrateCells(
  address: DatabaseAddress,
  { serversStopped = false }: MigrateOptions,
): Promise<readonly string[]> {
  // A migration has no statement timeout.
  const database = await openAnyDatabase(address, { statementMillisMax: 0 });
  try {
    if (!serversStopped) await refuseBesideServers(database);
    const names = new Set<string>();
    for (const cell of database.cells) {
      for (const name of await migrateCell(cell)) names.add(name);
    }
    if (await usingMasterKeyFile(address, () => ensureMasterKeyFile(database))) {
      printLine(`Created the master key file ${address.masterKeyFile}. Keep a copy apart from the backups.`);
    }
    return [...names];
  } finally {
    await database.close();
  }
}

async function refuseBesideServers({ cells }: Database): Promise<void> {
  const states = await Promise.all(cells.map(migrationState));
  if (!states.some(({ needsStop }) => needsStop)) return;
  const pending = [...new Set(states.flatMap((state) => state.pending))].join(", ");
  throw new OperatorError(
    `The servers of the version before cannot go on beside the migrations ${pending}. Nothing was migrated. ` +
      "Stop all servers, back up, and run: kesc migrate --servers-stopped (docs/run.md).",
  );
}

async function migrateCell(cell: Cell): Promise<readonly string[]> {
  try {
    return await migrate(cell);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new OperatorError(
      "Another transaction holds a table that a migration changes: a copy, kesc verify or an export, for example. " +
        "Servers would wait behind the migration, so it gave up. Nothing was changed in this cell. " +
        "Run kesc migrate again when that has ended.",
      { cause: error },
    );
  }
}

async function createCells(url: string, count: number): Promise<void> {
  const created = await withConnection(url, (client) => createCellSchemas((sql) => client.query(sql), count)).catch(
    (error: unknown) => {
      throw cellsError(error, count);
    },
  );
  if (created === 0) return;
  const first = count - created;
  const schemas = `schema${created === 1 ? "" : "s"} kesc_${String(first)}`;
  printLine(`Created the ${schemas}${created === 1 ? "" : ` to kesc_${String(count - 1)}`}.`);
  if (first > 0) printLine("Servers find new cells when they start: restart all of them.");
}

function cellsError(error: unknown, count: number): unknown {
  const asked = `--cells ${String(count)}`;
  if (error instanceof OneCellError) {
    return new OperatorError(
      `${asked}: this database has its tables in the schema public, so it stays one cell. ` +
        `Leave the option out, or run this command on a new database.`,
    );
  }
  if (error instanceof TooManyCellsError) {
    return new OperatorError(
      `${asked}: the database already has ${String(error.cells)} cells, and a cell cannot be removed. ` +
        `Leave the option out, or give ${String(error.cells)} to ${String(CELLS_MAX)}.`,
    );
  }
  return error;
}

async function grant(url: string, role: string): Promise<void> {
  try {
    await withConnection(url, async (client) => grantTo(client, await cellSchemas((sql) => client.query(sql)), role));
  } catch (error) {
    if (error instanceof UnknownRoleError) {
      throw new OperatorError(`--grant-to: there is no role ${role}. Create it first: CREATE ROLE … LOGIN.`);
    }
    if (error instanceof PowerfulRoleError) {
      throw new OperatorError(
        `--grant-to: the role ${role} could change the books: ${error.message}. ` +
          "Take that from it, or create a role for the servers: CREATE ROLE … LOGIN. No right was changed.",
      );
    }
    throw error;
  }
}
