import { createHash, randomBytes } from "node:crypto";

import { typeidUnboxed } from "typeid-js";

import type { ApiKey, Organization, Scope } from "../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { Keys } from "../ledger/ports/keys.js";
import type { Database } from "./database.js";
import type { Columns, ColumnType, Engine } from "./sql/engine.js";
import { orStoreError } from "./sql/store-error.js";

interface ApiKeyRow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly secret_sha256: string;
  readonly scopes: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

interface OrganizationRow {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
}

const SECRET_BYTES = 32;

/** Implements the port `Keys`. */
export function keys({ reader, transact, engine }: Database, now: () => UnixMillis): Keys {
  const { insertOrganization, insertSupply, insertApiKey, revokeApiKey } = keyStatements(engine);
  const answered = <Result>(work: PromiseLike<Result>): Promise<Result> => orStoreError(engine, work);
  return {
    async createOrganization(name) {
      const row: OrganizationRow = { id: typeidUnboxed("org"), name, created_at: now() };
      // Also creates the organization's row in `supply`. The ledger can then always update it.
      const supply = { organization_id: row.id, reserve_cents: 0, available_cents: 0, held_cents: 0 };
      await answered(
        transact((session) =>
          session.write([
            { sql: insertOrganization, rows: [row] },
            { sql: insertSupply, rows: [supply] },
          ]),
        ),
      );
      return organizationOf(row);
    },

    async organizations() {
      const rows = await answered(reader.rows<OrganizationRow>("SELECT * FROM organizations ORDER BY created_at, id"));
      return rows.map(organizationOf);
    },

    async organization(id) {
      const [row] = await answered(reader.rows<OrganizationRow>("SELECT * FROM organizations WHERE id = ?", [id]));
      return row === undefined ? undefined : organizationOf(row);
    },

    async createApiKey({ organizationId, name, scopes, expiresAt }) {
      const secret = `kesc_${randomBytes(SECRET_BYTES).toString("base64url")}`;
      const row: ApiKeyRow = {
        id: typeidUnboxed("key"),
        organization_id: organizationId,
        name,
        secret_sha256: sha256(secret),
        scopes: scopes.join(" "),
        created_at: now(),
        expires_at: expiresAt ?? null,
        revoked_at: null,
      };
      await answered(transact((session) => session.write([{ sql: insertApiKey, rows: [row] }])));
      return { key: apiKeyOf(row), secret };
    },

    async apiKeys(organizationId) {
      const rows = await answered(
        reader.rows<ApiKeyRow>("SELECT * FROM api_keys WHERE organization_id = ? ORDER BY created_at, id", [
          organizationId,
        ]),
      );
      return rows.map(apiKeyOf);
    },

    async revokeApiKey(id) {
      const row = await answered(
        transact(async (session) => {
          await session.write([{ sql: revokeApiKey, rows: [{ id, revoked_at: now() }] }]);
          const [found] = await session.read({ sql: "SELECT * FROM api_keys WHERE id = ?", bindings: [id] });
          return found as ApiKeyRow | undefined;
        }),
      );
      return row === undefined ? undefined : apiKeyOf(row);
    },

    async apiKeyWithSecret(secret) {
      const [row] = await answered(
        reader.rows<ApiKeyRow>("SELECT * FROM api_keys WHERE secret_sha256 = ?", [sha256(secret)]),
      );
      return row === undefined ? undefined : apiKeyOf(row);
    },
  };
}

const ORGANIZATION_COLUMNS = { id: "text", name: "text", created_at: "int64" } as const satisfies Columns;

const SUPPLY_COLUMNS = {
  organization_id: "text",
  reserve_cents: "int64",
  available_cents: "int64",
  held_cents: "int64",
} as const satisfies Columns;

const API_KEY_COLUMNS = {
  id: "text",
  organization_id: "text",
  name: "text",
  secret_sha256: "text",
  scopes: "text",
  created_at: "int64",
  expires_at: "int64",
  revoked_at: "int64",
} as const satisfies Record<keyof ApiKeyRow, ColumnType>;

function keyStatements({ insertInto, update }: Engine) {
  return {
    insertOrganization: insertInto("organizations", ORGANIZATION_COLUMNS),
    insertSupply: insertInto("supply", SUPPLY_COLUMNS),
    insertApiKey: insertInto("api_keys", API_KEY_COLUMNS),
    // COALESCE keeps the time of the first revocation.
    revokeApiKey: update("api_keys", {
      key: "id",
      columns: { id: "text", revoked_at: "int64" },
      becomes: (column, given) => `COALESCE(${column}, ${given})`,
    }),
  };
}

function sha256(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function organizationOf(row: OrganizationRow): Organization {
  return { id: row.id as OrganizationId, name: row.name, createdAt: toUnixMillis(row.created_at) };
}

function apiKeyOf(row: ApiKeyRow): ApiKey {
  return {
    id: row.id as ApiKeyId,
    organizationId: row.organization_id as OrganizationId,
    name: row.name,
    scopes: row.scopes.split(" ") as Scope[],
    createdAt: toUnixMillis(row.created_at),
    expiresAt: row.expires_at === null ? undefined : toUnixMillis(row.expires_at),
    revokedAt: row.revoked_at === null ? undefined : toUnixMillis(row.revoked_at),
  };
}
