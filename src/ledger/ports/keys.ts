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
 * The organizations and their keys. Every call rejects with a StoreError "unavailable" when the
 * database fails.
 */
export interface Keys {
  createOrganization(name: string): Promise<Organization>;
  /** Oldest first. */
  organizations(): Promise<readonly Organization[]>;
  organization(id: OrganizationId): Promise<Organization | undefined>;
  /**
   * Makes a random key. `secret` ("kesc_…") is answered here and never again: only its SHA-256 hash
   * is stored.
   */
  createApiKey(key: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /** Oldest first, revoked and expired ones among them. */
  apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]>;
  /** Ends a key for ever. Answers it as it is afterwards, or undefined when there is none. */
  revokeApiKey(id: ApiKeyId): Promise<ApiKey | undefined>;
  /** The key with this secret, live or not. */
  apiKeyWithSecret(secret: string): Promise<ApiKey | undefined>;
}
