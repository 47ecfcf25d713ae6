import { DESTINATION_KINDS, type DestinationKind } from "../../domain/destination.js";
import {
  begunByClock,
  NEVER_DUE,
  type PaymentState,
  type RailAccountId,
  type RailReference,
} from "../../domain/payment.js";
import { UNCONFIRMED } from "../../domain/payment.js";
import { BEGIN_HELD_REASONS } from "../../domain/rail-account.js";
import type { TransactionStatus } from "../../domain/transaction.js";
import { toCents } from "../../domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Payments, StoredPayment, UnknownPayouts } from "../../settlement/ports/payments.js";
import type { Cell } from "../database.js";
import { UnreadableRowError } from "../secrets/unreadable-row.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Engine, Read } from "../sql/engine.js";
import { madeBy, madeTransactionColumns, type MadeTransactionRow } from "../sql/records/made-rows.js";
import { openPayments, paymentOf, type PaymentRow } from "../sql/records/payment-rows.js";
import { isTransactionAsMade } from "../sql/records/transaction-rows.js";
import { transactionOf, type TransactionRow } from "../sql/records/transaction-rows.js";
import { orStoreError, runAlone } from "../sql/store-error.js";

/** A row of `payments` with its schedule, and with columns of its transaction. */
type StoredPaymentRow = PaymentRow &
  Pick<TransactionRow, "status" | "amount_cents" | "open_flags"> & {
    readonly organization_id: string;
    readonly accepted_at: number;
  };

/** A transaction, with the row of the journal that created it. */
type CreatedRow = TransactionRow & MadeTransactionRow & { readonly organization_id: string };

type Books = ReadonlyMap<string, OpenBook>;

type PaymentsCell = Pick<Cell, "engine" | "directory" | "transact"> & {
  readonly reader: Pick<Cell["reader"], "rows">;
};

/** Implements the port `Payments` for one cell. */
export function payments({ engine, reader, directory, transact }: PaymentsCell): Payments {
  const statements = paymentStatements(engine);

  /**
   * Returns the payments whose transactions are as the journal has them. So nobody changes in the
   * database how much an order pays.
   */
  const wholeOf = async (ready: readonly StoredPaymentRow[], books: Books): Promise<ReadonlySet<string>> => {
    if (ready.length === 0) return new Set();
    const ids = JSON.stringify(ready.map((row) => row.transaction_id));
    const rows = await orStoreError(engine, reader.rows<CreatedRow>(statements.created, [ids]));
    return new Set(rows.filter((row) => isAsCreated(row, books.get(row.organization_id))).map(({ id }) => id));
  };

  /** Decrypts the phone numbers. An order that somebody has changed has none, and is not sent. */
  const storedPayments = async (sql: string, bindings: Read["bindings"]): Promise<readonly StoredPayment[]> => {
    const rows = await orStoreError(engine, reader.rows<StoredPaymentRow>(sql, bindings));
    const ids = [...new Set(rows.map((row) => row.organization_id as OrganizationId))];
    const finding = directory.find(ids, (read) => reader.rows(read.sql, read.bindings));
    const found = await orStoreError(engine, finding);
    const books: Books = new Map(found.map((book) => [book.organizationId, book]));
    const ready = rows.filter(({ state }) => state === "READY" || state === "SENDING");
    const whole = await wholeOf(ready, books);
    return rows.map((row) => {
      const book = books.get(row.organization_id);
      if (book === undefined) throw new Error(`the organization ${row.organization_id} has no book`);
      const isWhole = !ready.includes(row) || whole.has(row.transaction_id);
      return storedPaymentOf(row, withNumberIf(isWhole, row, book));
    });
  };

  const change = async (read: Read): Promise<TransactionId | undefined> => {
    const [row] = await runAlone<{ readonly transaction_id: TransactionId }>({ engine, transact }, read);
    return row?.transaction_id;
  };

  return {
    accountsWithDue: async (now) => {
      const times = [now, ...DESTINATION_KINDS.map(() => now)];
      const reading = reader.rows<{ readonly id: string }>(statements.accountsWithDue, times);
      return (await orStoreError(engine, reading)).map(({ id }) => id as RailAccountId);
    },
    due: async (railAccountId, { now, limit, payOutTo }) => {
      // A read for each index and kind: PostgreSQL would sort all rows of a UNION.
      const reads = [...payOutTo.map((kind) => statements.dueNewPayouts[kind]), statements.dueOthers];
      const found = await Promise.all(reads.map((sql) => storedPayments(sql, [railAccountId, now, limit])));
      return found
        .flat()
        .toSorted((left, right) => left.dueAt - right.dueAt)
        .slice(0, limit);
    },
    payment: async (id) => {
      const [found] = await storedPayments(statements.payment, [id]);
      return found;
    },
    reschedule: async ({ transactionId, state, checks }, next) => {
      const bindings = [next.dueAt, next.checks, next.code, next.code, transactionId, state, checks];
      await change({ sql: statements.reschedule, bindings });
    },
    ...heldPayments(statements, change),
    noteQuestion: async (id, question) => {
      await change({ sql: statements.noteQuestion, bindings: [question, id] });
    },
    endQuestion: (question) => change({ sql: statements.endQuestion, bindings: [question] }),
    advance: async (id, now) => (await change({ sql: statements.advance, bindings: [now, id] })) !== undefined,
    unknownPayouts: async (railAccountId) => {
      const reading = reader.rows<UnknownRow>(statements.unknownPayouts, [railAccountId]);
      const rows = await orStoreError(engine, reading);
      return rows.map(({ kind, count, oldest }): UnknownPayouts => ({
        kind: kind as DestinationKind,
        count,
        oldestBegunAt: timeOf(oldest),
      }));
    },
    listUnknownPayouts: (railAccountId, limit) => storedPayments(statements.listUnknownPayouts, [railAccountId, limit]),
  };
}

/** The methods about payments that the ledger lets wait for a person. */
function heldPayments(
  statements: Pick<ReturnType<typeof paymentStatements>, "forgetHeld" | "wakeHeld">,
  change: (read: Read) => Promise<unknown>,
): Pick<Payments, "forgetHeld" | "wakeHeld"> {
  return {
    forgetHeld: async ({ transactionId, lastCode }) => {
      const held = BEGIN_HELD_REASONS.find((reason) => reason === lastCode);
      if (held !== undefined) await change({ sql: statements.forgetHeld, bindings: [transactionId, held] });
    },
    wakeHeld: async (organizationId, now) => {
      await change({ sql: statements.wakeHeld, bindings: [now, organizationId, now] });
    },
  };
}

function isAsCreated(row: CreatedRow, book: OpenBook | undefined): boolean {
  return (
    book !== undefined && isTransactionAsMade(row, book, transactionOf({ ...row, available_after_cents: null }, book))
  );
}

/** A row that somebody has changed keeps no other payment from its rail. */
function withNumberIf(isWhole: boolean, row: StoredPaymentRow, book: OpenBook): ReturnType<typeof paymentOf> {
  try {
    if (isWhole) return paymentOf(row, book);
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
  }
  return paymentOf({ ...row, phone_number: null }, book);
}

interface UnknownRow {
  readonly kind: string;
  readonly count: number;
  readonly oldest: number | null;
}

/** Returns the number of open payments of a rail account. */
export async function openPaymentsOf(
  { engine, reader }: Pick<Cell, "engine" | "reader">,
  railAccountId: RailAccountId,
): Promise<number> {
  const reading = reader.rows<{ readonly count: number }>(paymentStatements(engine).openPayments, [railAccountId]);
  const [row] = await orStoreError(engine, reading);
  return row?.count ?? 0;
}

function storedPaymentOf(row: StoredPaymentRow, payment: ReturnType<typeof paymentOf>): StoredPayment {
  return {
    transactionId: payment.transactionId,
    organizationId: payment.organizationId,
    railAccountId: payment.railAccountId,
    direction: payment.direction,
    amountCents: toCents(row.amount_cents),
    status: row.status as TransactionStatus,
    isFlagged: row.open_flags !== null,
    acceptedAt: toUnixMillis(row.accepted_at - row.ahead_millis),
    state: row.state as PaymentState,
    numberKind: payment.numberKind,
    number: payment.number,
    maskedNumber: payment.maskedNumber,
    railReference: (row.rail_reference ?? undefined) as RailReference | undefined,
    begunAt: begunByClock(payment),
    sends: row.sends,
    turnedAway: payment.turnedAway,
    dueAt: payment.dueAt,
    checks: row.checks,
    advances: row.advances,
    lastCode: row.last_code ?? undefined,
  };
}

function timeOf(millis: number | null): UnixMillis | undefined {
  return millis === null ? undefined : toUnixMillis(millis);
}

const HELD = BEGIN_HELD_REASONS.map((reason) => `'${reason}'`).join(", ");
/** As `isCalled`. */
const CALLED = `% ${UNCONFIRMED}`;
/**
 * A payout that the rail may have, whose first check has found nothing out, and whose outcome the
 * rail has not called by itself.
 */
const UNKNOWN_PAYOUT = `p.direction = 'REDEEM' AND p.checks >= 1 AND COALESCE(p.last_code, '') NOT LIKE '${CALLED}'`;

function paymentStatements(engine: Engine) {
  const { table, jsonItems } = engine;
  const columns = `
    SELECT p.*, b.organization_id, t.status, t.amount_cents, t.open_flags, t.created_at AS accepted_at`;
  const joined = `
    JOIN ${table("transactions")} t ON t.id = p.transaction_id JOIN ${table("books")} b ON b.number = p.book`;
  const { newPayouts, others } = openPayments(engine);
  const newPayoutsTo = (kind: DestinationKind): string => `${newPayouts} AND number_kind = '${kind}'`;
  // The smallest time is the first row of an index. PostgreSQL may read all rows for an EXISTS.
  const isDue = (some: string): string => `(SELECT MIN(p.due_at) FROM (${some}) p WHERE p.rail_account_id = a.id) <= ?`;
  const dueOf = (some: string): string =>
    `${columns} FROM (${some}) p ${joined} WHERE p.rail_account_id = ? AND p.due_at <= ? ORDER BY p.due_at LIMIT ?`;
  return {
    // The payments of a book that moves stand still: the other place asks the rail about them.
    // A few looks into the indexes for each rail account, however many payments are open.
    accountsWithDue: `
      SELECT a.id FROM ${table("rail_accounts")} a JOIN ${table("books")} b ON b.organization_id = a.organization_id
      WHERE b.state IN ('OPEN', 'RESTORED')
        AND (${[...DESTINATION_KINDS.map(newPayoutsTo), others].map(isDue).join(" OR ")})`,
    dueNewPayouts: {
      PHONE: dueOf(newPayoutsTo("PHONE")),
      TILL: dueOf(newPayoutsTo("TILL")),
      PAYBILL: dueOf(newPayoutsTo("PAYBILL")),
      BANK: dueOf(newPayoutsTo("BANK")),
    } satisfies Record<DestinationKind, string>,
    dueOthers: dueOf(others),
    created: `
      SELECT t.*, b.organization_id, ${madeTransactionColumns(engine)}
      FROM ${table("transactions")} t JOIN ${table("books")} b ON b.number = t.book ${madeBy(engine, "t")}
      WHERE t.id IN (SELECT value FROM ${jsonItems("?")})`,
    payment: `${columns} FROM ${table("payments")} p ${joined} WHERE p.transaction_id = ?`,
    unknownPayouts: `
      SELECT number_kind AS kind, COUNT(*) AS count, MIN(begun_at - ahead_millis) AS oldest
      FROM (${others}) p WHERE rail_account_id = ? AND ${UNKNOWN_PAYOUT} GROUP BY number_kind`,
    listUnknownPayouts: `
      ${columns} FROM (${others}) p ${joined} WHERE p.rail_account_id = ? AND ${UNKNOWN_PAYOUT}
      ORDER BY p.due_at LIMIT ?`,
    openPayments: `SELECT COUNT(*) AS count FROM (${newPayouts} UNION ALL ${others}) p WHERE rail_account_id = ?`,
    reschedule: `
      UPDATE ${table("payments")} SET due_at = ?, checks = ?, last_code = CASE
        WHEN last_code LIKE '% %' AND CAST(? AS TEXT) NOT LIKE '${CALLED}' THEN last_code ELSE ? END
      WHERE transaction_id = ? AND state = ? AND checks = ? RETURNING transaction_id`,
    forgetHeld: `
      UPDATE ${table("payments")} SET last_code = NULL
      WHERE transaction_id = ? AND last_code = ? RETURNING transaction_id`,
    wakeHeld: `
      UPDATE ${table("payments")} SET due_at = ? WHERE transaction_id IN (
        SELECT p.transaction_id FROM (${newPayouts}) p
        WHERE p.rail_account_id IN (SELECT id FROM ${table("rail_accounts")} WHERE organization_id = ?)
          AND p.due_at > ? AND p.last_code IN (${HELD}))
      RETURNING transaction_id`,
    noteQuestion: `
      UPDATE ${table("payments")} SET status_question = ? WHERE transaction_id = ? RETURNING transaction_id`,
    endQuestion: `
      UPDATE ${table("payments")} SET status_question = NULL WHERE status_question = ? RETURNING transaction_id`,
    advance: `
      UPDATE ${table("payments")} SET due_at = ?, advances = advances + 1
      WHERE transaction_id = ? AND state <> 'ENDED' AND due_at <> ${String(NEVER_DUE)} RETURNING transaction_id`,
  };
}
