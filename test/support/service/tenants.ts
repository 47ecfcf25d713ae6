import { existsSync } from "node:fs";

import { type Scope, SCOPES } from "../../../src/domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import type { Database } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { migrate } from "../../../src/storage/migrate.js";
import { openDatabaseAt, putMigratedSqlite } from "../databases.js";

const SQLITE = "sqlite:";

/** An organization with a key that may do everything. */
export interface Tenant {
  readonly organizationId: OrganizationId;
  readonly key: string;
}

/**
 * Works with the organizations and keys of a database as the `kesc` command would, but without a
 * process for each step.
 */
export async function withKeys<Result>(
  url: string,
  work: (keys: Keys, database: Database) => Promise<Result>,
): Promise<Result> {
  const filename = url.startsWith(SQLITE) ? url.slice(SQLITE.length) : undefined;
  if (filename !== undefined && !existsSync(filename)) await putMigratedSqlite(filename);
  const database = await openDatabaseAt(url);
  try {
    for (const cell of database.cells) await migrate(cell);
    return await work(
      keys(database, () => toUnixMillis(Date.now())),
      database,
    );
  } finally {
    await database.close();
  }
}

export async function makeTenants(keys: Keys): Promise<readonly [Tenant, Tenant]> {
  return [await makeTenant(keys, "A"), await makeTenant(keys, "B")];
}

export async function makeTenant(keys: Keys, name: string): Promise<Tenant> {
  const { id: organizationId } = await keys.createOrganization(name);
  const { secret } = await makeKey(keys, organizationId);
  return { organizationId, key: secret };
}

/** By default a key for everything and for ever. */
export async function makeKey(
  keys: Keys,
  organizationId: OrganizationId,
  { scopes = SCOPES, expiresAt }: { scopes?: readonly Scope[]; expiresAt?: UnixMillis } = {},
): Promise<{ readonly id: ApiKeyId; readonly secret: string }> {
  const { key, secret } = await keys.createApiKey({ organizationId, name: "test", scopes, expiresAt });
  return { id: key.id, secret };
}
