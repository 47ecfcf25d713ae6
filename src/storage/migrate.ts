import type { Knex } from "knex";

import type { Cell } from "./database.js";
import { baseline } from "./migrations/0001-first-release.js";
import { statementForms } from "./migrations/0002-statement-forms.js";
import { closedMonths } from "./migrations/0003-closed-months.js";
import { payouts } from "./migrations/0004-payouts.js";
import { stoppedPayouts } from "./migrations/0005-stopped-payouts.js";
import { heldPayouts } from "./migrations/0006-held-payouts.js";
import { bankDestinations } from "./migrations/0007-bank-destinations.js";
import { bankFiles } from "./migrations/0008-bank-files.js";
import { payoutChecks } from "./migrations/0009-payout-checks.js";
import { payoutLists } from "./migrations/0010-payout-lists.js";
import type { Migration } from "./migrations/migration.js";
import type { Engine } from "./sql/engine.js";

// Migrations run in this order. Never rename one: every migrated database stores the names. Those
// of release 2 and later end in ".serves-<release>" if the servers of that release may go on
// (migrations/README.md). Tests give the program one more.
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first-release": baseline,
  "0002-statement-forms": statementForms,
  "0003-closed-months": closedMonths,
  "0004-payouts": payouts,
  "0005-stopped-payouts": stoppedPayouts,
  "0006-held-payouts": heldPayouts,
  "0007-bank-destinations": bankDestinations,
  "0008-bank-files": bankFiles,
  "0009-payout-checks": payoutChecks,
  "0010-payout-lists": payoutLists,
};

/** The first migration of databases from before the first release. */
const OF_EARLIER_BUILDS = ["0001-organizations", "0001-baseline"];

/** What to do about what an earlier build has made. */
export const EARLIER_BUILD_ADVICE = "The commit 02d2932f is the last that reads it.";

/** Whether a build from before the first release has run these migrations. */
export function areOfEarlierBuild(names: readonly string[]): boolean {
  return names.some((name) => OF_EARLIER_BUILDS.includes(name));
}

/**
 * The release of the schema that this program makes. A release with new migrations counts one up.
 * See migrations/README.md.
 */
export const SCHEMA_RELEASE = 1;

/**
 * Migrates the schema of a cell to this version. Returns the names of the migrations that it ran;
 * the list is empty if the schema was current. The caller has refused a cell whose list has a gap.
 */
export async function migrate(cell: Pick<Cell, "migrator" | "engine">): Promise<string[]> {
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
   * The pending migrations that come before one that the cell ran. They ran, too, so somebody has
   * changed the list of Knex. Nobody may run one again.
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
    // An earlier build began with another migration, and nobody took one out of its list.
    gap: areOfEarlierBuild(unknown) ? [] : pending.filter((name) => names.indexOf(name) < last),
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

function configOf({ engine }: Pick<Cell, "engine">): Knex.MigratorConfig {
  return {
    ...(engine.schema === undefined ? {} : { schemaName: engine.schema }),
    migrationSource: {
      getMigrations: () => Promise.resolve(Object.keys(MIGRATIONS)),
      getMigrationName: (name: string) => name,
      getMigration: (name: string) =>
        Promise.resolve({
          up: async (knex: Knex): Promise<void> => {
            for (const statement of MIGRATIONS[name]?.(engine) ?? []) await knex.raw(statement);
          },
          down: (): never => {
            throw new Error("migrations go forward only");
          },
        }),
    },
  };
}

// An older program knows nothing of a newer migration but its name, which Knex stores in the same
// transaction. So the name says which programs may serve the schema: "0002-tiers.serves-1".
const SERVES = /\.serves-([1-9][0-9]*)$/;

/**
 * Returns the oldest release whose servers may serve a schema with this migration. Undefined: those
 * that do not know the migration may not.
 */
export function servesFrom(name: string): number | undefined {
  const [, release] = SERVES.exec(name) ?? [];
  return release === undefined ? undefined : Number(release);
}

/** Whether servers of a release may serve a schema with migrations that they do not know. */
export function mayServe(unknown: readonly string[], release = SCHEMA_RELEASE): boolean {
  return unknown.every((name) => (servesFrom(name) ?? Infinity) <= release);
}

/**
 * Whether the servers that run may go on while these migrations run. Migrations of two releases in
 * one step would skip the release between.
 */
export function mayRunBesideServers(pending: readonly string[]): boolean {
  const releases = new Set(pending.map(servesFrom));
  return !releases.has(undefined) && releases.size <= 1;
}
