import type { RailAccountId, RailReceipt } from "../../domain/payment.js";
import { DIRECT_RAIL } from "../../domain/transaction.js";
import { toCents } from "../../domain/values/cents.js";
import type { DepositId, OrganizationId, TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { DEPOSITS } from "../../model/deposits.js";
import type { RAIL_ACCOUNTS } from "../../model/rails.js";
import type { BookedReceipt, Deposits, DueList, DueReturn, ReturnRequest } from "../../settlement/ports/deposits.js";
import type { Cell } from "../database.js";
import { readPart } from "../secrets/unreadable-row.js";
import type { Binding, Engine } from "../sql/engine.js";
import { openPayments } from "../sql/records/payment-rows.js";
import { orStoreError, runAlone } from "../sql/store-error.js";

type DepositsCell = Pick<Cell, "engine" | "transact"> & { readonly reader: Pick<Cell["reader"], "rows"> };

type DueListRow = Pick<RowOf<typeof RAIL_ACCOUNTS>, "id" | "organization_id" | "deposits_read_at"> & {
  readonly deposits_since: number;
  readonly deposits_due_at: number;
};

interface BookedRow {
  readonly value: string;
  readonly learned_at: number | null;
  readonly ordered_at: number | null;
}

type TypedRow = Pick<RowOf<typeof DEPOSITS>, "id" | "created_at"> & { readonly is_erased: number };

type DueReturnRow = Pick<
  RowOf<typeof DEPOSITS>,
  "id" | "rail_account_id" | "receipt" | "amount_cents" | "updated_at" | "return_requests"
> & { readonly organization_id: string; readonly return_due_at: number };

/** Implements the port `Deposits` for one cell. */
export function deposits({ engine, reader, transact }: DepositsCell): Deposits {
  const statements = depositStatements(engine);
  const rowsOf = <Row>(sql: string, bindings: readonly Binding[]): Promise<readonly Row[]> =>
    orStoreError(engine, reader.rows<Row>(sql, bindings));
  const change = (sql: string, bindings: readonly Binding[]): Promise<number> =>
    runAlone({ engine, transact }, { sql, bindings }).then(({ length }) => length);

  return {
    dueLists: async (now) => (await rowsOf<DueListRow>(statements.dueLists, [now])).map(dueListOf),
    bookedReceipts: async (organizationId, receipts) => {
      const bindings = [organizationId, organizationId, JSON.stringify(receipts)];
      const rows = await rowsOf<BookedRow>(statements.bookedReceipts, bindings);
      return new Map(rows.flatMap(bookedOf));
    },
    orderEndingWith: async (railAccountId, idEnd) => {
      const bindings = [railAccountId, idEnd];
      const [row] = await rowsOf<{ readonly transaction_id: string }>(statements.orderEndingWith, bindings);
      return row?.transaction_id as TransactionId | undefined;
    },
    hasOrderWithoutReceipt: async ({ railAccountId, amountCents, acceptedFrom, acceptedTo }) => {
      const bindings = [railAccountId, amountCents, acceptedFrom, acceptedTo];
      for (const sql of [statements.openOrder, statements.completedOrder]) {
        if ((await rowsOf(sql, bindings)).length > 0) return true;
      }
      return false;
    },
    postpone: async (list, dueAt) => {
      await change(statements.postpone, [dueAt, list.railAccountId, list.dueAt]);
    },
    noteRead: async (list, { readAt, dueAt }) => {
      await change(statements.noteRead, [readAt, list.dueAt, dueAt, list.railAccountId]);
    },
    dueReturns: async (now, limit) =>
      (await rowsOf<DueReturnRow>(statements.dueReturns, [now, limit])).map(dueReturnOf),
    noteReturn: async ({ depositId, begunAt, dueAt, requests }, next) => {
      const bindings = [textOf(next.requests), dueAt, next.dueAt, depositId, begunAt, textOf(requests)];
      return (await change(statements.noteReturn, bindings)) > 0;
    },
    forgetTyped: ({ before, limit }) => change(statements.forgetTyped, [before, limit]),
    forgetErased: async ({ from, limit }) => {
      const rows = await rowsOf<TypedRow>(statements.typed, [from, limit]);
      const erased = rows.filter((row) => row.is_erased === 1).map(({ id }) => id);
      if (erased.length > 0) await change(statements.forget, [JSON.stringify(erased)]);
      const last = rows.at(-1);
      return last === undefined || rows.length < limit ? undefined : after(from, last.created_at);
    },
  };
}

/**
 * Notes that the list of a rail account should be read now. Does nothing for an account that nobody
 * has registered for deposits.
 */
export async function noteDueList(
  cell: Pick<Cell, "engine" | "transact">,
  id: RailAccountId,
  now: UnixMillis,
): Promise<void> {
  const sql = `
    UPDATE ${cell.engine.table("rail_accounts")} SET deposits_due_at = ?
    WHERE id = ? AND deposits_since IS NOT NULL RETURNING id`;
  await runAlone(cell, { sql, bindings: [now, id] });
}

/** Notes that the settlement must look at the return of a deposit now. */
export async function noteDueReturn(
  cell: Pick<Cell, "engine" | "transact">,
  id: DepositId,
  now: UnixMillis,
): Promise<void> {
  const sql = `UPDATE ${cell.engine.table("deposits")} SET return_due_at = ? WHERE id = ? AND status = 'RETURNING' RETURNING id`;
  await runAlone(cell, { sql, bindings: [now, id] });
}

/** Begins to take deposits, or returns since when the account does. Its list is due now. */
export async function beginDeposits(
  cell: Pick<Cell, "engine" | "transact">,
  id: RailAccountId,
  now: UnixMillis,
): Promise<UnixMillis> {
  const sql = `
    UPDATE ${cell.engine.table("rail_accounts")}
    SET deposits_since = COALESCE(deposits_since, ?), deposits_due_at = ? WHERE id = ? RETURNING deposits_since AS since`;
  const [row] = await runAlone(cell, { sql, bindings: [now, now, id] });
  return toUnixMillis((row as { readonly since: number }).since);
}

function bookedOf({ value, learned_at: learned, ordered_at: ordered }: BookedRow): [string, BookedReceipt][] {
  const orderedAt = ordered === null ? undefined : toUnixMillis(ordered);
  return learned === null ? [] : [[value, { learnedAt: toUnixMillis(learned), orderedAt }]];
}

/** Rows of the same moment as the last one may be left: they are read again. */
function after(from: UnixMillis, last: number): UnixMillis {
  return toUnixMillis(last > from ? last : from + 1);
}

function dueListOf(row: DueListRow): DueList {
  return {
    railAccountId: row.id as RailAccountId,
    organizationId: row.organization_id as OrganizationId,
    since: toUnixMillis(row.deposits_since),
    dueAt: toUnixMillis(row.deposits_due_at),
    readAt: row.deposits_read_at === null ? undefined : toUnixMillis(row.deposits_read_at),
  };
}

function dueReturnOf(row: DueReturnRow): DueReturn {
  return {
    depositId: row.id as DepositId,
    organizationId: row.organization_id as OrganizationId,
    // The ledger lets no deposit become RETURNING that has none.
    railAccountId: (row.rail_account_id ?? "") as RailAccountId,
    receipt: row.receipt as RailReceipt,
    amountCents: toCents(row.amount_cents),
    begunAt: toUnixMillis(row.updated_at),
    dueAt: toUnixMillis(row.return_due_at),
    requests: readPart(
      `return_requests of ${row.id}`,
      () => JSON.parse(row.return_requests ?? "[]") as readonly ReturnRequest[],
    ),
  };
}

/** Equal lists give equal texts: what was read is written again with the same order of fields. */
function textOf(requests: readonly ReturnRequest[]): string {
  return JSON.stringify(requests);
}

function depositStatements(engine: Engine) {
  const { table, jsonItems } = engine;
  const { others } = openPayments(engine);
  const books = table("books");
  const ofReceipt = `${table("journal")} j
         WHERE j.book = (SELECT number FROM ${books} WHERE organization_id = ?) AND j.rail_receipt = i.value`;
  // A row may have a later time than the clock had.
  const ofAmount = "t.amount_cents = ? AND t.created_at >= ? AND t.created_at - p.ahead_millis <= ?";
  return {
    // The book of another place has what came in until the move, and nobody here may add to it.
    dueLists: `
      SELECT a.id, a.organization_id, a.deposits_since, a.deposits_due_at, a.deposits_read_at
      FROM ${table("rail_accounts")} a JOIN ${books} b ON b.organization_id = a.organization_id
      WHERE a.deposits_since IS NOT NULL AND a.deposits_due_at <= ? AND b.state = 'OPEN' ORDER BY a.deposits_due_at`,
    // For a join, PostgreSQL may read all receipts of the book.
    bookedReceipts: `
      SELECT i.value, (SELECT j.recorded_at FROM ${ofReceipt}) AS learned_at,
        (SELECT t.created_at FROM ${table("transactions")} t WHERE t.id = (
          SELECT p.transaction_id FROM ${table("payments")} p
          WHERE p.transaction_id = (SELECT j.transaction_id FROM ${ofReceipt}) AND p.direction = 'MINT')) AS ordered_at
      FROM ${jsonItems("?")} i`,
    orderEndingWith: `
      SELECT transaction_id FROM ${table("payments")}
      WHERE rail_account_id = ? AND substr(transaction_id, length(transaction_id) - 11) = ? AND direction = 'MINT'
      LIMIT 1`,
    openOrder: `
      SELECT 1 AS found FROM (${others}) p JOIN ${table("transactions")} t ON t.id = p.transaction_id
      WHERE p.rail_account_id = ? AND p.direction = 'MINT' AND p.state <> 'READY' AND ${ofAmount} LIMIT 1`,
    completedOrder: `
      SELECT 1 AS found FROM ${table("rail_accounts")} a JOIN ${books} b ON b.organization_id = a.organization_id
      JOIN ${table("transactions")} t ON t.book = b.number JOIN ${table("payments")} p ON p.transaction_id = t.id
      WHERE a.id = ? AND ${ofAmount} AND t.rail = a.rail
        AND t.type = 'MINT' AND t.status = 'COMPLETED' AND t.rail_receipt IS NULL AND t.rail <> '${DIRECT_RAIL}' LIMIT 1`,
    postpone: `
      UPDATE ${table("rail_accounts")} SET deposits_due_at = ? WHERE id = ? AND deposits_due_at = ? RETURNING id`,
    noteRead: `
      UPDATE ${table("rail_accounts")}
      SET deposits_read_at = ?, deposits_due_at = CASE WHEN deposits_due_at = ? THEN ? ELSE deposits_due_at END
      WHERE id = ? RETURNING id`,
    dueReturns: `
      SELECT d.id, b.organization_id, d.rail_account_id, d.receipt, d.amount_cents, d.updated_at, d.return_due_at,
        d.return_requests
      FROM ${table("deposits")} d JOIN ${books} b ON b.number = d.book
      WHERE d.return_due_at IS NOT NULL AND d.return_due_at <= ? AND b.state = 'OPEN' ORDER BY d.return_due_at LIMIT ?`,
    // A message that came meanwhile has made the return due, and must not be forgotten.
    noteReturn: `
      UPDATE ${table("deposits")}
      SET return_requests = ?, return_due_at = CASE WHEN return_due_at = ? THEN ? ELSE return_due_at END
      WHERE id = ? AND status = 'RETURNING' AND updated_at = ? AND COALESCE(return_requests, '[]') = ? RETURNING id`,
    forgetTyped: `
      UPDATE ${table("deposits")} SET typed_reference = NULL WHERE id IN (
        SELECT id FROM ${table("deposits")} WHERE typed_reference IS NOT NULL AND created_at < ?
        ORDER BY created_at LIMIT ?) RETURNING id`,
    typed: `
      SELECT d.id, d.created_at, CASE WHEN d.account_id IS NOT NULL AND h.user_id IS NULL THEN 1 ELSE 0 END AS is_erased
      FROM ${table("deposits")} d LEFT JOIN ${table("account_holders")} h ON h.account_id = d.account_id
      WHERE d.typed_reference IS NOT NULL AND d.created_at >= ? ORDER BY d.created_at LIMIT ?`,
    forget: `
      UPDATE ${table("deposits")} SET typed_reference = NULL
      WHERE id IN (SELECT value FROM ${jsonItems("?")} i) RETURNING id`,
  };
}
