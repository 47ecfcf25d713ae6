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
} as const satisfies Record<Correction["kind"], CorrectionMessage>;

export function toTransactionMessage(transaction: Transaction): TransactionMessage {
  const minted = transaction.type === "MINT";
  const { corrects, availableAfterCents } = transaction;
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
    rail_receipt: "",
    failure: undefined,
    created_at: toTimestamp(transaction.createdAt),
    updated_at: toTimestamp(transaction.updatedAt),
    completed_at: transaction.completedAt === undefined ? undefined : toTimestamp(transaction.completedAt),
    corrects_transaction_id: corrects?.transactionId ?? "",
    correction:
      corrects === undefined ? CorrectionMessage.TRANSACTION_CORRECTION_UNSPECIFIED : CORRECTIONS[corrects.kind],
    reversed_by_transaction_id: transaction.reversedById ?? "",
    available_balance_after: availableAfterCents === undefined ? "" : formatCents(availableAfterCents),
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
