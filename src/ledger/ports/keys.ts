import type { ApiKey, FoundOrganization, Organization, Scope } from "../../domain/api-key.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";

export interface NewOrganization {
  readonly cell?: number | undefined;
  readonly isSandbox?: boolean;
}

export interface NewApiKey {
  readonly organizationId: OrganizationId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt: UnixMillis | undefined;
}

/** A key that a client certificate stands for. Its name is the certificate's. */
export interface NewCertificateKey extends Omit<NewApiKey, "name"> {
  /** A name of the certificate that `parseCertificateName` gave. */
  readonly certificateName: string;
}

/**
 * The organizations and their API keys. Every call rejects with a StoreError "unavailable" if the
 * database fails.
 */
export interface Keys {
  /**
   * Creates an organization with an empty book. Without a given cell it chooses the one with the
   * fewest organizations. Rejects with a RangeError if the cell does not exist.
   */
  createOrganization(name: string, given?: NewOrganization): Promise<Organization>;
  /** Oldest first. */
  organizations(): Promise<readonly FoundOrganization[]>;
  organization(id: OrganizationId): Promise<FoundOrganization | undefined>;
  /**
   * Creates a random key, with a row in the book of the organization. Only this call returns
   * `secret` ("kesc_0_…", with the number of the cell): the database stores its SHA-256 hash alone.
   * Rejects if the organization does not exist.
   */
  createApiKey(key: NewApiKey): Promise<{ key: ApiKey; secret: string }>;
  /**
   * Creates a key without a secret, with a row in the book: callers with the certificate have it.
   * Returns the holder instead if a valid key of any organization has that name already.
   */
  createCertificateKey(
    key: NewCertificateKey,
  ): Promise<{ readonly key: ApiKey } | { readonly key: undefined; readonly holder: ApiKey }>;
  /** Oldest first. Includes revoked and expired keys. */
  apiKeys(organizationId: OrganizationId): Promise<readonly ApiKey[]>;
  /**
   * Returns the key with this secret, valid or not. In place of the secret it takes the names of a
   * certificate (`credentialOfCertificate`), of which exactly one must have a valid key. Returns
   * "moved" if the organization of the key has left this database, or is just leaving its cell. A
   * key that somebody has written or changed past the service is none.
   */
  apiKeyWithSecret(secret: string): Promise<ApiKey | "moved" | undefined>;
}
