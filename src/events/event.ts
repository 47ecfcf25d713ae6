import type { AccountStatus } from "../domain/account.js";
import { type Deposit, type DepositStatus, readDepositDetail } from "../domain/deposit.js";
import type { Destination } from "../domain/destination.js";
import type { Freeze } from "../domain/freeze.js";
import { type Balances, type JournalKind, type Posting, STILL_FROZEN, wordOf } from "../domain/journal.js";
import { DEFAULT_TIER, type TierName } from "../domain/limits/limits.js";
import type { FailureReason, FlagReason, HoldReason, RailReceipt } from "../domain/payment.js";
import { readWarning, type WarningSnapshot } from "../domain/rail-warning.js";
import { contentOfRow, type RowContent } from "../domain/row-content.js";
import type { Transaction, TransactionStatus } from "../domain/transaction.js";
import type { Actor } from "../domain/values/actor.js";
import type { Cents } from "../domain/values/cents.js";
import type { DepositReference } from "../domain/values/deposit-reference.js";
import type { AccountId, ApiKeyId, OrganizationId, TransactionId, WebhookEndpointId } from "../domain/values/ids.js";
import { NO_REASON, type StatusReason } from "../domain/values/text.js";
import type { UnixMillis } from "../domain/values/time.js";

/** A row of the journal, as far as an event shows it. */
export interface EventRow {
  readonly organizationId: OrganizationId;
  readonly sequence: number;
  readonly kind: JournalKind;
  readonly accountId: AccountId | undefined;
  readonly posting: Posting | undefined;
  readonly balancesAfter: Balances | undefined;
  readonly detail: string | undefined;
  readonly receipt: RailReceipt | undefined;
  readonly actor: Actor;
  readonly reason: StatusReason;
  readonly recordedAt: UnixMillis;
  /** At least the first eight hexadecimal digits. */
  readonly contentHash: string;
}

/** What a row is about. Undefined if that is the organization itself. */
export type EventSubject =
  | TransactionFacts
  | AccountFacts
  | DepositFacts
  | DestinationFacts
  | { readonly kind: "key"; readonly apiKeyId: ApiKeyId }
  | { readonly kind: "endpoint"; readonly webhookEndpointId: WebhookEndpointId }
  | undefined;

/** What never changes of a transaction, and its other rows that an event needs. */
export interface TransactionFacts {
  readonly kind: "transaction";
  readonly transaction: Pick<
    Transaction,
    | "id"
    | "type"
    | "amountCents"
    | "reference"
    | "description"
    | "metadata"
    | "rail"
    | "corrects"
    | "depositId"
    | "destinationId"
    | "createdAt"
  > & {
    /** The receipt of a transaction about a deposit: no row of its own need have it. */
    readonly depositReceipt: RailReceipt | undefined;
  };
  /** The transaction that had reversed this one by then. */
  readonly reversedById: TransactionId | undefined;
  /**
   * The rows of the transaction, up to this one and with it, that neither began nor ended it,
   * oldest first. Empty for a row that began or ended it.
   */
  readonly steps: readonly StepRow[];
  /** The row that ended the transaction, if it is an earlier one. */
  readonly ended: EndRow | undefined;
}

export interface StepRow {
  readonly sequence: number;
  readonly kind: JournalKind;
  readonly detail: string | undefined;
  readonly receipt: RailReceipt | undefined;
}

export interface EndRow extends StepRow {
  readonly reason: StatusReason;
  readonly availableAfterCents: Cents | undefined;
  readonly recordedAt: UnixMillis;
}

export interface AccountFacts {
  readonly kind: "account";
  readonly accountId: AccountId;
  readonly createdAt: UnixMillis;
  /** The tier that the last row up to this one gave it. Undefined if none did. */
  readonly tier: TierName | undefined;
  /** The last row up to this one that froze, unfroze or closed the account. */
  readonly statusRow: Pick<EndRow, "kind" | "detail" | "reason"> | undefined;
  /** The freeze that the row began or ended. */
  readonly freeze: Pick<Freeze, "id" | "reason" | "note" | "createdBy" | "createdAt"> | undefined;
}

/** What never changes of a deposit, without personal data. The row itself has its id. */
export interface DepositFacts {
  readonly kind: "deposit";
  readonly deposit: Pick<Deposit, "rail" | "receipt" | "amountCents" | "maskedPhone" | "paidAt" | "createdAt">;
}

/** What never changes of a destination, without its number and the rail's name for it. */
export interface DestinationFacts {
  readonly kind: "destination";
  readonly destination: Omit<Destination, "organizationId" | "number" | "railName" | "removedAt">;
}

/** A destination right after a row. */
export type DestinationSnapshot = DestinationFacts["destination"] & Pick<Destination, "removedAt">;

/** A deposit right after a row. */
export type DepositSnapshot = Omit<Deposit, "organizationId" | "railAccountId" | "credits">;

/** An account right after a row, without personal data. The event has its balances. */
export interface AccountSnapshot {
  readonly id: AccountId;
  readonly status: AccountStatus;
  readonly statusNote: StatusReason;
  readonly tier: TierName;
  /** The freeze that the row began or ended. */
  readonly freeze: Freeze | undefined;
  /** The reference that the row gave the account. */
  readonly depositReference: DepositReference | undefined;
  readonly createdAt: UnixMillis;
  readonly updatedAt: UnixMillis;
}

/** One row of an organization's book, with what it is about as that was right after the row. */
export interface LedgerEvent {
  readonly organizationId: OrganizationId;
  readonly sequence: number;
  readonly id: string;
  readonly type: JournalKind;
  readonly recordedAt: UnixMillis;
  readonly actor: Actor;
  readonly accountId: AccountId | undefined;
  readonly transaction: Transaction | undefined;
  readonly account: AccountSnapshot | undefined;
  readonly deposit: DepositSnapshot | undefined;
  readonly destination: DestinationSnapshot | undefined;
  readonly apiKeyId: ApiKeyId | undefined;
  readonly webhookEndpointId: WebhookEndpointId | undefined;
  readonly railWarning: WarningSnapshot | undefined;
  readonly balances: Balances | undefined;
  /** What the row itself says, if no resource does. */
  readonly row: (RowContent & Pick<EventRow, "posting" | "receipt">) | undefined;
}

const HASH_DIGITS = 8;
/** The types of rows about which no resource says what they moved or recorded. */
const SPEAKS_FOR_ITSELF = /^(book|charge|limits|reserve)\.|^rail\.changed$/;
const WARNS: ReadonlySet<JournalKind> = new Set(["rail.warned", "rail.cleared"]);

/** Makes the event of a row. Only what the book held at that row goes into it. */
export function eventOf(row: EventRow, subject: EventSubject): LedgerEvent {
  const { organizationId, sequence, kind, accountId, balancesAfter, actor, recordedAt } = row;
  return {
    organizationId,
    sequence,
    id: eventIdOf(row),
    type: kind,
    recordedAt,
    actor,
    accountId,
    transaction: subject?.kind === "transaction" ? transactionAt(row, subject) : undefined,
    account: subject?.kind === "account" ? accountAt(row, subject) : undefined,
    deposit: subject?.kind === "deposit" ? depositAt(row, subject) : undefined,
    destination: subject?.kind === "destination" ? destinationAt(row, subject) : undefined,
    apiKeyId: subject?.kind === "key" ? subject.apiKeyId : undefined,
    webhookEndpointId: subject?.kind === "endpoint" ? subject.webhookEndpointId : undefined,
    railWarning: WARNS.has(kind) ? readWarning(row.detail ?? "{}") : undefined,
    balances: balancesAfter,
    row: SPEAKS_FOR_ITSELF.test(kind)
      ? { ...contentOfRow(row), posting: row.posting, receipt: row.receipt }
      : undefined,
  };
}

/** A restored book that goes on differently has other hashes, and so other ids. */
export function eventIdOf({
  organizationId,
  sequence,
  contentHash,
}: Pick<EventRow, "organizationId" | "sequence" | "contentHash">): string {
  const suffix = organizationId.slice(organizationId.indexOf("_") + 1);
  return `evt_${suffix}_${String(sequence)}_${contentHash.slice(0, HASH_DIGITS)}`;
}

/** The status that a row of each of these kinds gives for good. */
const ENDS: Readonly<Partial<Record<JournalKind, TransactionStatus>>> = {
  "transaction.completed": "COMPLETED",
  "transaction.failed": "FAILED",
  "transaction.canceled": "CANCELED",
};

// Each field is named, because every event of a mint passes here: to spread the objects would take
// ten times as long.
function transactionAt(row: EventRow, { transaction, reversedById, steps, ended }: TransactionFacts): Transaction {
  const { organizationId, accountId, recordedAt } = row;
  if (accountId === undefined) throw new Error(`the row of ${transaction.id} has no account`);
  const end = ENDS[row.kind] === undefined ? ended : endOf(row);
  const status = end === undefined ? statusBeforeEnd(row.kind, steps) : ENDS[end.kind];
  if (status === undefined) throw new Error(`the row ${String(row.sequence)} does not end ${transaction.id}`);
  const isCompleted = status === "COMPLETED";
  const receipts = [end, ...steps].map((step) => step?.receipt);
  return {
    id: transaction.id,
    organizationId,
    accountId,
    type: transaction.type,
    amountCents: transaction.amountCents,
    reference: transaction.reference,
    description: transaction.description,
    metadata: transaction.metadata,
    rail: transaction.rail,
    corrects: transaction.corrects,
    depositId: transaction.depositId,
    destinationId: transaction.destinationId,
    createdAt: transaction.createdAt,
    status,
    statusReason: end?.reason ?? NO_REASON,
    // No message of the contract has it.
    railMovement: undefined,
    railReceipt: transaction.depositReceipt ?? receipts.find((receipt) => receipt !== undefined),
    failure: status === "FAILED" ? (wordOf(end?.detail) as FailureReason) : undefined,
    openFlags: flagsAfter(steps, end),
    heldFor: status === "PENDING" ? heldAfter(steps) : NO_HOLDS,
    reversedById,
    availableAfterCents: isCompleted ? end?.availableAfterCents : undefined,
    updatedAt: recordedAt,
    completedAt: isCompleted ? end?.recordedAt : undefined,
  };
}

/** The row, as the end of its transaction. */
function endOf({ sequence, kind, detail, receipt, reason, balancesAfter, recordedAt }: EventRow): EndRow {
  const availableAfterCents = balancesAfter?.availableCents;
  return { sequence, kind, detail, receipt, reason, availableAfterCents, recordedAt };
}

function statusBeforeEnd(kind: JournalKind, steps: readonly StepRow[]): TransactionStatus {
  // Only a transaction that the rail may have is resolved by an operator.
  const isProcessing =
    kind === "transaction.resolution_proposed" || steps.some((step) => step.kind === "transaction.processing");
  return isProcessing ? "PROCESSING" : "PENDING";
}

/** The end of a transaction lowers the flags that are up. */
function flagsAfter(steps: readonly StepRow[], end: EndRow | undefined): readonly FlagReason[] {
  const open = new Set<FlagReason>();
  for (const { sequence, kind, detail } of steps) {
    if (sequence < (end?.sequence ?? 0)) continue;
    if (kind === "transaction.flagged") open.add(wordOf(detail) as FlagReason);
    if (kind === "transaction.attended") open.delete(wordOf(detail) as FlagReason);
  }
  return [...open];
}

const NO_HOLDS: readonly HoldReason[] = [];

function heldAfter(steps: readonly StepRow[]): readonly HoldReason[] {
  const last = steps.findLast(({ kind }) => kind === "transaction.held" || kind === "transaction.released");
  return last?.kind === "transaction.held" ? ((last.detail ?? "").split(",") as HoldReason[]) : NO_HOLDS;
}

function accountAt(row: EventRow, { accountId, createdAt, statusRow, tier, freeze }: AccountFacts): AccountSnapshot {
  const { organizationId, actor, reason, recordedAt } = row;
  const status = statusAfter(statusRow);
  const lifted = row.kind === "account.unfrozen" ? { by: actor, at: recordedAt, note: reason } : undefined;
  return {
    id: accountId,
    status,
    statusNote: status === "FROZEN" ? NO_REASON : (statusRow?.reason ?? NO_REASON),
    tier: tier ?? DEFAULT_TIER,
    freeze: freeze === undefined ? undefined : { ...freeze, organizationId, accountId, lifted },
    depositReference: row.kind === "account.created" ? (row.detail as DepositReference | undefined) : undefined,
    createdAt,
    updatedAt: recordedAt,
  };
}

function statusAfter(statusRow: AccountFacts["statusRow"]): AccountStatus {
  if (statusRow === undefined) return "ACTIVE";
  if (statusRow.kind === "account.closed") return "CLOSED";
  return statusRow.kind === "account.frozen" || statusRow.detail === STILL_FROZEN ? "FROZEN" : "ACTIVE";
}

/** The status of a deposit after a row of each of these kinds. */
const DEPOSIT_STATUS_AFTER: Readonly<Partial<Record<JournalKind, DepositStatus>>> = {
  "deposit.received": "UNALLOCATED",
  "deposit.returning": "RETURNING",
  "deposit.returned": "RETURNED",
  "deposit.return_failed": "UNALLOCATED",
  "deposit.reversed": "REVERSED",
};

/** No account has the shillings at such a row: each credit is a row of its transaction. */
function depositAt({ kind, detail = "", recordedAt }: EventRow, { deposit }: DepositFacts): DepositSnapshot {
  const { id, reason, sameNumber } = readDepositDetail(detail);
  const status = DEPOSIT_STATUS_AFTER[kind];
  if (status === undefined) throw new Error(`a row ${kind} is about no deposit`);
  return {
    ...deposit,
    id,
    status,
    reason,
    sameNumber,
    accountId: undefined,
    transactionId: undefined,
    typedReference: undefined,
    updatedAt: recordedAt,
  };
}

function destinationAt({ kind, recordedAt }: EventRow, { destination }: DestinationFacts): DestinationSnapshot {
  return { ...destination, removedAt: kind === "destination.removed" ? recordedAt : undefined };
}
