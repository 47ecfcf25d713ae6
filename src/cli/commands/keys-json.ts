import type { ApiKey } from "../../domain/api-key.js";
import { timeOf } from "./output.js";

export interface KeyJson {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
}

/** A key as scripts read it, without its secret. */
export function keyJson(key: ApiKey): KeyJson {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    scopes: key.scopes,
    created_at: timeOf(key.createdAt),
    expires_at: timeOf(key.expiresAt),
  };
}

/** A key that may have been revoked, as scripts read it. */
export function listedKeyJson(key: ApiKey): KeyJson & { readonly revoked_at: string | null } {
  return { ...keyJson(key), revoked_at: timeOf(key.revokedAt) };
}
