import type { Acted, Authorized } from "../authority.js";
import type { Change } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import { type Decide, type Decision, refuse } from "../decision.js";
import type { Operator, PersonChange } from "../operator.js";
import type { Refusal } from "../refusal.js";
import { decideBySecondPerson } from "../second-person.js";
import type { OperatorId } from "../values/ids.js";
import type { UnixMillis } from "../values/time.js";
import { type AboutOperator, operatorAfter, type People } from "./people.js";

/** One kind of command about people. It needs no lookup: the state has all people. */
export interface PersonOperation<C> {
  readonly decide: Decide<C, Acted<Operator>, People>;
}

/** Lets a command need a second person, who is not the one whom it is about. */
export function withSecondAdmin<C extends Authorized & Partial<Pick<AboutOperator, "operatorId">>>(
  decide: Decide<C, Operator, People>,
  changesOf: (command: C, people: People) => readonly Change[],
): PersonOperation<C> {
  return {
    decide: decideBySecondPerson(decide, {
      groupOf: () => "operators",
      changesOf,
      touchedBy: NOTHING_TOUCHES,
      concerns: ({ operatorId }) => operatorId,
    }),
  };
}

/**
 * Returns an operator who can be changed.
 *
 * Refuses, in this order: OPERATOR_NOT_FOUND, OPERATOR_REVOKED.
 */
export function activeOr(people: People, operatorId: OperatorId): Operator | Refusal {
  const operator = people.operator(operatorId);
  if (operator === undefined) return { reason: "OPERATOR_NOT_FOUND", operatorId };
  return operator.revokedAt === undefined ? operator : { reason: "OPERATOR_REVOKED", operatorId };
}

/** Refuses OPERATOR_ALREADY_EXISTS for a name, a key or a passkey that an operator has or had. */
export function refuseHolder(operatorId: OperatorId): ReturnType<typeof refuse> {
  return refuse({ reason: "OPERATOR_ALREADY_EXISTS", operatorId });
}

/** Returns the effect of a change, and the operator after it. */
export function changed(
  before: Operator | undefined,
  change: Omit<PersonChange, "recordedAt">,
  now: UnixMillis,
): Decision<Operator> {
  const person = { ...change, recordedAt: now };
  return { kind: "effect", resource: operatorAfter(before, person), effect: { entries: [], puts: [], person } };
}
