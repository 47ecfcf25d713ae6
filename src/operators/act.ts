import { type Change, changes } from "../domain/change.js";
import type { OperatorId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { FourEyes } from "./four-eyes.js";
import { hasKeptRole, type Operator, type OperatorName, type PasskeyId, type Role } from "./operator.js";

/**
 * An act about operators, which no book holds. A proposal holds it as JSON, so no field is a
 * secret: keys are here as the SHA-256 of their secrets, in hexadecimal. The acts in books are
 * commands of the ledger.
 */
export type Act =
  | ({
      readonly kind: "operator.create";
      readonly name: OperatorName;
      readonly roles: readonly Role[];
    } & ({ readonly keySha256: string } | NewPasskey))
  | ({ readonly kind: "operator.add_passkey"; readonly operatorId: OperatorId } & NewPasskey)
  | { readonly kind: "operator.remove_passkey"; readonly operatorId: OperatorId; readonly passkeyId: PasskeyId }
  | { readonly kind: "operator.set_roles"; readonly operatorId: OperatorId; readonly roles: readonly Role[] }
  | { readonly kind: "operator.replace_key"; readonly operatorId: OperatorId; readonly keySha256: string }
  | { readonly kind: "operator.revoke"; readonly operatorId: OperatorId };

/** The passkey of an act. The approver compares the id with what the person reads. */
interface NewPasskey {
  readonly passkeySha256: string;
  readonly passkeyId: PasskeyId;
}

export type ActOf<Kind extends Act["kind"]> = Extract<Act, { readonly kind: Kind }>;

/**
 * Returns all that an act changes about an operator, who is undefined if the act makes a new one.
 * Undefined for an act of one person: to revoke an operator or a passkey only takes power away, and
 * must be quick.
 */
export function changesOfAct(act: Act, operator: Operator | undefined): readonly Change[] | undefined {
  const { name, roles = [], keySha256, passkeys = [] } = operator ?? {};
  const may = roles.join(", ");
  switch (act.kind) {
    case "operator.create":
      return changes(
        ["person", "", act.name],
        ["roles", "", act.roles.join(", ")],
        ["fingerprint of the key", "", "keySha256" in act ? act.keySha256 : ""],
        ["passkey", "", "passkeyId" in act ? act.passkeyId : ""],
      );
    case "operator.set_roles":
      return changes(["person", name, name], ["roles", may, act.roles.join(", ")]);
    case "operator.replace_key":
      return changes(["person", name, name], ["roles", may, may], ["fingerprint of the key", keySha256, act.keySha256]);
    case "operator.add_passkey": {
      const ids = passkeys.map(({ id }) => id);
      return changes(
        ["person", name, name],
        ["roles", may, may],
        ["passkeys", ids.join(", "), [...ids, act.passkeyId].join(", ")],
      );
    }
    case "operator.remove_passkey":
    case "operator.revoke":
      return undefined;
  }
}

/** Returns whether the act needs a second person. */
export function needsSecondPerson(policy: FourEyes, act: Act): boolean {
  return changesOfAct(act, undefined) !== undefined && policy.has("operators");
}

/** Returns whether the operator may propose an act about operators now: an admin may. */
export function mayPropose({ roles, revokedAt }: Operator): boolean {
  return revokedAt === undefined && roles.includes("admin");
}

/** Returns whether the operator could have proposed such an act at each moment from `since` on. */
export function hasBeenAdmin(operator: Operator, since: UnixMillis): boolean {
  return hasKeptRole(operator, ["admin"], since);
}

/** Returns whether the act is about the operator: nobody approves what changes the own power. */
export function isConcerned({ id }: Operator, act: object): boolean {
  return "operatorId" in act && act.operatorId === id;
}
