import type { IncomingHttpHeaders } from "node:http2";

import type { CallRefusal } from "../errors/refusal.js";

const CONTENT_TYPE = /^application\/grpc(?:\+proto)?(?:[ \t]*;.*)?$/i;
const TIMEOUT = /^([0-9]{1,8})([HMSmun])$/;
const UNIT_MILLIS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };
// The largest delay of a timer. A larger timeout overflows in grpc-js and ends the call at once.
const TIMER_MILLIS_MAX = 2_147_483_647;

/** The compressions that grpc-js can undo. */
export const COMPRESSIONS: ReadonlySet<string> = new Set(["gzip", "deflate"]);

/** Returns whether the client says that it speaks gRPC. */
export function isGrpc({ "content-type": type }: IncomingHttpHeaders): boolean {
  return type === "application/grpc" || CONTENT_TYPE.test(type ?? "");
}

/**
 * Returns the refusal of a call whose HTTP/2 headers break the rules of gRPC. grpc-js checks none
 * of these headers, or only half of them, and would run the call.
 *
 * Removes a `grpc-timeout` that no timer can hold.
 */
export function refusalOfHeaders(headers: IncomingHttpHeaders): CallRefusal | undefined {
  if (!isGrpc(headers)) return malformed("The content-type must be application/grpc.");
  if (headers[":method"] !== "POST") return malformed("The :method must be POST.");
  const encoding = headers["grpc-encoding"];
  if (encoding !== undefined && encoding !== "identity" && !COMPRESSIONS.has(String(encoding))) {
    return { reason: "UNSUPPORTED_COMPRESSION" };
  }
  const timeout = headers["grpc-timeout"];
  if (timeout === undefined) return undefined;
  const [, digits, unit] = TIMEOUT.exec(String(timeout)) ?? [];
  const millis = Number(digits) * (UNIT_MILLIS[unit ?? ""] ?? NaN);
  if (Number.isNaN(millis)) {
    return malformed("The grpc-timeout must be 1 to 8 digits and one of the units H, M, S, m, u and n, such as 5S.");
  }
  if (millis > TIMER_MILLIS_MAX) delete headers["grpc-timeout"];
  return undefined;
}

function malformed(problem: string): CallRefusal {
  return { reason: "MALFORMED_REQUEST", problem };
}
