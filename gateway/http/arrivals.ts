import type { IncomingMessage } from "node:http";

import { type RawBodyResult, readRawBody } from "./request-body.js";

// Together at most 32 MiB.
const REQUESTS_MAX = 512;
const BODY_BYTES_MAX = 65_536;

/**
 * Counts the requests that need no key, from their heads to their ends. A request gets a slot once
 * its body is there, so half-sent bodies take no slot from a rail. When there is no room for one
 * more, the request is cut off whose body is late for the longest time: a rail sends all at once.
 */
export class Arrivals {
  /** Cuts the connection of a request whose body is not there yet. The oldest is the first. */
  readonly #late = new Set<() => void>();
  readonly #bodyBytesMax: number;
  #requests = 0;

  constructor({ bodyBytesMax }: { readonly bodyBytesMax: number }) {
    this.#bodyBytesMax = Math.min(bodyBytesMax, BODY_BYTES_MAX);
  }

  /** Returns whether there is room for the request. If so, `leave` must follow once. */
  enter(): boolean {
    if (this.#requests >= REQUESTS_MAX) {
      const [cut] = this.#late;
      if (cut === undefined) return false;
      cut();
    }
    this.#requests += 1;
    return true;
  }

  leave(): void {
    this.#requests -= 1;
  }

  /** Reads the body. Never rejects: one that is cut off is a problem. */
  async read(req: IncomingMessage): Promise<RawBodyResult> {
    const cut = (): void => {
      this.#late.delete(cut);
      req.socket.destroy();
    };
    this.#late.add(cut);
    const body = await readRawBody(req, this.#bodyBytesMax);
    this.#late.delete(cut);
    return body;
  }
}
