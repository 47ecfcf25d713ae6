import { type FoundOrganization, isWhole, type Organization } from "../../domain/api-key.js";
import type { Refusal } from "../../domain/refusal.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { Administration } from "../../operators/ports.js";

/** Refuses ORGANIZATION_NOT_FOUND, ORGANIZATION_CHANGED. */
export async function organizationOr(
  { administration }: { readonly administration: Pick<Administration, "organization"> },
  organizationId: OrganizationId,
): Promise<Organization | Refusal> {
  const found = await administration.organization(organizationId);
  return found === undefined ? { reason: "ORGANIZATION_NOT_FOUND", organizationId } : unlessChanged(found);
}

/** No call believes an organization whose row was changed past the service. */
export function unlessChanged(found: FoundOrganization): Organization | Refusal {
  return isWhole(found) ? found : { reason: "ORGANIZATION_CHANGED", organizationId: found.changed.id };
}
