import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { Role as RoleMessage } from "../../gen/kesc/admin/v1/resources.js";
import { type Role, ROLES } from "../../operators/operator.js";

const MESSAGES = {
  viewer: RoleMessage.ROLE_VIEWER,
  support: RoleMessage.ROLE_SUPPORT,
  finance: RoleMessage.ROLE_FINANCE,
  approver: RoleMessage.ROLE_APPROVER,
  admin: RoleMessage.ROLE_ADMIN,
} as const satisfies Record<Role, RoleMessage>;

export function toRoles(roles: readonly Role[]): RoleMessage[] {
  return roles.map((role) => MESSAGES[role]);
}

/** Returns the roles that this program knows. */
function rolesFrom(messages: readonly RoleMessage[]): readonly Role[] {
  return ROLES.filter((role) => messages.includes(MESSAGES[role]));
}

/** Parses at least one role. Repeats count once. */
export function parseRoles(unchecked: readonly RoleMessage[]): Parsed<readonly Role[]> {
  if (unchecked.length === 0) return unparsed("is required", "REQUIRED");
  const roles = rolesFrom(unchecked);
  return roles.length < new Set(unchecked).size
    ? unparsed(`must be some of ${ROLES.join(", ").toUpperCase()}`, "UNKNOWN_VALUE")
    : parsed(roles);
}
