import {
  DEPOSIT_REASONS,
  DEPOSIT_STATUSES,
  type DepositReason,
  type DepositStatus,
  type SameNumber,
} from "../../domain/deposit.js";
import { attestedReceipt, sourceAndNumber } from "../../domain/receipt.js";
import { DIRECT_RAIL } from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import { shownPhone } from "../../domain/values/masked-phone.js";
import type { Parsed } from "../../domain/values/parsed.js";
import type { DepositSnapshot } from "../../events/event.js";
import {
  type Deposit as DepositMessage,
  DepositReason as DepositReasonMessage,
  DepositStatus as DepositStatusMessage,
  type SameNumber as SameNumberMessage,
} from "../../gen/kesc/v1/deposit.js";
import { enumOf, parseWords } from "./enums.js";
import { toTimestamp } from "./timestamp.js";

const STATUSES = enumOf(DepositStatusMessage, "DEPOSIT_STATUS", DEPOSIT_STATUSES);
const REASONS = enumOf(DepositReasonMessage, "DEPOSIT_REASON", DEPOSIT_REASONS);

export function toDepositMessage(deposit: DepositSnapshot): DepositMessage {
  const { rail, receipt, reason, sameNumber, maskedPhone, paidAt } = deposit;
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
    same_number: sameNumber && toSameNumber(sameNumber),
  };
}

function toSameNumber({ receipt, id }: SameNumber): SameNumberMessage {
  const ofDeposit = id?.startsWith("dep_") === true;
  return {
    receipt: sourceAndNumber(receipt),
    transaction_id: ofDeposit ? undefined : id,
    deposit_id: ofDeposit ? id : undefined,
  };
}

/** Parses the statuses of a filter. */
export function parseDepositStatuses(
  unchecked: readonly DepositStatusMessage[],
): Parsed<readonly DepositStatus[] | undefined> {
  return parseWords(unchecked, DEPOSIT_STATUSES, STATUSES);
}

/** Parses the reasons of a filter. All are not the same as none: a deposit may have no reason. */
export function parseDepositReasons(
  unchecked: readonly DepositReasonMessage[],
): Parsed<readonly DepositReason[] | undefined> {
  const reasons = parseWords(unchecked, DEPOSIT_REASONS, REASONS);
  return reasons.ok && reasons.value === undefined && unchecked.length > 0
    ? { ok: true, value: DEPOSIT_REASONS }
    : reasons;
}
