import type { Organization } from "../../domain/api-key.js";
import { now } from "../../startup/clock.js";
import type { Cell, Database } from "../../storage/database.js";
import { keys } from "../../storage/keys.js";
import { findOrganization } from "../commands/org.js";

/** An organization, and the cell that keeps it. */
export interface Owner {
  readonly organization: Organization;
  readonly cell: Cell;
}

/** Throws an OperatorError if there is no such organization. */
export async function findOwner(database: Database, idOrName: string): Promise<Owner> {
  const organization = await findOrganization(keys(database, now), idOrName);
  const cell = database.cells[organization.cell];
  if (cell === undefined) throw new Error(`there is no cell ${String(organization.cell)}`);
  return { organization, cell };
}
