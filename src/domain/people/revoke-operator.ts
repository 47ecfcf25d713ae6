import { type Decision, refuse, replay } from "../decision.js";
import type { Operator } from "../operator.js";
import { decideByOnePerson } from "../second-person.js";
import type { UnixMillis } from "../values/time.js";
import type { AboutOperator, People } from "./people.js";
import { changed, type PersonOperation } from "./person-operation.js";

/** Ends an operator, for ever. */
export interface RevokeOperator extends AboutOperator {
  readonly name: "revokeOperator";
}

/** It never needs a second person: it only takes power away, and must be quick. */
export const revokeOperator: PersonOperation<RevokeOperator> = { decide: decideByOnePerson(decide) };

/**
 * Ends an operator, for ever: the key and the passkeys open nothing any more. Again is a replay.
 *
 * Refuses OPERATOR_NOT_FOUND.
 */
function decide(people: People, { operatorId, actor }: RevokeOperator, now: UnixMillis): Decision<Operator> {
  const operator = people.operator(operatorId);
  if (operator === undefined) return refuse({ reason: "OPERATOR_NOT_FOUND", operatorId });
  if (operator.revokedAt !== undefined) return replay(operator);
  return changed(operator, { kind: "operator.revoked", operatorId, actor }, now);
}
