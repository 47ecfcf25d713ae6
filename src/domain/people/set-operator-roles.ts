import { type Decision, refuse, replay } from "../decision.js";
import type { Operator, Role } from "../operator.js";
import type { UnixMillis } from "../values/time.js";
import { type AboutOperator, changesAbout, type People } from "./people.js";
import { activeOr, changed, withSecondAdmin } from "./person-operation.js";

/** Gives an operator exactly these roles. */
export interface SetOperatorRoles extends AboutOperator {
  readonly name: "setOperatorRoles";
  readonly roles: readonly Role[];
}

export const setOperatorRoles = withSecondAdmin<SetOperatorRoles>(decide, (command, people) =>
  changesAbout(command, people, ({ roles }) => [["roles", roles.join(", "), command.roles.join(", ")]]),
);

/**
 * Gives an operator these roles, and takes all others away. The same roles are a replay.
 *
 * Refuses, in this order: OPERATOR_NOT_FOUND, OPERATOR_REVOKED.
 */
function decide(people: People, command: SetOperatorRoles, now: UnixMillis): Decision<Operator> {
  const { operatorId, roles, actor } = command;
  const operator = activeOr(people, operatorId);
  if ("reason" in operator) return refuse(operator);
  if (operator.roles.join(" ") === roles.join(" ")) return replay(operator);
  return changed(operator, { kind: "operator.roles_changed", operatorId, roles, actor }, now);
}
