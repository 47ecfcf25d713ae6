import type { RailRevision } from "../../../domain/decision.js";
import type { RailAccountId } from "../../../domain/payment.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import type { RowOf } from "../../../model/column.js";
import type { RAIL_ACCOUNTS } from "../../../model/rails.js";

/** A row of `rail_accounts`, as both drivers read it. */
export type RailAccountRow<Bytes = Buffer> = RowOf<typeof RAIL_ACCOUNTS, Bytes>;

/** The columns of `rail_accounts` that a batch reads. */
export type RailRevisionRow = Pick<RailAccountRow, "id" | "organization_id" | "revision">;

export function railRevisionOf({ id, organization_id: organizationId, revision }: RailRevisionRow): RailRevision {
  return { railAccountId: id as RailAccountId, organizationId: organizationId as OrganizationId, revision };
}
