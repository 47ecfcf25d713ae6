import type { Knex } from "knex";

import type { Database } from "./database.js";
import { organizations } from "./migrations/0001-organizations.js";
import { accounts } from "./migrations/0002-accounts.js";
import { transactions } from "./migrations/0003-transactions.js";
import { journal } from "./migrations/0004-journal.js";
import { supply } from "./migrations/0005-supply.js";
import { idempotencyKeys } from "./migrations/0006-idempotency-keys.js";
import { accountChain } from "./migrations/0007-account-chain.js";
import type { Migration } from "./migrations/migration.js";
import type { Engine } from "./sql/engine.js";

// Migrations run in this order. Never rename one: every migrated database stores the names.
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-organizations": organizations,
  "0002-accounts": accounts,
  "0003-transactions": transactions,
  "0004-journal": journal,
  "0005-supply": supply,
  "0006-idempotency-keys": idempotencyKeys,
  "0007-account-chain": accountChain,
};

/**
 * Migrates the schema to this version. Returns the names of the migrations that it ran; the list is
 * empty if the schema was current.
 */
export async function migrate({ migrator, engine }: Pick<Database, "migrator" | "engine">): Promise<string[]> {
  const [, names] = (await migrator.latest(configOf(engine))) as [number, string[]];
  return names;
}

/** Compares the migrations of the database with the migrations of this version. */
export interface MigrationState {
  /** The migrations that the database has not run yet. */
  readonly pending: readonly string[];
  /**
   * The migrations that the database ran and this version does not have. A newer version of KESC or
   * another program created them.
   */
  readonly unknown: readonly string[];
}

export async function migrationState({ migrator, engine }: Database): Promise<MigrationState> {
  const config = { ...configOf(engine), disableMigrationsListValidation: true };
  const [ran, pending] = (await migrator.list(config)) as [{ name: string }[], string[]];
  const unknown = ran.map(({ name }) => name).filter((name) => !Object.hasOwn(MIGRATIONS, name));
  return { pending, unknown };
}

function configOf(engine: Engine): Knex.MigratorConfig {
  return {
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
