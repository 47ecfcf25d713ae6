import type { DestinationKind, MaskedNumber } from "../../domain/destination.js";
import type { FreezeReason } from "../../domain/freeze.js";
import type { BookAccount, JournalKind } from "../../domain/journal.js";
import type { TierName } from "../../domain/limits/limits.js";
import type { RailReceipt } from "../../domain/payment.js";
import type { Rail, Transaction } from "../../domain/transaction.js";
import type { Actor } from "../../domain/values/actor.js";
import { toCents } from "../../domain/values/cents.js";
import type {
  AccountId,
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  TransactionId,
  WebhookEndpointId,
} from "../../domain/values/ids.js";
import type { MaskedPhone } from "../../domain/values/masked-phone.js";
import type { Description, StatusReason } from "../../domain/values/text.js";
import { toUnixMillis } from "../../domain/values/time.js";
import {
  type AccountFacts,
  type DepositFacts,
  type DestinationFacts,
  type EndRow,
  eventOf,
  type EventRow,
  type EventSubject,
  type LedgerEvent,
  type StepRow,
  type TransactionFacts,
} from "../../events/event.js";
import { type RowOf, typesOf } from "../../model/column.js";
import { JOURNAL, TRANSACTION_STEPS } from "../../model/transactions.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Columns, Engine } from "../sql/engine.js";
import { correctionOf, metadataOf, type TransactionRow } from "../sql/records/transaction-rows.js";

/** A row that is asked for. */
const ASKED_COLUMNS = { book: "int64", seq: "int64" } as const satisfies Columns;

const STEP_COLUMNS = typesOf(JOURNAL, [
  "seq",
  "kind",
  "detail",
  "rail_receipt",
  "reason",
  "available_after_cents",
  "recorded_at",
]);

/** Another row of the journal, out of a column of JSON. */
type OtherRow = Pick<RowOf<typeof JOURNAL>, keyof typeof STEP_COLUMNS>;

/** The columns of the transaction. All are null if the row is about none. */
type CreatedTransaction = Pick<
  TransactionRow,
  | "type"
  | "amount_cents"
  | "reference"
  | "description"
  | "metadata"
  | "rail"
  | "corrects_id"
  | "correction"
  | "deposit_id"
  | "destination_id"
  | "created_at"
> & {
  /** The receipt of a transaction about a deposit: no row of its own has it. */
  readonly deposit_receipt: string | null;
};

/** A row of the journal with what it is about. The columns of JSON hold arrays of OtherRow. */
export type EventSelectRow = Omit<RowOf<typeof JOURNAL, string>, "previous_seq" | "amount_cents"> & {
  readonly posted_cents: number | null;
  readonly reversed_by_id: string | null;
  readonly steps: string | null;
  readonly ended: string | null;
  readonly status_rows: string | null;
  readonly tier: string | null;
  readonly account_created_at: number | null;
  readonly api_key_id: string | null;
  readonly freeze_reason_code: string;
  readonly freeze_reason: string;
  readonly freeze_created_by: string;
  readonly freeze_created_at: number;
  /** Null unless the row is about a deposit, as are the columns of the deposit after it. */
  readonly received_amount_cents: number | null;
  readonly received_over: string;
  readonly received_receipt: string;
  readonly received_from: string | null;
  readonly received_paid_at: number | null;
  readonly received_at: number;
  /** Null unless the row is about a destination, as are the columns after it. */
  readonly destination_kind: string | null;
  readonly destination_label: string;
  readonly destination_masked_number: string;
  readonly destination_usable_at: number;
  readonly destination_created_at: number;
} & CreatedTransaction;

// Both engines use a partial index only if the statement repeats its condition.
export const STEPS = TRANSACTION_STEPS;
export const ENDS = "('transaction.completed', 'transaction.failed', 'transaction.canceled')";
const DEPOSITS =
  "('deposit.received', 'deposit.returning', 'deposit.returned', 'deposit.return_failed', 'deposit.reversed')";
/** The characters of the id with which the detail of a row about a deposit begins. */
export const DEPOSIT_ID_LENGTH = 30;
const DESTINATIONS = "('destination.created', 'destination.removed')";
const STATUSES = "('account.frozen', 'account.unfrozen', 'account.closed')";

/** Returns an expression: the API key that the row `j` of the journal created or revoked. */
export function apiKeyColumn({ table }: Pick<Engine, "table">): string {
  const apiKey = `
    SELECT k.id FROM ${table("books")} b JOIN ${table("api_keys")} k ON k.organization_id = b.organization_id
    WHERE b.number = j.book AND k.seq = j.seq`;
  return `CASE j.kind WHEN 'key.created' THEN (${apiKey}) WHEN 'key.revoked' THEN j.detail END`;
}

/**
 * Returns the SELECT of the rows whose JSON is its first binding. A book has no gaps, so a page is
 * read row by row, by the primary key: PostgreSQL cannot mistake that for a large part of the book.
 * A row that began or ended its transaction needs no other rows.
 */
export function eventSelect({ table, input, jsonRows, hex }: Engine): string {
  const journal = table("journal");
  const others = (rows: string): string => jsonRows("s", STEP_COLUMNS, rows);
  const steps = `${journal} s WHERE s.transaction_id = j.transaction_id AND s.seq <= j.seq AND s.kind IN ${STEPS}`;
  const ended = `${journal} s WHERE s.transaction_id = j.transaction_id AND s.seq < j.seq AND s.kind IN ${ENDS}`;
  const statusRow = `(
    SELECT * FROM ${journal} n WHERE n.account_id = j.account_id AND n.seq <= j.seq AND n.kind IN ${STATUSES}
    ORDER BY n.seq DESC LIMIT 1
  ) s`;
  const tier = `
    SELECT n.detail FROM ${journal} n WHERE n.account_id = j.account_id AND n.seq <= j.seq AND n.kind = 'account.tiered'
    ORDER BY n.seq DESC LIMIT 1`;
  return `
    SELECT j.book, j.seq, j.kind, j.account_id, j.transaction_id, j.freeze_id, j.available_after_cents,
      j.held_after_cents, j.debit, j.credit, j.amount_cents AS posted_cents, j.detail, j.rail_receipt, j.actor, j.reason, j.recorded_at,
      ${hex("j.content_hash")} AS content_hash,
      t.type, t.amount_cents, t.reference, t.description, t.metadata, t.rail, t.corrects_id, t.correction, t.created_at,
      t.destination_id, t.deposit_id, CASE WHEN t.deposit_id IS NOT NULL THEN t.rail_receipt END AS deposit_receipt,
      CASE WHEN t.reversed_by_id IS NOT NULL THEN (
        SELECT r.id FROM ${table("transactions")} r WHERE r.id = t.reversed_by_id AND r.seq <= j.seq
      ) END AS reversed_by_id,
      CASE WHEN j.kind IN ${STEPS} OR j.kind = 'transaction.resolution_proposed' THEN ${others(steps)} END AS steps,
      CASE WHEN j.kind IN ${STEPS} THEN ${others(ended)} END AS ended,
      CASE WHEN j.transaction_id IS NULL AND j.account_id IS NOT NULL THEN ${others(statusRow)} END AS status_rows,
      CASE WHEN j.transaction_id IS NULL AND j.account_id IS NOT NULL THEN (${tier}) END AS tier,
      ${apiKeyColumn({ table })} AS api_key_id,
      a.created_at AS account_created_at,
      f.reason_code AS freeze_reason_code, f.reason AS freeze_reason, f.created_by AS freeze_created_by,
      f.created_at AS freeze_created_at,
      d.amount_cents AS received_amount_cents, d.rail AS received_over, d.receipt AS received_receipt,
      d.masked_phone AS received_from, d.paid_at AS received_paid_at, d.created_at AS received_at,
      e.kind AS destination_kind, e.label AS destination_label, e.masked_number AS destination_masked_number,
      e.usable_at AS destination_usable_at, e.created_at AS destination_created_at
    FROM ${input(ASKED_COLUMNS)} CROSS JOIN ${journal} j
      LEFT JOIN ${table("transactions")} t ON t.id = j.transaction_id
      LEFT JOIN ${table("accounts")} a ON j.transaction_id IS NULL AND a.id = j.account_id
      LEFT JOIN ${table("freezes")} f ON f.id = j.freeze_id
      LEFT JOIN ${table("destinations")} e ON e.id = CASE WHEN j.kind IN ${DESTINATIONS} THEN j.detail END
      LEFT JOIN ${table("deposits")} d ON d.id = CASE WHEN j.kind IN ${DEPOSITS} THEN substr(j.detail, 1, ${String(DEPOSIT_ID_LENGTH)}) END
    WHERE j.book = input.book AND j.seq = input.seq`;
}

export function eventFrom(row: EventSelectRow, { organizationId }: OpenBook): LedgerEvent {
  const { available_after_cents: available, held_after_cents: held, debit, credit, posted_cents: posted } = row;
  const eventRow: EventRow = {
    organizationId,
    sequence: row.seq,
    kind: row.kind as JournalKind,
    accountId: (row.account_id ?? undefined) as AccountId | undefined,
    balancesAfter:
      available === null || held === null
        ? undefined
        : { availableCents: toCents(available), heldCents: toCents(held) },
    posting:
      debit === null || credit === null || posted === null
        ? undefined
        : { debit: debit as BookAccount, credit: credit as BookAccount, amountCents: toCents(posted) },
    detail: row.detail ?? undefined,
    receipt: (row.rail_receipt ?? undefined) as RailReceipt | undefined,
    actor: row.actor as Actor,
    reason: row.reason as StatusReason,
    recordedAt: toUnixMillis(row.recorded_at),
    contentHash: row.content_hash,
  };
  return eventOf(eventRow, subjectOf(row));
}

function subjectOf(row: EventSelectRow): EventSubject {
  if (row.transaction_id !== null) {
    return {
      kind: "transaction",
      transaction: createdOf(row.transaction_id as TransactionId, row),
      reversedById: (row.reversed_by_id ?? undefined) as TransactionId | undefined,
      steps: othersIn(row.steps).map(stepOf),
      ended: othersIn(row.ended).map(endOf)[0],
    };
  }
  if (row.api_key_id !== null) return { kind: "key", apiKeyId: row.api_key_id as ApiKeyId };
  if (row.kind.startsWith("webhook_endpoint.")) {
    return { kind: "endpoint", webhookEndpointId: row.detail as WebhookEndpointId };
  }
  if (row.received_amount_cents !== null) return depositFactsOf(row, row.received_amount_cents);
  if (row.destination_kind !== null) return destinationFactsOf(row, row.destination_kind);
  if (row.account_id === null || row.account_created_at === null) return undefined;
  return {
    kind: "account",
    accountId: row.account_id as AccountId,
    createdAt: toUnixMillis(row.account_created_at),
    tier: (row.tier ?? undefined) as TierName | undefined,
    statusRow: othersIn(row.status_rows).map(endOf)[0],
    freeze: freezeOf(row),
  };
}

function createdOf(id: TransactionId, row: CreatedTransaction): TransactionFacts["transaction"] {
  return {
    id,
    type: row.type as Transaction["type"],
    amountCents: toCents(row.amount_cents),
    reference: row.reference as Transaction["reference"],
    description: row.description as Transaction["description"],
    metadata: metadataOf({ ...row, id }),
    rail: row.rail as Transaction["rail"],
    corrects: correctionOf(row),
    depositId: (row.deposit_id ?? undefined) as DepositId | undefined,
    destinationId: (row.destination_id ?? undefined) as DestinationId | undefined,
    depositReceipt: (row.deposit_receipt ?? undefined) as RailReceipt | undefined,
    createdAt: toUnixMillis(row.created_at),
  };
}

function depositFactsOf(row: EventSelectRow, amountCents: number): DepositFacts {
  const { received_paid_at: paidAt } = row;
  return {
    kind: "deposit",
    deposit: {
      rail: row.received_over as Rail,
      receipt: row.received_receipt as RailReceipt,
      amountCents: toCents(amountCents),
      maskedPhone: (row.received_from ?? undefined) as MaskedPhone | undefined,
      paidAt: paidAt === null ? undefined : toUnixMillis(paidAt),
      createdAt: toUnixMillis(row.received_at),
    },
  };
}

function destinationFactsOf(row: EventSelectRow, kind: string): DestinationFacts {
  return {
    kind: "destination",
    destination: {
      id: row.detail as DestinationId,
      accountId: row.account_id as AccountId,
      kind: kind as DestinationKind,
      label: row.destination_label as Description,
      maskedNumber: row.destination_masked_number as MaskedNumber,
      usableAt: toUnixMillis(row.destination_usable_at),
      createdAt: toUnixMillis(row.destination_created_at),
    },
  };
}

function freezeOf(row: EventSelectRow): AccountFacts["freeze"] {
  if (row.freeze_id === null) return undefined;
  return {
    id: row.freeze_id as FreezeId,
    reason: row.freeze_reason_code as FreezeReason,
    note: row.freeze_reason as StatusReason,
    createdBy: row.freeze_created_by as Actor,
    createdAt: toUnixMillis(row.freeze_created_at),
  };
}

/** Returns the rows in a column of JSON, oldest first. */
function othersIn(json: string | null): readonly OtherRow[] {
  if (json === null) return [];
  return (JSON.parse(json) as OtherRow[]).sort((left, right) => left.seq - right.seq);
}

function stepOf({ seq, kind, detail, rail_receipt: receipt }: OtherRow): StepRow {
  return {
    sequence: seq,
    kind: kind as JournalKind,
    detail: detail ?? undefined,
    receipt: (receipt ?? undefined) as RailReceipt | undefined,
  };
}

function endOf(row: OtherRow): EndRow {
  const { available_after_cents: available } = row;
  return {
    ...stepOf(row),
    reason: row.reason as StatusReason,
    availableAfterCents: available === null ? undefined : toCents(available),
    recordedAt: toUnixMillis(row.recorded_at),
  };
}
