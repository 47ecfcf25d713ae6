import { type Change, changes } from "../domain/change.js";
import { BOOK_GROUPS } from "../domain/second-person.js";
import { type Act, isOfOperators, type OperatorsAct } from "./act.js";
import type { Operator } from "./operator.js";

/**
 * The groups of acts that can need a second person: those of books, and `operators`: a new
 * operator, other roles, another key, one more passkey. An admin who did that alone could invent a
 * second person, and approve own proposals as that one.
 */
export const FOUR_EYES_GROUPS = ["operators", ...BOOK_GROUPS] as const;

export type FourEyesGroup = (typeof FOUR_EYES_GROUPS)[number];

/** The groups whose acts need a second person. */
export type FourEyes = ReadonlySet<FourEyesGroup>;

/**
 * Parses a policy: "none", or groups with commas between them. Returns undefined if it is neither.
 */
export function parseFourEyes(text: string): FourEyes | undefined {
  if (text === "none") return new Set();
  const groups = text.split(",").map((word) => FOUR_EYES_GROUPS.find((group) => group === word.trim()));
  return groups.every((group) => group !== undefined) ? new Set(groups) : undefined;
}

/** Returns whether the act needs a second person. */
export function needsSecondPerson(policy: FourEyes, act: Act): act is OperatorsAct {
  return isOfOperators(act) && changesOfAct(act, undefined) !== undefined && policy.has("operators");
}

/**
 * Returns all that an act changes about an operator, who is undefined if the act makes a new one.
 * Undefined for an act of one person: to revoke an operator or a passkey only takes power away, and
 * must be quick.
 */
export function changesOfAct(act: OperatorsAct, operator: Operator | undefined): readonly Change[] | undefined {
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

/** Returns whether the act is about the operator: nobody approves what changes the own power. */
export function isConcerned({ id }: Operator, act: object): boolean {
  return "operatorId" in act && act.operatorId === id;
}

/** Returns whether the operator may propose an act about operators now: an admin may. */
export function mayPropose({ roles, revokedAt }: Operator): boolean {
  return revokedAt === undefined && roles.includes("admin");
}
