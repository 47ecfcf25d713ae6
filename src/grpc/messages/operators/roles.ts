import { type Role, ROLES } from "../../../domain/operator.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { Role as RoleMessage } from "../../../gen/kesc/admin/v1/resources.js";
import { enumOf, unknownWord } from "../enums.js";

export const ROLE_MESSAGES = enumOf(RoleMessage, "ROLE", ROLES);

/** Parses at least one role. Repeats count once. */
export function parseRoles(unchecked: readonly RoleMessage[]): Parsed<readonly Role[]> {
  if (unchecked.length === 0) return unparsed("is required", "REQUIRED");
  const roles = ROLES.filter((role) => unchecked.includes(ROLE_MESSAGES[role]));
  return roles.length < new Set(unchecked).size ? unknownWord(ROLES, ROLE_MESSAGES) : parsed(roles);
}
