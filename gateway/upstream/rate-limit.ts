import type { Metadata } from "@grpc/grpc-js";

import type { RateLimit } from "../../contract/rpc.js";

/** Reads how many calls the key has left. Undefined: the server has not counted the call. */
export function rateLimitOf(metadata: Metadata): RateLimit | undefined {
  const [limit] = metadata.get("ratelimit");
  const [policy] = metadata.get("ratelimit-policy");
  return limit === undefined || policy === undefined ? undefined : { limit: String(limit), policy: String(policy) };
}
