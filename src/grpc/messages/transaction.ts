import { type FailureReason, HOLD_REASONS } from "../../domain/payment.js";
import { attestedReceipt } from "../../domain/receipt.js";
import {
  type Correction,
  DIRECT_RAIL,
  type Transaction,
  TRANSACTION_STATUSES,
  TRANSACTION_TYPES,
  type TransactionStatus,
  type TransactionType,
} from "../../domain/transaction.js";
import { type Cents, formatCents, parseAmount } from "../../domain/values/cents.js";
import { type Parsed, unparsed } from "../../domain/values/parsed.js";
import {
  FailureReason as FailureReasonMessage,
  HoldReason as HoldReasonMessage,
  type Transaction as TransactionMessage,
  TransactionCorrection as CorrectionMessage,
  type TransactionFailure,
  TransactionStatus as TransactionStatusMessage,
  TransactionType as TransactionTypeMessage,
} from "../../gen/kesc/v1/transaction.js";
import { enumOf, parseWord, parseWords } from "./enums.js";
import { ifGiven } from "./fields.js";
import { toTimestamp } from "./timestamp.js";

const TYPES = enumOf(TransactionTypeMessage, "TRANSACTION_TYPE", TRANSACTION_TYPES);
const STATUSES = enumOf(TransactionStatusMessage, "TRANSACTION_STATUS", TRANSACTION_STATUSES);
const HOLDS = enumOf(HoldReasonMessage, "HOLD_REASON", HOLD_REASONS);
const CORRECTION_KINDS = ["REVERSAL", "LATE"] as const satisfies readonly Correction["kind"][];
const CORRECTIONS = enumOf(CorrectionMessage, "TRANSACTION_CORRECTION", CORRECTION_KINDS);

const FAILURE_WORDS: Readonly<Record<FailureReason, string>> = {
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
  RESOLVED_BY_OPERATOR: "A person found that no shillings have moved.",
  REFUSED_BY_OPERATOR: "A person refused the payout before the rail was asked.",
  CHECK_DENIED: "The organization's check of payouts denied the payout.",
};

// The books keep the words that they were begun with.
const WIRE_WORDS = {
  RESOLVED_BY_OPERATOR: "RESOLVED_BY_PERSON",
  REFUSED_BY_OPERATOR: "REFUSED_BY_PERSON",
} as const;
type OwnWord = Exclude<FailureReason, keyof typeof WIRE_WORDS>;

/** The failures that no rail decided. Any other one has a code of the rail as its statusReason. */
const NOT_OF_RAILS: ReadonlySet<FailureReason> = new Set([
  "REPORT_DIFFERS",
  "RESOLVED_BY_OPERATOR",
  "REFUSED_BY_OPERATOR",
  "CHECK_DENIED",
]);

export function toTransactionMessage(
  transaction: Transaction,
  warnings: TransactionMessage["warnings"] = [],
): TransactionMessage {
  const { corrects, failure, availableAfterCents } = transaction;
  return {
    id: transaction.id,
    account_id: transaction.accountId,
    type: TYPES[transaction.type],
    status: STATUSES[transaction.status],
    status_note: statusNoteOf(transaction),
    amount: formatCents(transaction.amountCents),
    reference: transaction.reference,
    description: transaction.description === "" ? undefined : transaction.description,
    // The generated type has no read-only map. The encoder only reads it.
    metadata: transaction.metadata as unknown as Map<string, string>,
    rail: transaction.rail,
    rail_receipt: transaction.rail === DIRECT_RAIL ? undefined : transaction.railReceipt,
    receipt: attestedReceipt(transaction),
    failure: failure && toFailureMessage(failure),
    needs_attention: transaction.openFlags.length + transaction.heldFor.length > 0,
    available_balance_after: availableAfterCents === undefined ? undefined : formatCents(availableAfterCents),
    corrects_transaction_id: corrects?.transactionId,
    correction: corrects === undefined ? undefined : CORRECTIONS[corrects.kind],
    reversed_by_transaction_id: transaction.reversedById,
    deposit_id: transaction.depositId,
    destination_id: transaction.destinationId,
    created_at: toTimestamp(transaction.createdAt),
    updated_at: toTimestamp(transaction.updatedAt),
    completed_at: transaction.completedAt === undefined ? undefined : toTimestamp(transaction.completedAt),
    warnings,
    held_for: transaction.heldFor.map((reason) => HOLDS[reason]),
  };
}

function toFailureMessage(failure: FailureReason): TransactionFailure {
  const reason = failure in WIRE_WORDS ? WIRE_WORDS[failure as keyof typeof WIRE_WORDS] : (failure as OwnWord);
  return { reason: FailureReasonMessage[`FAILURE_REASON_${reason}` as const], message: FAILURE_WORDS[failure] };
}

/** Returns the words of the person who canceled or resolved the transaction. */
function statusNoteOf({ statusReason, failure }: Pick<Transaction, "statusReason" | "failure">): string | undefined {
  const isCode = failure !== undefined && !NOT_OF_RAILS.has(failure);
  return isCode || statusReason === "" ? undefined : statusReason;
}

/** Parses the type of a filter. UNSPECIFIED means both types. */
export function parseTransactionType(unchecked: TransactionTypeMessage): Parsed<TransactionType | undefined> {
  return parseWord(unchecked, TRANSACTION_TYPES, TYPES);
}

/** Parses the kind of correction of a filter. UNSPECIFIED means all transactions. */
export function parseCorrection(unchecked: CorrectionMessage): Parsed<Correction["kind"] | undefined> {
  return parseWord(unchecked, CORRECTION_KINDS, CORRECTIONS);
}

/** Parses the statuses of a filter. */
export function parseTransactionStatuses(
  unchecked: readonly TransactionStatusMessage[],
): Parsed<readonly TransactionStatus[] | undefined> {
  return parseWords(unchecked, TRANSACTION_STATUSES, STATUSES);
}

/** Parses the upper end of a range of amounts. It must not be less than the lower end. */
export function parseMaxAmount(uncheckedMin: string, unchecked: string): Parsed<Cents | undefined> {
  const [min, max] = [ifGiven(uncheckedMin, parseAmount), ifGiven(unchecked, parseAmount)];
  const isEmpty = min.ok && max.ok && min.value !== undefined && max.value !== undefined && max.value < min.value;
  return isEmpty ? unparsed("must not be less than min_amount", "OUT_OF_RANGE") : max;
}
