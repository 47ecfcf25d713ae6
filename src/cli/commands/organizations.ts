import type { Organization } from "../../domain/api-key.js";
import { parseOrganizationId } from "../../domain/values/ids.js";
import type { Keys } from "../../ledger/ports/keys.js";
import { Problem } from "../../startup/operator-error.js";
import { timeOf } from "./output.js";

/**
 * The organization with this id, or with this name if only one has it. Throws a Problem when there
 * is none.
 */
export async function findOrganization(keys: Keys, idOrName: string): Promise<Organization> {
  const id = parseOrganizationId(idOrName);
  if (id.ok) {
    const organization = await keys.organization(id.value);
    if (organization !== undefined) return organization;
    throw new Problem(`There is no organization ${idOrName}. npx kesc org list shows them.`);
  }
  const named = (await keys.organizations()).filter(({ name }) => name === idOrName);
  const [organization, another] = named;
  if (organization === undefined) {
    throw new Problem(`There is no organization "${idOrName}". npx kesc org list shows them.`);
  }
  if (another !== undefined) {
    throw new Problem(`Several are named "${idOrName}". Give an id: ${named.map((each) => each.id).join(", ")}.`);
  }
  return organization;
}

/** An organization as scripts read it. */
export function organizationJson({ id, name, createdAt }: Organization): Readonly<Record<string, string>> {
  return { id, name, created_at: timeOf(createdAt) };
}
