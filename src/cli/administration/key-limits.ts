import { type Scope, SCOPES } from "../../domain/api-key.js";
import { UsageError } from "../../startup/operator-error.js";
import type { MessageJson } from "./row.js";

export interface KeyLimits {
  readonly scopes: readonly Scope[];
  /** In milliseconds. Undefined: for ever. */
  readonly expiresIn: number | undefined;
}

/**
 * Returns what the key may do, and its lifetime. Throws an OperatorError unless both were named: a
 * key that may do everything for ever must be a decision.
 */
export function limitsOf(given: MessageJson): KeyLimits {
  const scopes = given["scopes"] as readonly Scope[] | undefined;
  const expiresIn = given["expiresIn"] as number | undefined;
  const problems: string[] = [];
  if ((scopes === undefined) === (given["allScopes"] === undefined)) {
    problems.push(`Say what the key may do, with one of: --scopes ${SCOPES.join(",")} (some of them), --all-scopes.`);
  }
  if ((expiresIn === undefined) === (given["neverExpires"] === undefined)) {
    problems.push("Say how long the key is valid, with one of: --expires-in 90d, --never-expires.");
  }
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return { scopes: scopes ?? SCOPES, expiresIn };
}
