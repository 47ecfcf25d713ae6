import { LRUCache } from "lru-cache";

import type { Fields } from "./contract.js";
import type { CallContext, Reading, ReadingOf, RpcName, Upstream } from "./upstream.js";

const MINUTE_MILLIS = 60_000;
/** Enough for the series of 125 pages. */
const READINGS_MAX = 4_000;

/**
 * Reads the past of books, and keeps each reading for a minute. A chart asks for 31 points of a
 * book, which do not change. Each session has readings of its own, so nobody sees what the server
 * would refuse. A refusal is not kept.
 */
export class PastReads {
  readonly #readings = new LRUCache<string, Promise<Reading<unknown>>>({ max: READINGS_MAX, ttl: MINUTE_MILLIS });

  async read<Rpc extends RpcName>(
    read: Upstream["read"],
    ...[rpc, fields, context]: [Rpc, Fields, CallContext]
  ): Promise<ReadingOf<Rpc>> {
    const key = JSON.stringify([context.token, context.organizationId, rpc, fields]);
    const known = this.#readings.get(key) as Promise<ReadingOf<Rpc>> | undefined;
    if (known !== undefined) return known;
    const reading = read(rpc, fields, context);
    this.#readings.set(key, reading);
    if (!(await reading).ok) this.#readings.delete(key);
    return reading;
  }
}
