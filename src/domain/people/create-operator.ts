import type { Authorized } from "../authority.js";
import { changes } from "../change.js";
import type { Decision } from "../decision.js";
import type { Operator, OperatorName, PasskeyId, Role } from "../operator.js";
import type { OperatorId } from "../values/ids.js";
import { looksLike } from "../values/names-of-persons.js";
import type { UnixMillis } from "../values/time.js";
import type { People } from "./people.js";
import { changed, refuseHolder, withSecondAdmin } from "./person-operation.js";

/** Makes an operator, with either a key or a passkey. */
export type CreateOperator = NewOperator & (WithKey | WithPasskey);

interface NewOperator extends Authorized {
  readonly name: "createOperator";
  readonly operatorName: OperatorName;
  readonly roles: readonly Role[];
  readonly facts: { readonly newOperatorId: OperatorId };
}

interface WithKey {
  /** The SHA-256 of the key, in hexadecimal, as that of a passkey. */
  readonly keySha256: string;
  readonly passkeySha256?: undefined;
  readonly passkeyId?: undefined;
}

interface WithPasskey {
  readonly keySha256?: undefined;
  readonly passkeySha256: string;
  /** The approver compares it with what the person reads. */
  readonly passkeyId: PasskeyId;
}

export const createOperator = withSecondAdmin<CreateOperator>(decide, ({ operatorName, roles, keySha256, passkeyId }) =>
  changes(
    ["person", "", operatorName],
    ["roles", "", roles.join(", ")],
    ["fingerprint of the key", "", keySha256],
    ["passkey", "", passkeyId],
  ),
);

/**
 * Makes an operator. Nobody else ever has the name, one that looks like it, the key or the passkey.
 *
 * Refuses OPERATOR_ALREADY_EXISTS.
 */
function decide(people: People, command: CreateOperator, now: UnixMillis): Decision<Operator> {
  const { operatorName: name, roles, keySha256, passkeySha256, facts, actor } = command;
  const named = people.operators().find((each) => looksLike(each.name, name));
  const holder = named?.id ?? people.holderOf(passkeySha256 ?? keySha256);
  if (holder !== undefined) return refuseHolder(holder);
  const credential = passkeySha256 === undefined ? { keySha256 } : { passkeySha256 };
  const operatorId = facts.newOperatorId;
  return changed(undefined, { kind: "operator.created", operatorId, name, roles, ...credential, actor }, now);
}
