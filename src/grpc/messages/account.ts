import { type Account, ACCOUNT_STATUSES, type AccountStatus } from "../../domain/account.js";
import { formatCents } from "../../domain/values/cents.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import { type Account as AccountMessage, AccountStatus as AccountStatusMessage } from "../../gen/kesc/v1/account.js";
import { toTimestamp } from "./timestamp.js";

const STATUSES = {
  ACTIVE: AccountStatusMessage.ACCOUNT_STATUS_ACTIVE,
  FROZEN: AccountStatusMessage.ACCOUNT_STATUS_FROZEN,
  CLOSED: AccountStatusMessage.ACCOUNT_STATUS_CLOSED,
} as const satisfies Record<AccountStatus, AccountStatusMessage>;

export function toAccountMessage(account: Account): AccountMessage {
  return {
    id: account.id,
    // Empty after an erasure.
    user_id: account.person?.userId ?? "",
    phone_number: account.person?.phoneNumber ?? "",
    email: account.person?.email ?? "",
    status: STATUSES[account.status],
    status_reason: account.statusReason,
    available_balance: formatCents(account.availableCents),
    held_balance: formatCents(account.heldCents),
    currency: "KESC",
    created_at: toTimestamp(account.createdAt),
    updated_at: toTimestamp(account.updatedAt),
  };
}

/** Parses the status of a filter. UNSPECIFIED means any status. */
export function parseAccountStatus(unchecked: AccountStatusMessage): Parsed<AccountStatus | undefined> {
  if (unchecked === AccountStatusMessage.ACCOUNT_STATUS_UNSPECIFIED) return parsed(undefined);
  const status = ACCOUNT_STATUSES.find((known) => STATUSES[known] === unchecked);
  return status === undefined
    ? unparsed(`must be one of ${ACCOUNT_STATUSES.join(", ")}`, "UNKNOWN_VALUE")
    : parsed(status);
}
