import { hash } from "node:crypto";

import type { Metadata } from "@grpc/grpc-js";

import { isOperatorKey, type Operator } from "../../operators/operator.js";
import type { OperatorKeys } from "../../operators/ports.js";
import { type AuthenticatedCall, BEARER, lookupTurns } from "../calls/authenticator.js";
import type { ServedRefusal } from "../errors/refusal.js";

/** The operator who calls, or the refusal of the call. */
export type OperatorAuthentication =
  Operator | Extract<ServedRefusal, { reason: "MISSING_OPERATOR_KEY" | "INVALID_OPERATOR_KEY" | "QUEUE_FULL" }>;

/**
 * Identifies an operator by `x-api-key` or `authorization: Bearer`. Reads the database at each
 * call, so a revoked operator is refused at once. No certificate stands for an operator.
 *
 * Only the SHA-256 of a key leaves this class. Few look-ups run at a time, as on the public
 * address.
 */
export class OperatorAuthenticator {
  readonly #keys: OperatorKeys;
  readonly #turns = lookupTurns();

  constructor(keys: OperatorKeys) {
    this.#keys = keys;
  }

  /** Rejects with a StoreError if the database fails. */
  async authenticate(call: AuthenticatedCall): Promise<OperatorAuthentication> {
    const secrets = presentedSecrets(call.metadata);
    const [secret] = secrets;
    if (secret === undefined) return { reason: "MISSING_OPERATOR_KEY" };
    if (secrets.length > 1 || !isOperatorKey(secret)) return { reason: "INVALID_OPERATOR_KEY" };
    const digest = hash("sha256", secret, "hex");
    const lookup = this.#turns.run(call.getPeer(), () => this.#keys.operatorWithKey(digest));
    if (lookup === undefined) return { reason: "QUEUE_FULL" };
    const operator = await lookup;
    return operator === undefined || operator.revokedAt !== undefined ? { reason: "INVALID_OPERATOR_KEY" } : operator;
  }
}

/** Returns the different keys that the call has, an unknown scheme as an empty one. */
function presentedSecrets(metadata: Metadata): readonly string[] {
  const plain = metadata.get("x-api-key").map(String);
  const bearers = metadata.get("authorization").map((value) => BEARER.exec(String(value))?.[1] ?? "");
  return [...new Set([...plain, ...bearers])];
}
