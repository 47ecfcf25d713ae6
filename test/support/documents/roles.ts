import { type Role, ROLES } from "../../../src/domain/operator.js";
import { tableUnder } from "./table.js";

/**
 * The roles that may call each rpc, as people read it in docs/admin.md. It is written by hand, so
 * that nobody opens an act to a role by mistake: the contract must say the same.
 */
export const MAY_CALL: ReadonlyMap<string, ReadonlySet<Role>> = rolesOfRpcs();

function rolesOfRpcs(): Map<string, Set<Role>> {
  const found = new Map<string, Set<Role>>();
  for (const [, rpcs = "", roles = ""] of tableUnder("## Who may do what", "docs/admin.md")) {
    const also = /\ball\b/.test(roles) ? ROLES : ROLES.filter((role) => roles.includes(role));
    for (const rpc of rpcs.split(", ")) found.set(rpc, new Set(["admin", ...(found.get(rpc) ?? []), ...also]));
  }
  return found;
}
