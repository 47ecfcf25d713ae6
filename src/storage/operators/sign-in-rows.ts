import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { SESSIONS, SIGN_IN_TOKENS } from "../../model/database.js";
import type { OperatorSession } from "../../operators/session.js";
import type { SignInToken } from "../../operators/sign-in-ports.js";

/** The columns that a `mac` covers, with bytes in hexadecimal. */
export type SessionRow = RowOf<typeof SESSIONS, string>;
export type TokenRow = RowOf<typeof SIGN_IN_TOKENS, string>;

export function sessionFields(row: Omit<SessionRow, "mac">): readonly (string | number | null)[] {
  const { id, token_sha256: token, operator_id: operator, began_with: beganWith } = row;
  return [id, token, operator, beganWith, row.created_at, row.used_at, row.verified_at];
}

export function tokenFields(row: Omit<TokenRow, "mac">): readonly (string | number | null)[] {
  return [row.token_sha256, row.kind, row.content, row.created_at, row.expires_at];
}

export function sessionOf(row: SessionRow): OperatorSession {
  return {
    id: row.id,
    operatorId: row.operator_id as OperatorSession["operatorId"],
    beganWith: row.began_with,
    createdAt: toUnixMillis(row.created_at),
    usedAt: toUnixMillis(row.used_at),
    verifiedAt: row.verified_at === null ? undefined : toUnixMillis(row.verified_at),
  };
}

/** The content is what no other column has. */
export function tokenOf(row: TokenRow): SignInToken {
  const times = { createdAt: toUnixMillis(row.created_at), expiresAt: toUnixMillis(row.expires_at) };
  return { sha256: row.token_sha256, kind: row.kind, ...times, ...JSON.parse(row.content) } as SignInToken;
}

export function rowOfToken({ sha256, kind, createdAt, expiresAt, ...content }: SignInToken): Omit<TokenRow, "mac"> {
  return {
    token_sha256: sha256,
    kind,
    content: JSON.stringify(content),
    created_at: createdAt,
    expires_at: expiresAt,
  };
}
