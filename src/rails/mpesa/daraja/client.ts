import { asCode, asText, type Fields, parseFields } from "../../fields.js";
import { type HttpResult, sendRequest } from "./request.js";
import { AccessToken, type Grant, type TokenResult } from "./token.js";

export interface DarajaSettings {
  /** For example "https://api.safaricom.co.ke", without a slash at the end. */
  readonly baseUrl: string;
  readonly consumerKey: string;
  readonly consumerSecret: string;
}

/** What Daraja made of a request. `code` is its error code, "HTTP_502", or one of the network. */
export type DarajaAnswer =
  | {
      readonly kind: "answered";
      readonly isOk: boolean;
      readonly code: string;
      readonly message: string;
      readonly body: Fields;
    }
  /** Daraja did nothing with the request: proved, or its word where it turned the request away. */
  | {
      readonly kind: "unreached";
      readonly code: string;
      readonly retryAfterMillis: number;
      readonly isTurnedAway?: true;
    }
  | { readonly kind: "unknown"; readonly code: string };

const TOKEN_TIMEOUT_MILLIS = 10_000;
const TOKEN_LIFE_SECONDS_MAX = 86_400;
const CONNECT_AGAIN_MILLIS = 5_000;
const TOKEN_AGAIN_MILLIS = 30_000;

// Each product has its own code for a token that is not valid (any more).
const INVALID_TOKEN_CODES: readonly string[] = ["404.001.03", "401.002.01", "400.003.01"];

/** Refusals to a client that sends too much, with the wait before the next try. */
const THROTTLED: ReadonlyMap<string, number> = new Map([
  ["500.003.02", 5_000], // Spike Arrest, or "System is busy"
  ["500.003.03", 60_000], // Quota Violation
  ["HTTP_429", 5_000],
]);

/** Calls Daraja with one shared access token. Logs nothing, and shows no secret in its results. */
export class DarajaClient {
  readonly #settings: DarajaSettings;
  readonly #token: AccessToken;

  constructor(settings: DarajaSettings, monotonicMillis: () => number) {
    this.#settings = settings;
    this.#token = new AccessToken(() => this.#requestToken(), monotonicMillis);
  }

  /**
   * Posts a request. If Daraja refuses the token, the client takes a new one and sends the same
   * request once more. Never rejects.
   */
  async post(path: string, body: Fields, signal: AbortSignal): Promise<DarajaAnswer> {
    const first = await orAborted(this.#token.current(), signal);
    if (first.kind === "failed") return withoutToken(first.code);
    const answer = await this.#postWith(first.token, path, body, signal);
    if (!isTokenRefused(answer)) return answer;
    const second = await orAborted(this.#token.replacing(first.token), signal);
    if (second.kind === "failed") return withoutToken(second.code);
    const again = await this.#postWith(second.token, path, body, signal);
    return isTokenRefused(again) ? withoutToken(again.code) : again;
  }

  async #postWith(token: string, path: string, body: Fields, signal: AbortSignal): Promise<DarajaAnswer> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body) } as const;
    return answerOf(await sendRequest(`${this.#settings.baseUrl}${path}`, request, signal));
  }

  async #requestToken(): Promise<Grant> {
    const { baseUrl, consumerKey, consumerSecret } = this.#settings;
    const basic = Buffer.from(`${consumerKey}:${consumerSecret}`).toString("base64");
    const result = await sendRequest(
      `${baseUrl}/oauth/v1/generate?grant_type=client_credentials`,
      { method: "GET", headers: { authorization: `Basic ${basic}` }, body: undefined },
      // Not the signal of a caller: others wait for the same token.
      AbortSignal.timeout(TOKEN_TIMEOUT_MILLIS),
    );
    const answer = answerOf(result);
    if (answer.kind !== "answered") return { kind: "failed", code: answer.code };
    const token = asText(answer.body["access_token"]);
    const lifeSeconds = Number(asText(answer.body["expires_in"]));
    return answer.isOk && token !== undefined && lifeSeconds > 0 && lifeSeconds <= TOKEN_LIFE_SECONDS_MAX
      ? { kind: "granted", token, lifeMillis: lifeSeconds * 1_000 }
      : { kind: "failed", code: answer.code };
  }
}

function answerOf(result: HttpResult): DarajaAnswer {
  if (result.kind === "unreached") return { ...result, retryAfterMillis: CONNECT_AGAIN_MILLIS };
  if (result.kind === "unknown") return result;
  const { httpStatus, text } = result;
  const body = parseFields(text);
  const code = asCode(body?.["errorCode"]) ?? `HTTP_${String(httpStatus)}`;
  const retryAfterMillis = THROTTLED.get(code) ?? THROTTLED.get(`HTTP_${String(httpStatus)}`);
  if (retryAfterMillis !== undefined) return { kind: "unreached", code, retryAfterMillis, isTurnedAway: true };
  const isOk = httpStatus >= 200 && httpStatus < 300;
  // A page of HTML from a proxy has no code of Daraja. It does not tell whether Daraja got the
  // request.
  if (body === undefined) return { kind: "unknown", code: isOk ? "MALFORMED_ANSWER" : code };
  return { kind: "answered", isOk, code, message: asText(body["errorMessage"]) ?? "", body };
}

/** Returns whether Daraja refused the access token, and so did nothing with the request. */
function isTokenRefused(answer: DarajaAnswer): boolean {
  return answer.kind === "answered" && !answer.isOk && INVALID_TOKEN_CODES.includes(answer.code);
}

/** The request for which a token is missing was not sent, or was refused for its token. */
function withoutToken(code: string): DarajaAnswer {
  return { kind: "unreached", code: `TOKEN_${code}`, retryAfterMillis: TOKEN_AGAIN_MILLIS };
}

function orAborted(token: Promise<TokenResult>, signal: AbortSignal): Promise<TokenResult> {
  const aborted: TokenResult = { kind: "failed", code: "DEADLINE" };
  if (signal.aborted) return Promise.resolve(aborted);
  return new Promise((resolve) => {
    const abort = (): void => {
      resolve(aborted);
    };
    signal.addEventListener("abort", abort, { once: true });
    void token.then(resolve).finally(() => {
      signal.removeEventListener("abort", abort);
    });
  });
}
