import type { Socket } from "node:net";

import { LRUCache } from "lru-cache";

import { FairShare } from "../../runtime/fair-share.js";
import type { HttpServer } from "../../runtime/transport/http-server.js";

// Enough for a team, and a bound for the memory. A caller who is forgotten begins anew.
const CALLERS_MAX = 10_000;
const MINUTE_MILLIS = 60_000;

/**
 * Bounds the open connections of a server, and shares them among addresses: one alone gets half, so
 * its idle sockets shut nobody out.
 */
export function shareConnections(server: HttpServer, connectionsMax: number): void {
  const share = new FairShare(connectionsMax);
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    if (!share.acquire(address)) socket.destroy();
    else {
      socket.once("close", () => {
        share.release(address);
      });
    }
  });
}

/** Counts the calls of each caller in a minute. One caller cannot use up the calls of another. */
export class PerMinute {
  readonly #max: number;
  readonly #counts: LRUCache<string, { count: number }>;

  constructor(max: number) {
    this.#max = max;
    // A count ends a minute after its first call.
    this.#counts = new LRUCache({ max: CALLERS_MAX, ttl: MINUTE_MILLIS });
  }

  /** Counts a call. Returns whether it is within the limit. */
  take(caller: string): boolean {
    const entry = this.#counts.get(caller) ?? { count: 0 };
    if (entry.count === 0) this.#counts.set(caller, entry);
    entry.count += 1;
    return entry.count <= this.#max;
  }
}

/** Bounds how many requests of one caller run at once. */
export class AtOnce {
  readonly #max: number;
  readonly #underWay = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Returns whether the caller has room. If so, `leave` must follow exactly once. */
  enter(caller: string): boolean {
    const count = this.#underWay.get(caller) ?? 0;
    if (count >= this.#max) return false;
    this.#underWay.set(caller, count + 1);
    return true;
  }

  leave(caller: string): void {
    const count = (this.#underWay.get(caller) ?? 1) - 1;
    if (count === 0) this.#underWay.delete(caller);
    else this.#underWay.set(caller, count);
  }
}
