/** What became of one HTTP request. */
export type HttpResult =
  | { readonly kind: "answered"; readonly httpStatus: number; readonly text: string }
  /** It is proved that no byte of the request left this machine. */
  | { readonly kind: "unreached"; readonly code: string }
  | { readonly kind: "unknown"; readonly code: string };

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Called with the time that the header Date of the answer names. */
  readonly onDate?: (millis: number) => void;
}

const ANSWER_BYTES_MAX = 65_536;

// The system calls that fail before there is a connection. The same codes from `read` or `write`
// come from a connection over which bytes went out.
const CALLS_BEFORE_CONNECTION: readonly unknown[] = ["getaddrinfo", "connect"];

const CODES_BEFORE_REQUEST: readonly unknown[] = [
  "UND_ERR_CONNECT_TIMEOUT",
  // The certificate of the server is refused in the handshake, before the request is written.
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/**
 * Sends one HTTP request and reads its answer, up to 64 KiB. Never rejects. After the signal
 * aborts, the result is unknown, unless the request was not begun.
 */
export async function sendRequest(url: string, request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
  if (signal.aborted) return { kind: "unreached", code: "DEADLINE" };
  return answered(url, request, signal).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    const code = signal.aborted ? "DEADLINE" : codeOf(cause);
    return { kind: isBeforeRequest(cause) ? "unreached" : "unknown", code };
  });
}

async function answered(url: string, request: HttpRequest, signal: AbortSignal): Promise<HttpResult> {
  const { method, headers, body, onDate } = request;
  // A redirect is not followed: it would send the request, and the token, a second time.
  const response = await fetch(url, { method, headers, body: body ?? null, redirect: "manual", signal });
  const dateMillis = Date.parse(response.headers.get("date") ?? "");
  if (!Number.isNaN(dateMillis)) onDate?.(dateMillis);
  const text = await readBounded(response.body);
  return text === undefined
    ? { kind: "unknown", code: "ANSWER_TOO_LARGE" }
    : { kind: "answered", httpStatus: response.status, text };
}

async function readBounded(body: AsyncIterable<Uint8Array> | null): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Returns whether the error proves that the request was not written to a connection. */
export function isBeforeRequest(error: unknown): boolean {
  // Node tries the IPv6 and the IPv4 addresses of a name, and collects what each of them said.
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isBeforeRequest);
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  return CALLS_BEFORE_CONNECTION.includes(syscall) || CODES_BEFORE_REQUEST.includes(code);
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" ? code : "CONNECTION_FAILED";
}
