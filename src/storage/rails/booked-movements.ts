import type { FailureReason, FlagReason, RailReceipt } from "../../domain/payment.js";
import { isSourceOfRail, receiptPrefix } from "../../domain/receipt.js";
import {
  BANK_RAIL,
  DIRECT_RAIL,
  type Rail,
  type TransactionStatus,
  type TransactionType,
} from "../../domain/transaction.js";
import { toCents } from "../../domain/values/cents.js";
import type { AccountId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { JOURNAL, PAYMENTS } from "../../model/transactions.js";
import type { BookedMovements } from "../../reconcile/ports.js";
import type { BookedMovement, NamedTransaction, ReconciledPeriod } from "../../reconcile/reconciliation.js";
import type { Cell } from "../database.js";
import { firstSeqFrom } from "../lists/first-seq-from.js";
import type { Engine } from "../sql/engine.js";
import type { TransactionRow } from "../sql/records/transaction-rows.js";

const SLICE_ROWS = 1_000;

type BookedMovementRow = Pick<RowOf<typeof JOURNAL>, "seq" | "transaction_id" | "recorded_at" | "account_id"> &
  Pick<TransactionRow, "type" | "amount_cents"> & {
    readonly receipt: string | null;
    readonly accepted_at: number;
    /** Null unless only the detail says what moved. */
    readonly transferred: string | null;
  };

const OF_NAMED = [
  "id",
  "account_id",
  "type",
  "status",
  "amount_cents",
  "rail_receipt",
  "failure",
  "open_flags",
  "created_at",
  "updated_at",
] as const satisfies readonly (keyof TransactionRow)[];

type NamedRow = Pick<TransactionRow, (typeof OF_NAMED)[number]>;
type OpenPayoutRow = NamedRow & Pick<RowOf<typeof PAYMENTS>, "masked_phone" | "begun_at" | "ahead_millis">;

/**
 * Implements the port for the book of one organization, and a rail. The source of a bank's receipts
 * in its place gives the movements with these. Each method rejects with the error of the
 * database. Open the database without a statement timeout.
 */
export async function bookedMovements(
  { engine, reader, directory }: Pick<Cell, "engine" | "directory"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  { organizationId, rail }: { readonly organizationId: OrganizationId; readonly rail: Rail },
): Promise<BookedMovements> {
  const { number } = await directory.book(organizationId, ({ sql, bindings }) => reader.rows(sql, bindings));
  const sql = statements(engine, rail);
  // The payouts that a bank's statement shows went to it in files.
  const payer = isSourceOfRail(rail) ? rail : BANK_RAIL;
  const named = async (statement: string, names: readonly string[]): Promise<readonly NamedTransaction[]> => {
    if (names.length === 0) return [];
    const rows = await reader.rows<NamedRow>(statement, [JSON.stringify(names), number, payer]);
    return rows.map(namedOf);
  };

  async function* within({ from, to }: ReconciledPeriod): AsyncGenerator<readonly BookedMovement[], void, void> {
    let seq = await firstSeqFrom(reader, engine, { book: number, time: from });
    for (;;) {
      const rows = await reader.rows<BookedMovementRow>(sql.within, [number, seq, to, rail, SLICE_ROWS]);
      const last = rows.at(-1);
      if (last === undefined) return;
      yield rows.map(movementOf);
      seq = last.seq + 1;
    }
  }

  return {
    async settings() {
      const rows = await reader.rows<{ readonly settings: string }>(sql.settings, [organizationId, rail]);
      return rows[0]?.settings;
    },
    async withReceipts(receipts) {
      const rows = await reader.rows<BookedMovementRow>(sql.withReceipts, [JSON.stringify(receipts), number]);
      return rows.map(movementOf).filter((row) => row.receipt !== undefined) as (BookedMovement & {
        readonly receipt: string;
      })[];
    },
    async adjusted() {
      const rows = await reader.rows<{ readonly content: string }>(sql.adjusted, [number]);
      return adjustmentsOf(rows.map(({ content }) => content));
    },
    transactions: (ids) => named(sql.transactions, ids),
    transactionsEndingWith: (ends) => named(sql.transactionsEndingWith, ends),
    async openPayouts() {
      const rows = await reader.rows<OpenPayoutRow>(sql.openPayouts, [organizationId, payer]);
      return rows.map((row) => ({
        transaction: namedOf(row),
        maskedNumber: row.masked_phone,
        begunAt: toUnixMillis((row.begun_at ?? row.created_at) - row.ahead_millis),
      }));
    },
    within,
  };
}

/**
 * The rows of a book that have a receipt. It may be of any place, which its source names. The mint
 * that credits a deposit moves nothing at the rail.
 */
const WITH_RECEIPT = ["book.received", "book.returned", "book.paid", "book.transferred", "book.funded"]
  .concat(["deposit.received", "deposit.returned", "deposit.reversed"])
  .map((kind) => `'${kind}'`)
  .join(", ");

function statements(engine: Engine, rail: Rail) {
  const { table, jsonItems } = engine;
  // A row of the journal adds a receipt to a transaction that was booked without. It moves nothing.
  const movement = `
    j.seq, COALESCE(t.rail_receipt, j.rail_receipt) AS receipt, j.transaction_id,
    COALESCE(t.type, CASE WHEN j.debit = 'reserve' THEN 'MINT' ELSE 'REDEEM' END) AS type,
    COALESCE(t.amount_cents, j.amount_cents) AS amount_cents,
    COALESCE(t.created_at, j.recorded_at) AS accepted_at, j.recorded_at, j.account_id,
    CASE j.kind WHEN 'book.transferred' THEN j.detail END AS transferred`;
  // A mint or redemption that a caller has attested with a receipt of the rail, and a payout in a
  // bank's file that was completed with a receipt of the bank's place.
  const prefix = receiptPrefix(rail);
  const ofRail = prefix === "" ? "NOT LIKE '%:%'" : `LIKE '${prefix}%'`;
  const attested = `(t.rail IN ('${DIRECT_RAIL}', '${BANK_RAIL}') AND j.rail_receipt ${ofRail})`;
  // One that takes a credit back moves shillings only if the rail did, and then has its receipt.
  const moved = `(CASE WHEN t.deposit_id IS NULL THEN t.rail = ? OR ${attested} ELSE j.rail_receipt ${ofRail} END)`;
  const joined = `${table("journal")} j LEFT JOIN ${table("transactions")} t ON t.id = j.transaction_id`;
  const named = `SELECT ${OF_NAMED.map((name) => `t.${name}`).join(", ")} FROM ${jsonItems("?")} i`;
  return {
    settings: `SELECT settings FROM ${table("rail_accounts")} WHERE organization_id = ? AND rail = ?`,
    withReceipts: `
      SELECT ${movement} FROM ${jsonItems("?")} i CROSS JOIN ${joined} WHERE j.book = ? AND j.rail_receipt = i.value`,
    transactions: `${named} CROSS JOIN ${table("transactions")} t WHERE t.id = i.value AND t.book = ? AND t.rail = ?`,
    transactionsEndingWith: `
      ${named} CROSS JOIN ${table("payments")} p JOIN ${table("transactions")} t ON t.id = p.transaction_id
      WHERE substr(p.transaction_id, length(p.transaction_id) - 11) = i.value AND p.direction = 'MINT'
        AND p.book = ? AND t.rail = ?`,
    adjusted: `
      SELECT p.content FROM ${table("proposals")} p
      WHERE p.book = ? AND p.decision = 'APPROVED'
        AND p.content LIKE '%"name":"adjustMovement"%'`,
    openPayouts: `
      SELECT ${OF_NAMED.map((name) => `t.${name}`).join(", ")}, p.masked_phone, p.begun_at, p.ahead_millis
      FROM ${table("rail_accounts")} r CROSS JOIN ${table("payments")} p
        JOIN ${table("transactions")} t ON t.id = p.transaction_id
      WHERE r.organization_id = ? AND r.rail = ? AND p.rail_account_id = r.id AND p.direction = 'REDEEM'
        AND p.state <> 'ENDED' AND (p.state <> 'READY' OR p.direction = 'MINT')
      ORDER BY t.seq`,
    within: `
      SELECT ${movement} FROM ${joined}
      WHERE j.book = ? AND j.seq >= ? AND j.recorded_at <= ?
        AND ((j.kind = 'transaction.completed' AND ${moved})
          OR (j.kind IN (${WITH_RECEIPT}) AND j.rail_receipt ${ofRail}))
      ORDER BY j.seq LIMIT ?`,
  };
}

/** Sums what operators have added to each movement. What went out is negative. */
function adjustmentsOf(contents: readonly string[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const content of contents) {
    const { amountCents, target, direction } = correctionIn(content);
    sums.set(target, (sums.get(target) ?? 0) + (direction === "in" ? amountCents : -amountCents));
  }
  return sums;
}

/** What a transfer moved stands in its content alone, because no book account has changed. */
function transferIn(detail: string): Pick<BookedMovement, "direction" | "amountCents"> {
  const [, , content = ""] = JSON.parse(detail) as readonly string[];
  const { direction, amountCents } = correctionIn(content);
  return { direction, amountCents };
}

interface DirectedCorrection {
  readonly amountCents: number;
  /** The movement that it adjusts, or the receipt of a transfer. */
  readonly target: string;
  readonly direction: "in" | "out";
}

/** Reads the content of a correction that has a direction. */
function correctionIn(content: string): DirectedCorrection {
  const { movement, receipt, ...parts } = JSON.parse(content) as Omit<DirectedCorrection, "target"> & {
    readonly movement?: string;
    readonly receipt?: string;
  };
  return { ...parts, target: movement ?? receipt ?? "" };
}

function movementOf(row: BookedMovementRow): BookedMovement {
  return {
    accountId: (row.account_id ?? undefined) as AccountId | undefined,
    receipt: row.receipt ?? undefined,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    direction: row.type === "MINT" ? "in" : "out",
    amountCents: row.amount_cents,
    ...(row.transferred === null ? {} : transferIn(row.transferred)),
    acceptedAt: toUnixMillis(row.accepted_at),
    recordedAt: toUnixMillis(row.recorded_at),
    isTransfer: row.transferred !== null,
  };
}

function namedOf(row: NamedRow): NamedTransaction {
  return {
    id: row.id as TransactionId,
    accountId: row.account_id as AccountId,
    type: row.type as TransactionType,
    status: row.status as TransactionStatus,
    amountCents: toCents(row.amount_cents),
    railReceipt: (row.rail_receipt ?? undefined) as RailReceipt | undefined,
    failure: (row.failure ?? undefined) as FailureReason | undefined,
    openFlags: row.open_flags === null ? [] : (row.open_flags.split(",") as FlagReason[]),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}
