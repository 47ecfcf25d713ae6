import type { FailureReason } from "../../domain/payment.js";
import {
  type Correction,
  type Transaction,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
  type TransactionStatus,
  type TransactionType,
} from "../../domain/transaction.js";
import { formatCents } from "../../domain/values/cents.js";
import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";
import {
  type Transaction as TransactionMessage,
  TransactionCorrection as CorrectionMessage,
  TransactionStatus as TransactionStatusMessage,
  TransactionType as TransactionTypeMessage,
} from "../../gen/kesc/v1/transaction.js";
import { parseStatuses } from "./statuses.js";
import { toTimestamp } from "./timestamp.js";

const TYPES = {
  MINT: TransactionTypeMessage.TRANSACTION_TYPE_MINT,
  REDEEM: TransactionTypeMessage.TRANSACTION_TYPE_REDEEM,
} as const satisfies Record<TransactionType, TransactionTypeMessage>;

const STATUSES = {
  PENDING: TransactionStatusMessage.TRANSACTION_STATUS_PENDING,
  PROCESSING: TransactionStatusMessage.TRANSACTION_STATUS_PROCESSING,
  COMPLETED: TransactionStatusMessage.TRANSACTION_STATUS_COMPLETED,
  FAILED: TransactionStatusMessage.TRANSACTION_STATUS_FAILED,
  CANCELED: TransactionStatusMessage.TRANSACTION_STATUS_CANCELED,
} as const satisfies Record<TransactionStatus, TransactionStatusMessage>;

const CORRECTIONS = {
  REVERSAL: CorrectionMessage.TRANSACTION_CORRECTION_REVERSAL,
  LATE: CorrectionMessage.TRANSACTION_CORRECTION_LATE,
} as const satisfies Record<Correction["kind"], CorrectionMessage>;

const FAILURES = {
  CANCELED_BY_PAYER: "The payer canceled the payment.",
  PAYER_UNREACHABLE: "The payer's phone could not be reached.",
  PAYER_SHORT_OF_FUNDS: "The payer has too little money.",
  WRONG_PIN: "The payer entered a wrong PIN.",
  RECIPIENT_NOT_REGISTERED: "The recipient is not registered with the rail.",
  RECIPIENT_LIMIT: "The recipient cannot take the amount.",
  RAIL_ACCOUNT_SHORT: "The organization's account at the rail has too little money.",
  RAIL_REFUSED: "The rail refused the payment.",
  EXPIRED: "The rail could not be asked in time.",
  REPORT_DIFFERS: "The rail moved another amount, which a correction has booked.",
  RESOLVED_BY_OPERATOR: "An operator found that no shillings have moved.",
} as const satisfies Record<FailureReason, string>;

export function toTransactionMessage(transaction: Transaction): TransactionMessage {
  const minted = transaction.type === "MINT";
  const { corrects, failure, availableAfterCents } = transaction;
  return {
    id: transaction.id,
    account_id: transaction.accountId,
    type: TYPES[transaction.type],
    status: STATUSES[transaction.status],
    status_reason: transaction.statusReason,
    amount: formatCents(transaction.amountCents),
    source_currency: minted ? "KES" : "KESC",
    destination_currency: minted ? "KESC" : "KES",
    reference: transaction.reference,
    description: transaction.description,
    // The generated type has no read-only map. The encoder only reads it.
    metadata: transaction.metadata as unknown as Map<string, string>,
    rail: transaction.rail,
    rail_receipt: transaction.railReceipt ?? "",
    failure: failure === undefined ? undefined : { reason: failure, message: FAILURES[failure] },
    created_at: toTimestamp(transaction.createdAt),
    updated_at: toTimestamp(transaction.updatedAt),
    completed_at: transaction.completedAt === undefined ? undefined : toTimestamp(transaction.completedAt),
    corrects_transaction_id: corrects?.transactionId ?? "",
    correction:
      corrects === undefined ? CorrectionMessage.TRANSACTION_CORRECTION_UNSPECIFIED : CORRECTIONS[corrects.kind],
    reversed_by_transaction_id: transaction.reversedById ?? "",
    available_balance_after: availableAfterCents === undefined ? "" : formatCents(availableAfterCents),
    needs_attention: transaction.openFlags.length > 0,
  };
}

/** Parses the type of a filter. UNSPECIFIED means both types. */
export function parseTransactionType(unchecked: TransactionTypeMessage): Parsed<TransactionType | undefined> {
  if (unchecked === TransactionTypeMessage.TRANSACTION_TYPE_UNSPECIFIED) return parsed(undefined);
  const type = TRANSACTION_TYPES.find((known) => TYPES[known] === unchecked);
  return type === undefined
    ? unparsed(`must be one of ${TRANSACTION_TYPES.join(", ")}`, "UNKNOWN_VALUE")
    : parsed(type);
}

/** Parses the statuses of a filter. */
export function parseTransactionStatuses(
  unchecked: readonly TransactionStatusMessage[],
): Parsed<readonly TransactionStatus[] | undefined> {
  return parseStatuses(unchecked, TRANSACTION_STATUSES, STATUSES);
}
