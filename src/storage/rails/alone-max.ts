import type { OrganizationId, TransactionId } from "../../domain/values/ids.js";
import type { Cell } from "../database.js";

type ReadCell = Pick<Cell, "engine" | "reader">;

/**
 * Returns the highest amount, in cents, for which one operator is enough to correct the book: the
 * lowest that the organization's rail accounts allow. Zero if it has none.
 */
export async function correctAloneMaxCents(
  { engine, reader }: ReadCell,
  organizationId: OrganizationId,
): Promise<number> {
  const [row] = await reader.rows<{ readonly cents: number | null }>(
    `SELECT min(resolve_alone_max_cents) AS cents FROM ${engine.table("rail_accounts")} WHERE organization_id = ?`,
    [organizationId],
  );
  return row?.cents ?? 0;
}

/**
 * Returns the highest amount, in cents, for which one operator is enough to resolve the
 * transaction: what the rail account of its payment allows. Zero if it has no payment.
 */
export async function resolveAloneMaxCents({ engine, reader }: ReadCell, id: TransactionId): Promise<number> {
  const [row] = await reader.rows<{ readonly cents: number }>(
    `SELECT a.resolve_alone_max_cents AS cents
     FROM ${engine.table("payments")} p JOIN ${engine.table("rail_accounts")} a ON a.id = p.rail_account_id
     WHERE p.transaction_id = ?`,
    [id],
  );
  return row?.cents ?? 0;
}
