import { type Change, changes } from "../domain/change.js";
import { type Proposal, stateOfProposal } from "../domain/proposal.js";
import { nameIn } from "../domain/second-person.js";
import type { UnixMillis } from "../domain/values/time.js";
import { type Act, isOfOperators, type OperatorsAct } from "./act.js";
import type { FourEyes } from "./four-eyes.js";
import type { Operator } from "./operator.js";
import type { OperatorProposal } from "./ports.js";

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

/** Returns a proposal that lies in a book, as operators see it. */
export function proposalInBook(proposal: Proposal, now: UnixMillis): OperatorProposal {
  const { id, content, subject, organizationId, person: proposedBy, proposedAt, expiresAt, decided } = proposal;
  const said = { id, type: nameIn(proposal), content, subject, organizationId, proposedBy, proposedAt, expiresAt };
  return { ...said, state: stateOfProposal(proposal, now), decidedBy: decided?.by, decidedAt: decided?.at };
}

/** Returns whether the act needs a second person. */
export function needsSecondPerson(policy: FourEyes, act: Act): act is OperatorsAct {
  return isOfOperators(act) && changesOfAct(act, undefined) !== undefined && policy.has("operators");
}

/** Returns whether the operator may propose an act about operators now: an admin may. */
export function mayPropose({ roles, revokedAt }: Operator): boolean {
  return revokedAt === undefined && roles.includes("admin");
}
