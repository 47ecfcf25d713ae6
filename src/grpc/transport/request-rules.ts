import type { IncomingHttpHeaders } from "node:http2";

import { guardMeantBy, type GuardName } from "../../../runtime/guard-names.js";
import type { CallRefusal } from "../errors/refusal.js";

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:[ \t]*;.*)?$/i;
const TIMEOUT = /^([0-9]{1,8})([HMSmun])$/;
const UNIT_MILLIS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
// The largest delay of a timer. A larger timeout overflows in grpc-js and ends the call at once.
const TIMER_MILLIS_MAX = 2_147_483_647;

/** The compressions that grpc-js can undo. */
export const COMPRESSIONS: ReadonlySet<string> = new Set(["gzip", "deflate"]);

const REMEDIES: Readonly<Record<GuardName, string>> = {
  "idempotency-key": "Send idempotency-key.",
  "if-match": "Send the etag in the field of the request.",
  "if-none-match": "Send the etag in the field of the request.",
};

/** REST has these headers. Over gRPC the request has a field. */
function isMatch(name: string): name is "if-match" | "if-none-match" {
  return name === "if-match" || name === "if-none-match";
}

/** Returns whether the client says that it speaks gRPC. */
export function isGrpc({ "content-type": type }: IncomingHttpHeaders): boolean {
  return type === "application/grpc" || CONTENT_TYPE.test(type ?? "");
}

/**
 * Returns the refusal of a call whose HTTP/2 headers break the rules of gRPC. grpc-js checks none
 * of these headers, or only half of them, and would run the call. `raw` has names and values in
 * turn, as Node's event `stream` gives them: they are read in a third of the time.
 *
 * Removes a `grpc-timeout` that no timer can hold.
 */
export function refusalOfHeaders(headers: IncomingHttpHeaders, raw: readonly string[]): CallRefusal | undefined {
  if (!isGrpc(headers)) return malformed("The content-type must be application/grpc.");
  if (headers[":method"] !== "POST") return malformed("The :method must be POST.");
  const encoding = headers["grpc-encoding"];
  if (encoding !== undefined && encoding !== "identity" && !COMPRESSIONS.has(String(encoding))) {
    return { reason: "UNSUPPORTED_COMPRESSION" };
  }
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? "";
    const guard = isMatch(name) ? name : guardMeantBy(name);
    if (guard !== undefined) return malformed(`Nothing reads the metadata ${name}. ${REMEDIES[guard]}`);
  }
  const timeout = headers["grpc-timeout"];
  if (timeout === undefined) return undefined;
  const [, digits, unit] = TIMEOUT.exec(String(timeout)) ?? [];
  const millis = Number(digits) * (UNIT_MILLIS[unit ?? ""] ?? NaN);
  if (Number.isNaN(millis)) {
    return malformed("The grpc-timeout must be 1 to 8 digits and one of the units H, M, S, m, u and n, such as 5S.");
  }
  // The caller no longer waits: nothing is done.
  if (millis === 0) return { reason: "DEADLINE_EXCEEDED" };
  if (millis > TIMER_MILLIS_MAX) delete headers["grpc-timeout"];
  return undefined;
}

export interface RequestFramesOptions {
  /** Whether the rpc takes any number of messages. Otherwise it takes exactly one. */
  readonly isStream: boolean;
  /** Whether the header `grpc-encoding` names a compression. */
  readonly isCompressed: boolean;
  /** Maximum size of a message. */
  readonly bytesMax: number;
}

// A message follows a flag and four bytes with its length.
const PREFIX_BYTES = 5;

/**
 * Checks the frames of gRPC in the body of a request. grpc-js takes any flag, ignores bytes after
 * the last whole message, and refuses only the size with a status of its own.
 */
export class RequestFrames {
  readonly #options: RequestFramesOptions;
  #messages = 0;
  /** The bytes of the prefix that have arrived. It can be spread over several chunks. */
  #prefixBytes = 0;
  #length = 0;
  /** The bytes of the message that have not arrived. */
  #left = 0;

  constructor(options: RequestFramesOptions) {
    this.#options = options;
  }

  /** Returns the refusal of the call if the chunk breaks a rule. */
  read(chunk: Uint8Array): CallRefusal | undefined {
    for (let at = 0; at < chunk.length;) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#left -= taken;
        at += taken;
        continue;
      }
      const refusal = this.#readPrefix(chunk[at] ?? 0);
      if (refusal !== undefined) return refusal;
      at += 1;
    }
    return undefined;
  }

  /** Returns the refusal of the call if the body must not end here. */
  end(): CallRefusal | undefined {
    if (this.#prefixBytes > 0 || this.#left > 0) return malformed("The body ends in the middle of a message.");
    if (!this.#options.isStream && this.#messages === 0) return malformed("The body has no message.");
    return undefined;
  }

  #readPrefix(byte: number): CallRefusal | undefined {
    const { isStream, isCompressed, bytesMax } = this.#options;
    if (this.#prefixBytes === 0) {
      if (!isStream && this.#messages === 1) return malformed("The body has bytes after its message.");
      if (byte > 1) return malformed("The flag of a message must be 0 or 1.");
      if (byte === 1 && !isCompressed)
        return malformed("A message is compressed, but grpc-encoding names no compression.");
      this.#length = 0;
    } else {
      this.#length = this.#length * 256 + byte;
    }
    this.#prefixBytes += 1;
    if (this.#prefixBytes < PREFIX_BYTES) return undefined;
    this.#prefixBytes = 0;
    this.#messages += 1;
    this.#left = this.#length;
    return this.#length > bytesMax ? { reason: "REQUEST_TOO_LARGE", bytesMax } : undefined;
  }
}

function malformed(problem: string): CallRefusal {
  return { reason: "MALFORMED_REQUEST", problem };
}
