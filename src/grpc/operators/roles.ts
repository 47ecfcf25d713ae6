import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { Role as RoleMessage } from "../../gen/kesc/admin/v1/resources.js";
import { type Role, ROLES } from "../../operators/operator.js";

/** Parses at least one role. Repeats count once. */
export function parseRoles(unchecked: readonly RoleMessage[]): Parsed<readonly Role[]> {
  if (unchecked.length === 0) return unparsed("is required", "REQUIRED");
  const roles = ROLES.filter((role) => unchecked.includes(toRole(role)));
  return roles.length < new Set(unchecked).size
    ? unparsed(`must be some of ${ROLES.join(", ").toUpperCase()}`, "UNKNOWN_VALUE")
    : parsed(roles);
}

export function toRole(role: Role): RoleMessage {
  return RoleMessage[`ROLE_${role.toUpperCase() as Uppercase<Role>}`];
}
