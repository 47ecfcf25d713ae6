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

// In the order in which they run. A name stands in every database that ran it: never renamed.
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
 * Brings the schema up to date. Answers the names of the migrations that it ran; none when it was
 * up to date.
 */
export async function migrate({ migrator, engine }: Pick<Database, "migrator" | "engine">): Promise<string[]> {
  const [, names] = (await migrator.latest(configOf(engine))) as [number, string[]];
  return names;
}

/** What of the migrations the database has run. */
export interface MigrationState {
  /** Those that it has not run yet. */
  readonly pending: readonly string[];
  /**
   * Those that it ran and that we have never heard of: a newer version of KESC, or another program,
   * made them.
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
