import type { ApiKeyId, OrganizationId } from "./values/ids.js";
import { type Parsed, parsed, parseOneOf, unparsed } from "./values/parsed.js";
import type { UnixMillis } from "./values/time.js";

export const SCOPES = [
  "accounts:read",
  "accounts:write",
  "transactions:read",
  "transactions:write",
  "transactions:resolve",
  "deposits:read",
  "events:read",
  "books:read",
  "webhooks:read",
  "webhooks:write",
  "destinations:write",
] as const;

/** A permission of an API key. */
export type Scope = (typeof SCOPES)[number];

/** An API key of an organization, without its secret. */
export interface ApiKey {
  readonly id: ApiKeyId;
  readonly organizationId: OrganizationId;
  /** The number of the cell that holds the organization's book. */
  readonly cell: number;
  /** A label that the operator chose. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: UnixMillis;
  /** Undefined for a key that never expires. */
  readonly expiresAt: UnixMillis | undefined;
  readonly revokedAt: UnixMillis | undefined;
  /** To about an hour. Undefined for a key that was never used. */
  readonly lastUsedAt: UnixMillis | undefined;
}

/** A key as the book of its organization has it. */
export interface StoredApiKey extends Omit<ApiKey, "cell" | "lastUsedAt"> {
  /** In hexadecimal. */
  readonly secretSha256: string;
}

export interface Organization {
  readonly id: OrganizationId;
  /** The number of the cell that holds the organization's book. */
  readonly cell: number;
  /** A label that the operator chose. */
  readonly name: string;
  /** Whether it is for tests. Its keys begin with "kesc_test_". */
  readonly isSandbox: boolean;
  /** Whether the operator has suspended it: its calls that write are refused. */
  readonly isSuspended: boolean;
  /** Whether its mints on the direct rail need a receipt. */
  readonly areReceiptsRequired: boolean;
  readonly createdAt: UnixMillis;
}

/**
 * An organization whose row somebody has changed past the service. Its name and its mode may be
 * false, so lists show it as changed, and nothing is done with it.
 */
export interface ChangedOrganization {
  readonly changed: Organization;
}

export type FoundOrganization = Organization | ChangedOrganization;

/** Returns whether the row of the organization is as the service wrote it. */
export function isWhole(found: FoundOrganization): found is Organization {
  return !("changed" in found);
}

/** Returns the organization as its row says, be it true or not: for what decides nothing. */
export function asWritten(found: FoundOrganization): Organization {
  return isWhole(found) ? found : found.changed;
}

/** Returns whether the key is valid at this moment: neither revoked nor expired. */
export function isLive(key: ApiKey, now: UnixMillis): boolean {
  return key.revokedAt === undefined && (key.expiresAt === undefined || key.expiresAt > now);
}

const CERTIFICATE_NAME = /^(DNS|URI):([\x21-\x2b\x2d-\x7e]{1,200})$/;

/**
 * Parses a subject alternative name of a certificate, such as "URI:spiffe://example.com/billing" or
 * "DNS:billing.example.com". Names of hosts become lower case.
 */
export function parseCertificateName(unchecked: string): Parsed<string> {
  const [, type, name = ""] = CERTIFICATE_NAME.exec(unchecked) ?? [];
  if (type === undefined) {
    return unparsed(
      "must be URI: or DNS: and the name as the certificate has it, such as URI:spiffe://example.com/billing",
      "FORMAT",
    );
  }
  return parsed(`${type}:${type === "DNS" ? name.toLowerCase() : name}`);
}

// No secret of a key has a space.
const CERTIFICATE = "certificate ";

/**
 * Returns the text by which a key is found that a certificate with these names stands for. It takes
 * the place of a key's secret.
 */
export function credentialOfCertificate(names: string): string {
  return `${CERTIFICATE}${names}`;
}

/** Returns the names of such a text, and undefined for the secret of a key. */
export function namesOfCredential(credential: string): readonly string[] | undefined {
  return credential.startsWith(CERTIFICATE) ? credential.slice(CERTIFICATE.length).split(",") : undefined;
}

/** Parses one scope, such as "accounts:read". */
export function parseScope(unchecked: string): Parsed<Scope> {
  return parseOneOf(unchecked, SCOPES);
}
