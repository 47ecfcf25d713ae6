import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

import { LRUCache } from "lru-cache";

import { callerOf } from "../../runtime/fair-share.js";

const KNOWN_KEYS_MAX = 10_000;
const UNKNOWN = "";

/**
 * Names the caller of a request. A key has a name of its own once the server has accepted it; all
 * other keys together are one caller. So random keys do not take the slots and turns of others
 * (docs/adr/0026).
 */
export class Callers {
  /** The SHA-256 of each accepted key, so that the cache holds no secret. */
  readonly #known = new LRUCache<string, true>({ max: KNOWN_KEYS_MAX });

  nameOf(headers: IncomingHttpHeaders): string {
    const digest = digestOf(headers);
    return this.#known.get(digest) === true ? digest : UNKNOWN;
  }

  /** Learns from the code of a response, such as "OK", whether the key is valid. */
  learn(headers: IncomingHttpHeaders, code: string | undefined): void {
    if (code === "OK") this.#known.set(digestOf(headers), true);
    else if (code === "INVALID_API_KEY") this.#known.delete(digestOf(headers));
  }
}

function digestOf(headers: IncomingHttpHeaders): string {
  return hash("sha256", callerOf(String(headers["x-api-key"] ?? headers.authorization ?? "")), "base64");
}
