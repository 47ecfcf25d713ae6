import type { Act } from "./act.js";
import type { Operator } from "./operator.js";

/**
 * The groups of acts that can need a second person:
 *
 * - `operators`: a new operator, other roles, another key. An admin who did that alone could invent
 *   a second person, and approve own proposals as that one.
 * - `resume`: to end the suspension of an organization.
 * - `write_keys`: a key of a live organization that may do more than read.
 */
export const FOUR_EYES_GROUPS = ["operators", "resume", "write_keys"] as const;

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
export function needsSecondPerson(policy: FourEyes, act: Act, isSandbox: boolean): boolean {
  const group = groupOf(act, isSandbox);
  return group !== undefined && policy.has(group);
}

function groupOf(act: Act, isSandbox: boolean): FourEyesGroup | undefined {
  switch (act.kind) {
    case "operator.create":
    case "operator.set_roles":
    case "operator.replace_key":
      return "operators";
    case "organization.resume":
      return "resume";
    case "key.create":
      return !isSandbox && act.scopes.some((scope) => !scope.endsWith(":read")) ? "write_keys" : undefined;
    case "organization.create":
    case "organization.suspend":
    case "key.revoke":
    // It only takes power away, and must be quick.
    case "operator.revoke":
      return undefined;
  }
}

/**
 * Returns whether the operator may propose now. Each act that needs a second person is an admin's.
 */
export function mayPropose({ roles, revokedAt }: Operator): boolean {
  return revokedAt === undefined && roles.includes("admin");
}
