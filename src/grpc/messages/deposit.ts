import { DEPOSIT_REASONS, DEPOSIT_STATUSES, type DepositReason, type DepositStatus } from "../../domain/deposit.js";
import { attestedReceipt } from "../../domain/receipt.js";
import { DIRECT_RAIL } from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import { shownPhone } from "../../domain/values/masked-phone.js";
import type { Parsed } from "../../domain/values/parsed.js";
import type { DepositSnapshot } from "../../events/event.js";
import {
  type Deposit as DepositMessage,
  DepositReason as DepositReasonMessage,
  DepositStatus as DepositStatusMessage,
} from "../../gen/kesc/v1/deposit.js";
import { parseStatuses } from "./statuses.js";
import { toTimestamp } from "./timestamp.js";

const STATUSES = {
  UNALLOCATED: DepositStatusMessage.DEPOSIT_STATUS_UNALLOCATED,
  CREDITED: DepositStatusMessage.DEPOSIT_STATUS_CREDITED,
  RETURNED: DepositStatusMessage.DEPOSIT_STATUS_RETURNED,
  REVERSED: DepositStatusMessage.DEPOSIT_STATUS_REVERSED,
  RETURNING: DepositStatusMessage.DEPOSIT_STATUS_RETURNING,
} as const satisfies Record<DepositStatus, DepositStatusMessage>;

const REASONS = {
  NO_REFERENCE: DepositReasonMessage.DEPOSIT_REASON_NO_REFERENCE,
  UNKNOWN_REFERENCE: DepositReasonMessage.DEPOSIT_REASON_UNKNOWN_REFERENCE,
  ACCOUNT_CLOSED: DepositReasonMessage.DEPOSIT_REASON_ACCOUNT_CLOSED,
  LIMIT_EXCEEDED: DepositReasonMessage.DEPOSIT_REASON_LIMIT_EXCEEDED,
  ORDER_UNCLEAR: DepositReasonMessage.DEPOSIT_REASON_ORDER_UNCLEAR,
  BY_HAND: DepositReasonMessage.DEPOSIT_REASON_BY_HAND,
  UNASSIGNED: DepositReasonMessage.DEPOSIT_REASON_UNASSIGNED,
  RETURN_FAILED: DepositReasonMessage.DEPOSIT_REASON_RETURN_FAILED,
} as const satisfies Record<DepositReason, DepositReasonMessage>;

export function toDepositMessage(deposit: DepositSnapshot): DepositMessage {
  const { rail, receipt, reason, maskedPhone, paidAt } = deposit;
  return {
    id: deposit.id,
    status: STATUSES[deposit.status],
    reason: reason === undefined ? undefined : REASONS[reason],
    amount: formatCents(deposit.amountCents),
    rail,
    rail_receipt: rail === DIRECT_RAIL ? undefined : receipt,
    receipt: attestedReceipt({ rail, railReceipt: receipt }),
    masked_payer_phone_number: maskedPhone === undefined ? undefined : shownPhone(maskedPhone),
    typed_reference: deposit.typedReference,
    account_id: deposit.accountId,
    transaction_id: deposit.transactionId,
    paid_at: paidAt === undefined ? undefined : toTimestamp(paidAt),
    created_at: toTimestamp(deposit.createdAt),
    updated_at: toTimestamp(deposit.updatedAt),
  };
}

/** Parses the statuses of a filter. */
export function parseDepositStatuses(
  unchecked: readonly DepositStatusMessage[],
): Parsed<readonly DepositStatus[] | undefined> {
  return parseStatuses(unchecked, DEPOSIT_STATUSES, STATUSES);
}

/** Parses the reasons of a filter. All are not the same as none: a deposit may have no reason. */
export function parseDepositReasons(
  unchecked: readonly DepositReasonMessage[],
): Parsed<readonly DepositReason[] | undefined> {
  const reasons = parseStatuses(unchecked, DEPOSIT_REASONS, REASONS);
  return reasons.ok && reasons.value === undefined && unchecked.length > 0
    ? { ok: true, value: DEPOSIT_REASONS }
    : reasons;
}
