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

/** Returns a key as JSON for scripts, without its secret. */
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

/** Returns a key as JSON for scripts, with the time of its revocation. */
export function listedKeyJson(key: ApiKey): KeyJson & { readonly revoked_at: string | null } {
  return { ...keyJson(key), revoked_at: timeOf(key.revokedAt) };
}
