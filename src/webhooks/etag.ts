import { hash } from "node:crypto";

import type { Endpoint } from "../domain/webhook-endpoint.js";

const ETAG_CHARACTERS = 16;

/**
 * Returns the version of what callers decide about an endpoint. Deliveries do not change it:
 * otherwise a caller could hardly name the current version under load.
 */
export function etagOf({ url, description, types, status, updatedAt }: Endpoint): string {
  const content = JSON.stringify([url, description, types ?? null, status, updatedAt]);
  return hash("sha256", content, "base64url").slice(0, ETAG_CHARACTERS);
}
