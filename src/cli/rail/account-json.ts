import { formatCents } from "../../domain/values/cents.js";
import type { StoredRailAccount } from "../../storage/rails/rail-accounts.js";
import { timeOf } from "../commands/output.js";

/** An account as scripts read it. Nothing in it is secret. */
export function accountJson(account: StoredRailAccount): Readonly<Record<string, string | number | boolean | null>> {
  return {
    id: account.id,
    organization_id: account.organizationId,
    rail: account.rail,
    is_default: account.isDefault,
    payouts: account.payouts,
    payouts_note: account.payoutsReason === "" ? null : account.payoutsReason,
    credentials_expire_at: timeOf(account.credentialsExpireAt),
    begin_within_seconds: account.beginWithinMillis / 1_000,
    confirm_above: formatCents(account.confirmAboveCents),
    resolve_alone_max: formatCents(account.resolveAloneMaxCents),
  };
}
