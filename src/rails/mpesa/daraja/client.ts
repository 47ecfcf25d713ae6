import { setTimeout as wait } from "node:timers/promises";

import { asCode, asFields, asText, type Fields, parseFields } from "../../fields.js";
import type { Faulty, RailFault } from "../../rail.js";
import { type Answered, readAnswer } from "../answers.js";
import { type HttpResult, sendRequest } from "./request.js";
import { AccessToken, type Grant, type TokenResult } from "./token.js";

export interface DarajaSettings {
  /** For example "https://api.safaricom.co.ke", without a slash at the end. */
  readonly baseUrl: string;
  readonly consumerKey: string;
  readonly consumerSecret: string;
}

/** What Daraja made of a request. */
export type DarajaAnswer =
  | Answered
  /** Daraja did nothing with the request: proved, or its word where it turned the request away. */
  | (Faulty & {
      readonly kind: "unreached";
      readonly code: string;
      readonly retryAfterMillis: number;
      readonly isTurnedAway?: true;
    })
  | (Faulty & { readonly kind: "unknown"; readonly code: string });

export const TOKEN_PATH = "/oauth/v1/generate";
const TOKEN_TIMEOUT_MILLIS = 10_000;
const TOKEN_LIFE_SECONDS_MAX = 86_400;
const CONNECT_AGAIN_MILLIS = 5_000;
const TOKEN_AGAIN_MILLIS = 30_000;
/** Of a request whose token Daraja refuses: the last wait is 3.2 seconds at most. */
const TOKEN_TRIES_MAX = 6;
const TOKEN_WAIT_MILLIS = 100;

/** Calls Daraja with one shared access token. Logs nothing, and shows no secret in its results. */
export class DarajaClient {
  readonly #settings: DarajaSettings;
  readonly #token: AccessToken;
  #toldMillis: number | undefined;

  constructor(settings: DarajaSettings, monotonicMillis: () => number) {
    this.#settings = settings;
    this.#token = new AccessToken(() => this.#requestToken(), monotonicMillis);
  }

  /** The time that Daraja's newest answer names, in whole seconds. */
  get toldMillis(): number | undefined {
    return this.#toldMillis;
  }

  /**
   * Posts a request. If Daraja refuses the token, it has done nothing: the client takes a new one
   * and sends the same request again. A new token ends the one before, also that of another program
   * of ours, which then does the same: so the waits grow, and differ by chance. Never rejects.
   */
  async post(path: string, body: Fields, signal: AbortSignal): Promise<DarajaAnswer> {
    let held = await orAborted(this.#token.current(), signal);
    for (let tries = 1; ; tries += 1) {
      if (held.kind === "failed") return withoutToken(held);
      const answer = await this.#postWith(held.token, path, body, signal);
      if (answer.kind !== "answered" || !isTokenRefused(answer)) return answer;
      if (tries === TOKEN_TRIES_MAX) return withoutToken({ code: answer.code });
      // The first token may simply have expired.
      if (tries > 1) await wait(Math.random() * TOKEN_WAIT_MILLIS * 2 ** tries);
      held = await orAborted(this.#token.replacing(held.token), signal);
    }
  }

  /** Asks for a token, and nothing else. Undefined if there is one. */
  async tryToken(signal: AbortSignal): Promise<({ readonly code: string } & Faulty) | undefined> {
    const token = await orAborted(this.#token.current(), signal);
    return token.kind === "token" ? undefined : withoutToken(token);
  }

  readonly #onDate = (millis: number): void => {
    this.#toldMillis = millis;
  };

  async #postWith(token: string, path: string, body: Fields, signal: AbortSignal): Promise<DarajaAnswer> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const request = { method: "POST", headers, body: JSON.stringify(body), onDate: this.#onDate } as const;
    return answerOf(await sendRequest(`${this.#settings.baseUrl}${path}`, request, signal));
  }

  async #requestToken(): Promise<Grant> {
    const { baseUrl, consumerKey, consumerSecret } = this.#settings;
    const basic = Buffer.from(`${consumerKey}:${consumerSecret}`).toString("base64");
    const result = await sendRequest(
      `${baseUrl}${TOKEN_PATH}?grant_type=client_credentials`,
      { method: "GET", headers: { authorization: `Basic ${basic}` }, body: undefined, onDate: this.#onDate },
      // Not the signal of a caller: others wait for the same token.
      AbortSignal.timeout(TOKEN_TIMEOUT_MILLIS),
    );
    const answer = answerOf(result);
    if (answer.kind !== "answered") return { kind: "failed", code: answer.code };
    const token = asText(answer.body["access_token"]);
    const lifeSeconds = Number(asText(answer.body["expires_in"]));
    return answer.isOk && token !== undefined && lifeSeconds > 0 && lifeSeconds <= TOKEN_LIFE_SECONDS_MAX
      ? { kind: "granted", token, lifeMillis: lifeSeconds * 1_000 }
      : { kind: "failed", code: answer.code, fault: tokenFault(answer) };
  }
}

function answerOf(result: HttpResult): DarajaAnswer {
  if (result.kind === "unreached") return { ...result, retryAfterMillis: CONNECT_AGAIN_MILLIS };
  if (result.kind === "unknown") return result;
  const { httpStatus, text } = result;
  const parsed = parseFields(text);
  const ofStatus = `HTTP_${String(httpStatus)}`;
  const isOk = httpStatus >= 200 && httpStatus < 300;
  // A page of HTML has no code of Daraja. One of a proxy that could not reach Daraja, or lost the
  // answer, does not tell whether Daraja got the request.
  if (parsed === undefined && (isOk || httpStatus >= 500)) {
    return { kind: "unknown", code: isOk ? "MALFORMED_ANSWER" : ofStatus };
  }
  const body = withoutBlanks(parsed ?? {});
  const fault = asFields(body["fault"]);
  const code = asCode(body["errorCode"]) ?? apigeeCodeOf(fault) ?? ofStatus;
  const message = asText(body["errorMessage"]) ?? asText(fault?.["faultstring"]) ?? "";
  const answer: Answered = { kind: "answered", isOk, code, message, body };
  const readings = [readAnswer(answer), readAnswer({ ...answer, code: ofStatus })];
  const turnedAway = readings.find(({ reading }) => reading === "turned away");
  if (turnedAway === undefined) return answer;
  const { retryAfterMillis } = turnedAway;
  return { kind: "unreached", code: isOk ? turnedAway.code : code, retryAfterMillis, isTurnedAway: true };
}

/** Daraja writes "ResponseStatus" in one answer, and "Response Status" in another. */
function withoutBlanks(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name.replaceAll(" ", ""), value]));
}

/** Returns the last part of a code such as "oauth.v2.InvalidAccessToken". */
function apigeeCodeOf(fault: Fields | undefined): string | undefined {
  return asCode(asText(asFields(fault?.["detail"])?.["errorcode"])?.split(".").at(-1));
}

/** Returns whether Daraja refused the access token, and so did nothing with the request. */
function isTokenRefused(answer: DarajaAnswer): boolean {
  return answer.kind === "answered" && !answer.isOk && readAnswer(answer).reading === "token refused";
}

/** The request for which a token is missing was not sent, or was refused for its token. */
function withoutToken({
  code,
  fault,
}: { readonly code: string } & Faulty): Extract<DarajaAnswer, { kind: "unreached" }> {
  const unreached = { kind: "unreached", code: `TOKEN_${code}`, retryAfterMillis: TOKEN_AGAIN_MILLIS } as const;
  return fault === undefined ? unreached : { ...unreached, fault };
}

/** What a refusal to give a token says of the account. */
function tokenFault(answer: Answered): RailFault | undefined {
  const { reading, code } = readAnswer(answer, "token");
  if (reading === "app refused") return { kind: "credentials", credential: "app", code };
  return reading === "asked wrongly" || reading === "no product"
    ? { kind: "request", request: TOKEN_PATH, code }
    : undefined;
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
