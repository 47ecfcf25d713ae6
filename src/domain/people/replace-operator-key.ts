import { type Decision, refuse, replay } from "../decision.js";
import type { Operator } from "../operator.js";
import type { UnixMillis } from "../values/time.js";
import { type AboutOperator, changesAbout, type People, stayingRoles } from "./people.js";
import { activeOr, changed, refuseHolder, withSecondAdmin } from "./person-operation.js";

/** Gives an operator another key. */
export interface ReplaceOperatorKey extends AboutOperator {
  readonly name: "replaceOperatorKey";
  /** The SHA-256 of the key, in hexadecimal. */
  readonly keySha256: string;
}

export const replaceOperatorKey = withSecondAdmin<ReplaceOperatorKey>(decide, (command, people) =>
  changesAbout(command, people, (operator) => [
    stayingRoles(operator),
    ["fingerprint of the key", operator.keySha256, command.keySha256],
  ]),
);

/**
 * Gives an operator this key, and ends the one before. The same key is a replay.
 *
 * Refuses, in this order: OPERATOR_NOT_FOUND, OPERATOR_REVOKED, OPERATOR_ALREADY_EXISTS.
 */
function decide(people: People, command: ReplaceOperatorKey, now: UnixMillis): Decision<Operator> {
  const { operatorId, keySha256, actor } = command;
  const operator = activeOr(people, operatorId);
  if ("reason" in operator) return refuse(operator);
  if (operator.keySha256 === keySha256) return replay(operator);
  const holder = people.holderOf(keySha256);
  if (holder !== undefined) return refuseHolder(holder);
  return changed(operator, { kind: "operator.key_replaced", operatorId, keySha256, actor }, now);
}
