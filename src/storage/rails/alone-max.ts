import type { OrganizationId } from "../../domain/values/ids.js";
import type { Cell } from "../database.js";

/**
 * Returns the highest amount, in cents, for which one operator is enough: the lowest that the
 * organization's rail accounts allow. Zero if it has none.
 */
export async function aloneMaxCents(
  { engine, reader }: Pick<Cell, "engine" | "reader">,
  organizationId: OrganizationId,
): Promise<number> {
  const [row] = await reader.rows<{ readonly cents: number | null }>(
    `SELECT min(resolve_alone_max_cents) AS cents FROM ${engine.table("rail_accounts")} WHERE organization_id = ?`,
    [organizationId],
  );
  return row?.cents ?? 0;
}
