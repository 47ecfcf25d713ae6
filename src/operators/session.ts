import { hash, randomBytes } from "node:crypto";

import type { Operator } from "../domain/operator.js";
import type { OperatorId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";

const MINUTE_MILLIS = 60_000;
export const SESSION_MILLIS_MAX = 12 * 60 * MINUTE_MILLIS;
export const SESSION_IDLE_MILLIS_MAX = 30 * MINUTE_MILLIS;
const FRESH_MILLIS = 5 * MINUTE_MILLIS;
/** A session that is used all the time is written once in this time. */
const USE_MILLIS = MINUTE_MILLIS;

/** A session of an operator, without its token. */
export interface OperatorSession {
  /** "ses_…". */
  readonly id: string;
  readonly operatorId: OperatorId;
  /** The SHA-256 of the passkey that began it, or of the key with which its code was made. */
  readonly beganWith: string;
  readonly createdAt: UnixMillis;
  readonly usedAt: UnixMillis;
  /** When a passkey verified it last. Undefined if a code began it. */
  readonly verifiedAt: UnixMillis | undefined;
}

/** An operator who calls, with the session of the call. Undefined for a call with a key. */
export type CallingOperator = Operator & { readonly session?: OperatorSession | undefined };

export function hasEnded({ createdAt, usedAt }: OperatorSession, now: UnixMillis): boolean {
  return now - createdAt > SESSION_MILLIS_MAX || now - usedAt > SESSION_IDLE_MILLIS_MAX;
}

/** A session ends when its operator is revoked, or loses the credential that began it. */
export function holdsFor({ beganWith }: OperatorSession, operator: Operator): boolean {
  const { revokedAt, keySha256, passkeys } = operator;
  return revokedAt === undefined && (keySha256 === beganWith || passkeys.some(({ sha256 }) => sha256 === beganWith));
}

export function isFresh({ verifiedAt }: OperatorSession, now: UnixMillis): boolean {
  return verifiedAt !== undefined && now - verifiedAt <= FRESH_MILLIS;
}

export function needsUse({ usedAt }: OperatorSession, now: UnixMillis): boolean {
  return now - usedAt >= USE_MILLIS;
}

const TOKEN_BYTES = 32;
const TOKEN = /^kesc_(?<kind>ses|inv|code)_[A-Za-z0-9_-]{43}$/;

export type TokenKind = "ses" | "inv" | "code";

/** Makes a token of 256 random bits. */
export function newToken(kind: TokenKind): string {
  return `kesc_${kind}_${randomBytes(TOKEN_BYTES).toString("base64url")}`;
}

/** Returns which token has the form of the text. Undefined if none has. */
export function kindOfToken(text: string): TokenKind | undefined {
  return TOKEN.exec(text)?.groups?.["kind"] as TokenKind | undefined;
}

export function tokenSha256Of(token: string): string {
  return hash("sha256", token, "hex");
}
