import type { Knex } from "knex";

import { bindRows } from "./bind-rows.js";
import type { Cell } from "./database.js";
import { organizations } from "./migrations/0001-organizations.js";
import { books } from "./migrations/0002-books.js";
import { accounts } from "./migrations/0003-accounts.js";
import { transactions } from "./migrations/0004-transactions.js";
import { journal } from "./migrations/0005-journal.js";
import { payments } from "./migrations/0006-payments.js";
import { rails } from "./migrations/0007-rails.js";
import { webhooks } from "./migrations/0008-webhooks.js";
import { seals } from "./migrations/0009-seals.js";
import { marks } from "./migrations/0010-marks.js";
import { reserve } from "./migrations/0011-reserve.js";
import { limits } from "./migrations/0012-limits.js";
import { operators } from "./migrations/0013-operators.js";
import { moves } from "./migrations/0014-moves.js";
import { operatorChain } from "./migrations/0015-operator-chain.js";
import { acceptedClocks } from "./migrations/0016-accepted-clocks.js";
import { turnedAway } from "./migrations/0017-turned-away.js";
import { railRevisions } from "./migrations/0018-rail-revisions.js";
import { secondPerson } from "./migrations/0019-second-person.js";
import { deposits } from "./migrations/0020-deposits.js";
import { charges } from "./migrations/0021-charges.js";
import { warnings } from "./migrations/0022-warnings.js";
import { destinations } from "./migrations/0023-destinations.js";
import { reserveRules } from "./migrations/0024-reserve-rules.js";
import { depositReturns } from "./migrations/0025-deposit-returns.js";
import { journalFilters } from "./migrations/0026-journal-filters.js";
import { sessions } from "./migrations/0027-sessions.js";
import { turnover } from "./migrations/0028-turnover.js";
import { reveals } from "./migrations/0029-reveals.js";
import { statusQuestions } from "./migrations/0030-status-questions.js";
import { boundRows } from "./migrations/0031-bound-rows.js";
import type { Migration } from "./migrations/migration.js";
import { mayRunBesideServers, mayServe } from "./migrations/release.js";
import type { Engine } from "./sql/engine.js";

/** The rows that are older than this migration have no `mac`. */
export const BINDING_MIGRATION = "0031-bound-rows";

// Migrations run in this order. Never rename one: every migrated database stores the names. Those
// of release 2 and later end in ".serves-<release>" if the servers of that release may go on
// (docs/upgrades.md).
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-organizations": organizations,
  "0002-books": books,
  "0003-accounts": accounts,
  "0004-transactions": transactions,
  "0005-journal": journal,
  "0006-payments": payments,
  "0007-rails": rails,
  "0008-webhooks": webhooks,
  "0009-seals": seals,
  "0010-marks": marks,
  "0011-reserve": reserve,
  "0012-limits": limits,
  "0013-operators": operators,
  "0014-moves": moves,
  "0015-operator-chain": operatorChain,
  "0016-accepted-clocks": acceptedClocks,
  "0017-turned-away": turnedAway,
  "0018-rail-revisions": railRevisions,
  "0019-second-person": secondPerson,
  "0020-deposits": deposits,
  "0021-charges": charges,
  "0022-warnings": warnings,
  "0024-reserve-rules": reserveRules,
  "0025-deposit-returns": depositReturns,
  "0023-destinations": destinations,
  "0026-journal-filters": journalFilters,
  "0027-sessions": sessions,
  "0028-turnover": turnover,
  "0029-reveals": reveals,
  "0030-status-questions": statusQuestions,
  [BINDING_MIGRATION]: boundRows,
};

/**
 * Migrates the schema of a cell to this version. Returns the names of the migrations that it ran;
 * the list is empty if the schema was current. The caller has refused a cell whose list has a gap.
 */
export async function migrate(cell: Pick<Cell, "migrator" | "engine" | "directory">): Promise<string[]> {
  const [, names] = (await cell.migrator.latest(configOf(cell))) as [number, string[]];
  return names;
}

/** Returns the statements of all migrations, in their order. */
export function migrationStatements(engine: Engine): readonly string[] {
  return Object.values(MIGRATIONS).flatMap((migration) => migration(engine));
}

/** Compares the migrations of a cell with those of this version. */
export interface MigrationState {
  /** The migrations that the cell has not run yet. */
  readonly pending: readonly string[];
  /**
   * Those of them that come before one that the cell ran. They ran, too, so somebody has changed
   * the list of Knex. Nobody may run one again.
   */
  readonly gap: readonly string[];
  /**
   * The migrations that the cell ran and this version does not have. A newer version of KESC or
   * another program created them.
   */
  readonly unknown: readonly string[];
  /** Whether servers of this version may serve the cell, although `unknown` may not be empty. */
  readonly isServable: boolean;
  /** Whether all servers must be stopped before the pending migrations run. */
  readonly needsStop: boolean;
}

type MigratingCell = Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> };

export async function migrationState({ reader, engine }: MigratingCell): Promise<MigrationState> {
  const ran = new Set(await ranMigrations({ reader, engine }));
  const names = Object.keys(MIGRATIONS);
  const last = names.findLastIndex((name) => ran.has(name));
  const pending = names.filter((name) => !ran.has(name));
  const unknown = [...ran].filter((name) => !Object.hasOwn(MIGRATIONS, name));
  return {
    pending,
    gap: pending.filter((name) => names.indexOf(name) < last),
    unknown,
    isServable: pending.length === 0 && mayServe(unknown),
    // An empty database has no servers.
    needsStop: ran.size > 0 && pending.length > 0 && !mayRunBesideServers(pending),
  };
}

/**
 * Reads the table of Knex without the list() of Knex, which creates that table where it is missing.
 * Only `kesc migrate` may write to a database that is not ours yet.
 */
export async function ranMigrations({ reader, engine }: MigratingCell): Promise<readonly string[]> {
  try {
    const sql = `SELECT name FROM ${engine.table("knex_migrations")} ORDER BY id`;
    return (await reader.rows<{ readonly name: string }>(sql)).map(({ name }) => name);
  } catch (error) {
    if (engine.isMissingTable(error)) return [];
    throw error;
  }
}

function configOf({ engine, directory }: Pick<Cell, "engine" | "directory">): Knex.MigratorConfig {
  return {
    ...(engine.schema === undefined ? {} : { schemaName: engine.schema }),
    migrationSource: {
      getMigrations: () => Promise.resolve(Object.keys(MIGRATIONS)),
      getMigrationName: (name: string) => name,
      getMigration: (name: string) =>
        Promise.resolve({
          up: async (knex: Knex): Promise<void> => {
            for (const statement of MIGRATIONS[name]?.(engine) ?? []) await knex.raw(statement);
            if (name !== BINDING_MIGRATION) return;
            await bindRows({ engine, directory }, async ({ sql, bindings }) => {
              // The driver of PostgreSQL returns an object with the rows.
              type Found = readonly unknown[] & { readonly rows?: readonly unknown[] };
              const found = await knex.raw<Found>(sql, bindings as Knex.RawBinding[]);
              return found.rows ?? found;
            });
          },
          down: (): never => {
            throw new Error("migrations go forward only");
          },
        }),
    },
  };
}
