import { formatCents } from "../../domain/values/cents.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RailAccountStatus as RailAccountStatusMessage } from "../../gen/kesc/admin/v1/admin_service.js";
import type { RailAccountStatus } from "../../operators/rails.js";
import type { ReportedBalance } from "../../statements/ports.js";
import { done, refuse } from "../calls/rpc-result.js";
import { toRailBalance } from "../messages/history/supply.js";
import { toTimestamp } from "../messages/timestamp.js";
import { fields } from "./fields.js";
import { toRailAccount } from "./messages.js";
import { type OperatorRoute, unary } from "./operator-call.js";
import type { HandlersOptions } from "./options.js";
import { readOrganization } from "./reading.js";

const SECOND_MILLIS = 1_000;

/** The rpcs that read one account at a rail. */
export function railRpcs(options: HandlersOptions): Record<string, OperatorRoute> {
  const { cellOf, railReads, now } = options;
  return {
    getRailAccount: unary("getRailAccount", {
      ...fields("organization_id", "rail"),
      run: ({ organizationId, rail }) =>
        readOrganization(options, organizationId, async (found) => {
          const status = await railReads.railAccount(found, rail);
          if (status === undefined) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
          const balances = await cellOf(found).history.railBalances(organizationId);
          const own = balances.filter((balance) => balance.rail === rail);
          return done({ status: toStatus(status, own, toUnixMillis(now())) });
        }),
    }),
  };
}

function toStatus(
  status: RailAccountStatus,
  balances: readonly ReportedBalance[],
  now: UnixMillis,
): RailAccountStatusMessage {
  const { account } = status;
  return {
    account: toRailAccount(account),
    settings: status.settings,
    revision: BigInt(account.revision),
    begin_within_seconds: BigInt(Math.floor(account.beginWithinMillis / SECOND_MILLIS)),
    confirm_above: formatCents(account.confirmAboveCents),
    resolve_alone_max: formatCents(account.resolveAloneMaxCents),
    float_min: formatCents(account.floatMinCents),
    warnings: Object.keys(account.warnings),
    credentials_expire_soon: status.credentialsExpireSoon,
    open_payments: BigInt(status.openPayments),
    unknown_payouts: BigInt(status.unknownPayouts),
    oldest_unknown_at: timeOf(status.oldestUnknownAt),
    unknown_transaction_ids: [...status.unknownTransactionIds],
    begins_payouts: status.beginsPayouts,
    balances: balances.map((balance) => toRailBalance(balance, now)),
    problem: status.problem,
    deposits_since: timeOf(status.depositsSince),
    deposits_read_at: timeOf(status.depositsReadAt),
  };
}

function timeOf(at: UnixMillis | undefined): ReturnType<typeof toTimestamp> | undefined {
  return at === undefined ? undefined : toTimestamp(at);
}
