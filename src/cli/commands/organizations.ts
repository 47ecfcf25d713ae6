import type { Organization } from "../../domain/api-key.js";
import { parseOrganizationId } from "../../domain/values/ids.js";
import type { Keys } from "../../ledger/ports/keys.js";
import { Problem } from "../../startup/operator-error.js";
import { timeOf } from "./output.js";

/**
 * Returns the organization with this id, or with this name if no other one has it. Throws a Problem
 * otherwise.
 */
export async function findOrganization(keys: Keys, idOrName: string): Promise<Organization> {
  const id = parseOrganizationId(idOrName);
  if (id.ok) {
    const organization = await keys.organization(id.value);
    if (organization !== undefined) return organization;
    throw new Problem(`Organization ${idOrName} not found. To list the organizations: npx kesc org list`);
  }
  const named = (await keys.organizations()).filter(({ name }) => name === idOrName);
  const [organization, another] = named;
  if (organization === undefined) {
    throw new Problem(`Organization "${idOrName}" not found. To list the organizations: npx kesc org list`);
  }
  if (another !== undefined) {
    throw new Problem(
      `Several organizations are named "${idOrName}". Use an id: ${named.map((each) => each.id).join(", ")}.`,
    );
  }
  return organization;
}

/** Returns an organization as JSON for scripts. */
export function organizationJson({ id, name, createdAt }: Organization): Readonly<Record<string, string>> {
  return { id, name, created_at: timeOf(createdAt) };
}
