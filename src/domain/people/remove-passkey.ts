import { type Decision, refuse, replay } from "../decision.js";
import { type Operator, type PasskeyId, passkeyIdOf } from "../operator.js";
import { decideByOnePerson } from "../second-person.js";
import type { UnixMillis } from "../values/time.js";
import type { AboutOperator, People } from "./people.js";
import { activeOr, changed, type PersonOperation } from "./person-operation.js";

/** Takes a passkey away from an operator. */
export interface RemovePasskey extends AboutOperator {
  readonly name: "removePasskey";
  readonly passkeyId: PasskeyId;
}

/** It never needs a second person: it only takes power away, and must be quick. */
export const removePasskey: PersonOperation<RemovePasskey> = { decide: decideByOnePerson(decide) };

/**
 * Takes a passkey away. One that the operator once had is a replay.
 *
 * Refuses, in this order: OPERATOR_NOT_FOUND, OPERATOR_REVOKED, PASSKEY_NOT_FOUND.
 */
function decide(people: People, command: RemovePasskey, now: UnixMillis): Decision<Operator> {
  const { operatorId, passkeyId, actor } = command;
  const operator = activeOr(people, operatorId);
  if ("reason" in operator) return refuse(operator);
  const passkey = operator.passkeys.find(({ id }) => id === passkeyId);
  if (passkey !== undefined) {
    const change = { kind: "operator.passkey_removed", operatorId, passkeySha256: passkey.sha256, actor } as const;
    return changed(operator, change, now);
  }
  const had = people
    .actsAbout(operatorId)
    .some(({ passkeySha256: sha256 }) => sha256 !== undefined && passkeyIdOf(sha256) === passkeyId);
  return had ? replay(operator) : refuse({ reason: "PASSKEY_NOT_FOUND", operatorId, passkeyId });
}
