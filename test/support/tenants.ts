import { SCOPES } from "../../src/domain/api-key.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { Keys } from "../../src/ledger/ports/keys.js";
import { openDatabase } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { migrate } from "../../src/storage/migrate.js";
import { configOf } from "./config.js";

/** An organization with a key that may do everything. */
export interface Tenant {
  readonly organizationId: string;
  readonly key: string;
}

/**
 * Works with the organizations and keys of a database, as the `kesc` command would, without a
 * process for each step.
 */
export async function withKeys<Result>(
  url: string | undefined,
  work: (keys: Keys) => Promise<Result>,
): Promise<Result> {
  const database = await openDatabase(configOf({ DATABASE_URL: url }).database);
  try {
    await migrate(database);
    return await work(keys(database, () => toUnixMillis(Date.now())));
  } finally {
    await database.close();
  }
}

export function makeTenants(url: string | undefined): Promise<readonly [Tenant, Tenant]> {
  return withKeys(url, async (keys) => [await makeTenant(keys, "A"), await makeTenant(keys, "B")]);
}

async function makeTenant(keys: Keys, name: string): Promise<Tenant> {
  const { id: organizationId } = await keys.createOrganization(name);
  const { secret } = await keys.createApiKey({ organizationId, name, scopes: SCOPES, expiresAt: undefined });
  return { organizationId, key: secret };
}
