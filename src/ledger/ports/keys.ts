import type { ApiKey, Organization, Scope } from "../../domain/api-key.js";
import type { ApiKeyId, OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";

export interface NewApiKey {
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: UnixMillis | undefined;
}

/**
 * The organizations and their API keys. Every call rejects with a StoreError "unavailable" if the
 * database fails.
 */
export interface Keys {
  createOrganization(name: string): Promise<Organization>;
  /** Oldest first. */
  organizations(): Promise<readonly Organization[]>;
  organization(id: OrganizationId): Promise<Organization | undefined>;
  /**
   * Creates a random key. Only this call returns `secret` ("kesc_…"): the database stores its
   * SHA-256 hash alone.
   */
  createApiKey(key: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /** Oldest first. Includes revoked and expired keys. */
  apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]>;
  /** Revokes a key for ever. Returns the revoked key, or undefined if the key does not exist. */
  revokeApiKey(id: ApiKeyId): Promise<ApiKey | undefined>;
  /** Returns the key with this secret, valid or not. */
  apiKeyWithSecret(secret: string): Promise<ApiKey | undefined>;
}
