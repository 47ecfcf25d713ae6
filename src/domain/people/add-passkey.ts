import { type Decision, refuse, replay } from "../decision.js";
import type { Operator, PasskeyId } from "../operator.js";
import type { UnixMillis } from "../values/time.js";
import { type AboutOperator, changesAbout, type People, stayingRoles } from "./people.js";
import { activeOr, changed, refuseHolder, withSecondAdmin } from "./person-operation.js";

/** Gives an operator one more passkey. */
export interface AddPasskey extends AboutOperator {
  readonly name: "addPasskey";
  /** In hexadecimal. */
  readonly passkeySha256: string;
  /** The approver compares it with what the person reads. */
  readonly passkeyId: PasskeyId;
}

export const addPasskey = withSecondAdmin<AddPasskey>(decide, (command, people) =>
  changesAbout(command, people, (operator) => {
    const ids = operator.passkeys.map(({ id }) => id);
    return [stayingRoles(operator), ["passkeys", ids.join(", "), [...ids, command.passkeyId].join(", ")]];
  }),
);

/**
 * Gives an operator this passkey, too. One that the operator has is a replay.
 *
 * Refuses, in this order: OPERATOR_NOT_FOUND, OPERATOR_REVOKED, OPERATOR_ALREADY_EXISTS.
 */
function decide(people: People, command: AddPasskey, now: UnixMillis): Decision<Operator> {
  const { operatorId, passkeySha256, actor } = command;
  const operator = activeOr(people, operatorId);
  if ("reason" in operator) return refuse(operator);
  if (operator.passkeys.some(({ sha256 }) => sha256 === passkeySha256)) return replay(operator);
  const holder = people.holderOf(passkeySha256);
  if (holder !== undefined) return refuseHolder(holder);
  return changed(operator, { kind: "operator.passkey_added", operatorId, passkeySha256, actor }, now);
}
