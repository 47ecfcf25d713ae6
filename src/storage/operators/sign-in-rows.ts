import type { KeyObject } from "node:crypto";

import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { SESSIONS, SIGN_IN_TOKENS } from "../../model/database.js";
import type { OperatorSession } from "../../operators/session.js";
import type { SignInToken } from "../../operators/sign-in-ports.js";
import { signInMac } from "../secrets/operator-key.js";
import type { Engine } from "../sql/engine.js";

export type SessionRow = RowOf<typeof SESSIONS, string>;
export type TokenRow = RowOf<typeof SIGN_IN_TOKENS, string>;

export interface SignInRows {
  readonly session: SessionRow;
  readonly token: TokenRow;
}

/** The columns that a `mac` covers, in its order. Another order would end all sessions. */
const COVERED = {
  session: ["id", "token_sha256", "operator_id", "began_with", "created_at", "used_at", "verified_at"],
  token: ["token_sha256", "kind", "content", "created_at", "expires_at"],
} as const satisfies { readonly [Kind in keyof SignInRows]: readonly (keyof SignInRows[Kind])[] };

/** How the chain names the end of a row. */
const ENDED = { session: "'session:' || r.id", token: "'used:' || r.token_sha256" } as const;

/**
 * Returns the SELECT of the rows of a kind whose end the chain does not have. A condition may
 * follow it after AND.
 */
export function selectOf(kind: keyof SignInRows, { table, hex }: Pick<Engine, "table" | "hex">): string {
  const from = table(kind === "session" ? "sessions" : "sign_in_tokens");
  return `
    SELECT ${COVERED[kind].join(", ")}, ${hex("r.mac")} AS mac FROM ${from} r
    WHERE NOT EXISTS (SELECT 1 FROM ${table("operator_chain")} c WHERE c.subject = ${ENDED[kind]})`;
}

export function withMac<Kind extends keyof SignInRows>(
  key: KeyObject,
  kind: Kind,
  row: Omit<SignInRows[Kind], "mac">,
): SignInRows[Kind] {
  const values = row as Readonly<Record<string, string | number | null>>;
  const mac = signInMac(
    key,
    kind,
    COVERED[kind].map((name) => values[name] ?? null),
  );
  return { ...row, mac } as SignInRows[Kind];
}

/** Returns whether the service wrote the row as it is. */
export function isOurs<Kind extends keyof SignInRows>(
  key: KeyObject | undefined,
  kind: Kind,
  row: SignInRows[Kind],
): boolean {
  return key !== undefined && withMac(key, kind, row).mac === row.mac;
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
  const times = { created_at: createdAt, expires_at: expiresAt };
  return { token_sha256: sha256, kind, content: JSON.stringify(content), ...times };
}
