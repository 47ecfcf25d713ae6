import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { Metadata } from "@grpc/grpc-js";

import { isOperatorKey } from "../../domain/operator.js";
import type { Administration } from "../../operators/ports.js";
import { type CallingOperator, kindOfToken } from "../../operators/session.js";
import type { SignIn } from "../../operators/sign-in.js";
import type { AnyRefusal } from "../errors/refusal.js";
import { type ApiKeyAuthenticatorOptions, type AuthenticatedCall, BEARER, lookupTurns } from "./authenticator.js";

// A caller that is refused at once would only try the next key. The calls of one connection are
// few, so it tries some hundred keys a second at most.
const REFUSAL_MILLIS = 100;

/** The operator who calls, or the refusal of the call. */
export type OperatorAuthentication =
  | CallingOperator
  | Extract<
      AnyRefusal,
      { reason: "MISSING_OPERATOR_KEY" | "INVALID_OPERATOR_KEY" | "QUEUE_FULL" | "RESTORE_NOT_CONFIRMED" }
    >;

export interface OperatorAuthenticatorOptions extends Pick<ApiKeyAuthenticatorOptions, "restoreWaits"> {
  readonly administration: Pick<Administration, "operatorWithKey">;
  readonly signIn: Pick<SignIn, "operatorWithSession">;
}

/**
 * Identifies an operator by the key in `x-api-key` or `authorization: Bearer`, or by the token of a
 * session there. Reads the database at each call, so a revoked operator is refused at once. No
 * certificate stands for an operator.
 *
 * Only the SHA-256 of a key leaves this class. Few look-ups run at a time, as on the public
 * address.
 */
export class OperatorAuthenticator {
  readonly #keys: Pick<Administration, "operatorWithKey">;
  readonly #signIn: Pick<SignIn, "operatorWithSession">;
  readonly #turns = lookupTurns();
  /** Whether the database was restored, and no person has confirmed that yet. */
  readonly restoreWaits: () => Promise<boolean>;

  constructor(
    { administration, signIn, restoreWaits }: OperatorAuthenticatorOptions,
    private readonly wait: (millis: number) => Promise<unknown> = sleep,
  ) {
    this.#keys = administration;
    this.#signIn = signIn;
    this.restoreWaits = restoreWaits;
  }

  /**
   * `isBackground`: the call is no use of its session. Rejects with a StoreError if the database
   * fails.
   */
  async authenticate(call: AuthenticatedCall, isBackground: boolean): Promise<OperatorAuthentication> {
    const secrets = presentedSecrets(call.metadata);
    const [secret] = secrets;
    if (secret === undefined) return { reason: "MISSING_OPERATOR_KEY" };
    const isSession = kindOfToken(secret) === "ses";
    if (secrets.length > 1 || !(isSession || isOperatorKey(secret))) return { reason: "INVALID_OPERATOR_KEY" };
    const lookup = this.#turns.run(call.getPeer(), async () => {
      if (await this.restoreWaits()) return "restored";
      return isSession
        ? this.#signIn.operatorWithSession(secret, isBackground)
        : this.#keys.operatorWithKey(hash("sha256", secret, "hex"));
    });
    if (lookup === undefined) return { reason: "QUEUE_FULL" };
    const operator = await lookup;
    if (operator === "restored") return { reason: "RESTORE_NOT_CONFIRMED" };
    if (operator !== undefined && operator.revokedAt === undefined) return operator;
    await this.wait(REFUSAL_MILLIS);
    return { reason: "INVALID_OPERATOR_KEY" };
  }
}

/** Returns the different keys that the call has, an unknown scheme as an empty one. */
function presentedSecrets(metadata: Metadata): readonly string[] {
  const plain = metadata.get("x-api-key").map(String);
  const bearers = metadata.get("authorization").map((value) => BEARER.exec(String(value))?.[1] ?? "");
  return [...new Set([...plain, ...bearers])];
}
