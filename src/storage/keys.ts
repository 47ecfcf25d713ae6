import { createHash, randomBytes } from "node:crypto";

import type { Knex } from "knex";
import { typeidUnboxed } from "typeid-js";

import type { ApiKey, Organization, Scope } from "../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { Keys } from "../ledger/ports/keys.js";
import type { Database } from "./database.js";
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

/** The key port, on Knex. */
export function keys({ reader, write, engine }: Database, now: () => UnixMillis): Keys {
  const answered = <Result>(work: PromiseLike<Result>): Promise<Result> => orStoreError(engine, work);
  return {
    async createOrganization(name) {
      const row: OrganizationRow = { id: typeidUnboxed("org"), name, created_at: now() };
      await answered(write.transaction((knex) => insertOrganization(knex, row)));
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
      await answered(write<ApiKeyRow>("api_keys").insert(row));
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
      // The first revocation counts.
      await answered(write<ApiKeyRow>("api_keys").where({ id }).whereNull("revoked_at").update({ revoked_at: now() }));
      const row = await answered(write<ApiKeyRow>("api_keys").where({ id }).first<ApiKeyRow | undefined>());
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

// With its row of the supply, so that the ledger never has to ask whether there is one.
async function insertOrganization(knex: Knex, row: OrganizationRow): Promise<void> {
  await knex<OrganizationRow>("organizations").insert(row);
  await knex("supply").insert({ organization_id: row.id, reserve_cents: 0, available_cents: 0, held_cents: 0 });
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
