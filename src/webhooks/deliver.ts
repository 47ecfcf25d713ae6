import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";

import { RequestFilteringHttpsAgent } from "request-filtering-agent";

import type { UnixMillis } from "../domain/values/time.js";
import { type AllowedHosts, parseStoredUrl } from "./allowed.js";
import { RESPONSE_BYTES_MAX } from "./limits.js";
import type { Delivery, ReceiverAnswer, SendDelivery } from "./ports/delivery.js";
import { parseRetryAfter } from "./schedule.js";

const IDLE_MILLIS = 10_000;
const FREE_SOCKETS_MAX = 8;
// Addresses of IPv4 in the old form of IPv6, "::127.0.0.1". The agent takes them for public ones.
const IPV4_COMPATIBLE = "::/96";
const NOT_PUBLIC = "its host has no public address";

interface SenderOptions {
  readonly allowed: AllowedHosts;
  readonly now: () => UnixMillis;
  /** The look-up of names. The one of Node when omitted. */
  readonly lookup?: LookupFunction;
}

/** Sends deliveries over connections of its own. */
export interface Sender {
  readonly send: SendDelivery;
  /** Closes the idle connections. */
  close(): void;
}

/**
 * Makes a sender that connects to public addresses only, apart from the hosts that the operator
 * allows. The agent checks the address to which the socket really connects, after the look-up of
 * the name. So a name that changes its address meanwhile changes nothing.
 */
export function senderTo({ allowed, now, lookup }: SenderOptions): Sender {
  const pool = {
    keepAlive: true,
    maxFreeSockets: FREE_SOCKETS_MAX,
    timeout: IDLE_MILLIS,
    ...(lookup === undefined ? {} : { lookup }),
  };
  const publicHosts = new RequestFilteringHttpsAgent({ ...pool, denyIPAddressList: [IPV4_COMPATIBLE] });
  const allowedHosts = { "http:": new http.Agent(pool), "https:": new https.Agent(pool) };
  const agents = [publicHosts, ...Object.values(allowedHosts)];

  const send: SendDelivery = async (delivery, bounds) => {
    // The operator may have allowed less since the endpoint was stored.
    if (!parseStoredUrl(delivery.url, allowed).ok) {
      return { code: 0, problem: "its url is not allowed any more", retryAfterMillis: undefined };
    }
    const url = new URL(delivery.url);
    const agent = allowed.has(url) ? allowedHosts[url.protocol === "http:" ? "http:" : "https:"] : publicHosts;
    return post(url, { ...delivery, ...bounds, agent, now });
  };
  return {
    send,
    close: () => {
      for (const agent of agents) agent.destroy();
    },
  };
}

interface Post extends Delivery {
  readonly agent: http.Agent;
  readonly millis: number;
  readonly signal: AbortSignal;
  readonly readsBody?: true;
  readonly now: () => UnixMillis;
}

/** Sends one request, and reads its response within the bounds. Never rejects. */
function post(url: URL, { headers, body, agent, millis, signal, readsBody, now }: Post): Promise<ReceiverAnswer> {
  const { request: connect } = url.protocol === "http:" ? http : https;
  return new Promise((resolve) => {
    let code = 0;
    let request: http.ClientRequest | undefined;
    const end = (problem: string, retryAfterMillis?: number, read?: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve({ code, problem, retryAfterMillis, ...(read === undefined ? {} : { body: read }) });
    };
    /** Ends the connection, too: what is left of a response is not read. */
    const cut = (problem: string, retryAfterMillis?: number): void => {
      end(problem, retryAfterMillis);
      request?.destroy();
    };
    const onAbort = (): void => {
      cut("the server stopped");
    };
    const timer = setTimeout(() => {
      cut(`no whole response within ${String(millis / 1_000)} seconds`);
    }, millis);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) {
      onAbort();
      return;
    }
    const onError = (error: unknown): void => {
      cut(problemOf(error));
    };
    try {
      request = connect(url, {
        method: "POST",
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        agent,
      });
    } catch (error) {
      onError(error);
      return;
    }
    request.on("error", onError);
    request.on("response", (response) => {
      code = response.statusCode ?? 0;
      const answer = [problemOfStatus(code), parseRetryAfter(response.headers["retry-after"], now())] as const;
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (readsBody) chunks.push(chunk);
        if (bytes <= RESPONSE_BYTES_MAX) return;
        if (readsBody) cut(`its response has more than ${String(RESPONSE_BYTES_MAX / 1_024)} KiB`);
        else cut(...answer);
      });
      response.on("end", () => {
        end(...answer, readsBody && Buffer.concat(chunks).toString("utf8"));
      });
      response.on("error", onError);
    });
    request.end(body);
  });
}

function problemOfStatus(code: number): string {
  if (code >= 200 && code < 300) return "";
  const redirects = code >= 300 && code < 400 ? ", a redirect, which is not followed" : "";
  return `it responded with ${String(code)}${redirects}`;
}

/**
 * Returns a text for the organization. A name without an address and a name with a private address
 * get the same one: it must not tell which names the operator's network has.
 */
function problemOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : "";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "ENODATA") return NOT_PUBLIC;
  if (message.includes("is not allowed. Because")) return NOT_PUBLIC;
  if (code === "ECONNREFUSED") return "it refused the connection";
  if (code === "ECONNRESET" || message === "socket hang up") return "the connection broke";
  return /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? `the connection failed: ${code}` : "the connection failed";
}
