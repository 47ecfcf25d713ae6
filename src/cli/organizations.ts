import { asWritten, type FoundOrganization, isWhole, type Organization } from "../domain/api-key.js";
import { REFUSALS } from "../domain/refusal.js";
import { type OrganizationId, parseOrganizationId } from "../domain/values/ids.js";
import type { Keys } from "../ledger/ports/keys.js";
import { now } from "../startup/clock.js";
import { OperatorError } from "../startup/operator-error.js";
import { type Cell, cellOf, type Database } from "../storage/database.js";
import { keys } from "../storage/keys.js";

/** An organization, and the cell that keeps it. */
export interface FoundOwner {
  readonly organization: Organization;
  readonly cell: Cell;
}

/** Throws an OperatorError if there is no such organization. */
export async function findOwner(database: Database, idOrName: string): Promise<FoundOwner> {
  const organization = await findOrganization(keys(database, now), idOrName);
  return { organization, cell: cellOf(database, organization) };
}

/**
 * Returns the organization with this id, or with this name if only one has it. Throws an
 * OperatorError when there is none.
 */
export async function findOrganization(
  keys: Pick<Keys, "organization" | "organizations">,
  idOrName: string,
): Promise<Organization> {
  const id = parseOrganizationId(idOrName);
  if (id.ok) {
    const organization = await keys.organization(id.value);
    if (organization !== undefined) return unlessChanged(organization);
    throw new OperatorError(`There is no organization ${idOrName}. To list the organizations: kesc org list`);
  }
  const named = (await keys.organizations()).filter((each) => asWritten(each).name === idOrName);
  const [organization, another] = named;
  if (organization === undefined) {
    throw new OperatorError(`There is no organization "${idOrName}". To list the organizations: kesc org list`);
  }
  if (another !== undefined) {
    const ids = named.map((each) => asWritten(each).id);
    throw new OperatorError(`Several are named "${idOrName}". Give an id: ${ids.join(", ")}.`);
  }
  return unlessChanged(organization);
}

/** Throws an OperatorError if the row of the organization was changed past the service. */
export function unlessChanged(found: FoundOrganization): Organization {
  if (isWhole(found)) return found;
  throw changedError(found.changed.id);
}

export function changedError(organizationId: OrganizationId): OperatorError {
  return new OperatorError(REFUSALS.ORGANIZATION_CHANGED.message({ organizationId }));
}
