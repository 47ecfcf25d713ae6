import { slicesOf } from "../../../runtime/slices.js";
import { type BankFileId, readBankFile } from "../../domain/bank-file.js";
import type { BankNumber } from "../../domain/destination.js";
import type { Actor } from "../../domain/values/actor.js";
import type { TransactionId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import { APPROVED_BANK_FILES, BANK_FILE_IN, type JOURNAL, ROWS_OF_BANK_FILES } from "../../model/transactions.js";
import type { BankPayments, ListedBankFile, PaymentToBank, PayoutOwner } from "../../payouts/ports.js";
import { type Cell, cellOf, type Database } from "../database.js";
import { payments } from "../rails/payments.js";
import type { Binding, Engine } from "../sql/engine.js";
import { openPayments } from "../sql/records/payment-rows.js";
import { readRows } from "../sql/store-error.js";

/** These payments are read at once. */
const READ_AT_ONCE = 50;

type ApprovedRow = Pick<RowOf<typeof JOURNAL>, "seq" | "detail" | "actor" | "recorded_at">;

interface AcceptedRow {
  readonly id: TransactionId;
  readonly at: number;
}

interface CountedRows {
  readonly name: string;
  readonly count: number;
}

/** Implements the port `BankPayments`. Its reads run where lists run. */
export function bankPayments(database: Pick<Database, "cells">): BankPayments {
  const opened = async (organization: PayoutOwner) => {
    const cell: Cell = cellOf(database, organization);
    const { engine, listReader: reader, directory } = cell;
    const rows = <Row>(sql: string, bindings: readonly Binding[]): Promise<readonly Row[]> =>
      readRows<Row>({ engine, reader }, sql, bindings);
    const book = await directory.book(organization.id, (read) => rows(read.sql, read.bindings));
    return { cell, rows, book: book.number, organizationId: organization.id, sql: statements(engine) };
  };
  type Opened = Awaited<ReturnType<typeof opened>>;

  const paymentsIn = async ({ cell, rows }: Opened, sql: string, bindings: readonly Binding[]) => {
    const accepted = await rows<AcceptedRow>(sql, bindings);
    const stored = payments(cell);
    const found: PaymentToBank[] = [];
    for (const some of slicesOf(accepted, READ_AT_ONCE)) {
      const read = some.map(async ({ id, at }) => ({ payment: await stored.payment(id), at }));
      for (const { payment, at } of await Promise.all(read)) {
        if (payment === undefined) continue;
        const { transactionId, amountCents, number } = payment;
        found.push({
          transactionId,
          amountCents,
          number: number as BankNumber | undefined,
          // By the book. By the clock of servers it would change with a release.
          acceptedAt: toUnixMillis(at),
        });
      }
    }
    return found;
  };

  const listed = async ({ rows, book, sql, organizationId }: Opened, found: readonly ApprovedRow[]) => {
    const files: ListedBankFile[] = [];
    for (const { seq, detail, actor, recorded_at: at } of found) {
      const file = readBankFile(detail ?? "");
      const about = await rows<CountedRows>(sql.about, [book, file.id]);
      const [open] = await rows<CountedRows>(sql.open, [file.railAccountId, file.id]);
      const countOf = (kind: string): number => about.find(({ name }) => name === kind)?.count ?? 0;
      files.push({
        ...file,
        organizationId,
        actor: actor as Actor,
        isLost: countOf("bank_file.lost") > 0,
        seq,
        approvedAt: toUnixMillis(at),
        downloads: countOf("bank_file.downloaded"),
        openPayments: open?.count ?? 0,
      });
    }
    return files;
  };

  return {
    waiting: async (organization, railAccountId, limit) => {
      const all = await opened(organization);
      return paymentsIn(all, all.sql.waiting, [railAccountId, limit]);
    },
    inFile: async (organization, railAccountId, id: BankFileId) => {
      const all = await opened(organization);
      return paymentsIn(all, all.sql.inFile, [railAccountId, id]);
    },
    file: async (organization, id) => {
      const all = await opened(organization);
      const found = await all.rows<ApprovedRow>(all.sql.file, [all.book, id]);
      return (await listed(all, found))[0];
    },
    files: async (organization, { size, beforeSeq = Number.MAX_SAFE_INTEGER }) => {
      const all = await opened(organization);
      return listed(all, await all.rows<ApprovedRow>(all.sql.files, [all.book, beforeSeq, size]));
    },
  };
}

function statements(engine: Engine) {
  const { table, indexedBy } = engine;
  const { newPayouts, others } = openPayments(engine);
  const approvedAlong = (index: string): string =>
    `SELECT seq, detail, actor, recorded_at FROM ${table("journal")}${indexedBy(index)}`;
  const inFile = "WHERE p.rail_account_id = ? AND p.rail_reference = ?";
  return {
    waiting: `
      SELECT p.transaction_id AS id, t.created_at AS at FROM (${newPayouts} AND number_kind = 'BANK') p
      JOIN ${table("transactions")} t ON t.id = p.transaction_id
      JOIN ${table("accounts")} a ON a.id = t.account_id
      WHERE p.rail_account_id = ? AND a.status <> 'FROZEN' AND t.open_flags IS NULL AND t.held_for IS NULL
      ORDER BY p.due_at LIMIT ?`,
    inFile: `
      SELECT p.transaction_id AS id, t.created_at AS at FROM (${others}) p
      JOIN ${table("transactions")} t ON t.id = p.transaction_id ${inFile}`,
    open: `SELECT 'open' AS name, COUNT(*) AS count FROM (${others}) p ${inFile}`,
    file: `${approvedAlong("journal_bank_files")} WHERE book = ? AND ${BANK_FILE_IN} = ? AND ${ROWS_OF_BANK_FILES} AND ${APPROVED_BANK_FILES}`,
    files: `${approvedAlong("journal_approved_bank_files")} WHERE book = ? AND seq < ? AND ${APPROVED_BANK_FILES} ORDER BY seq DESC LIMIT ?`,
    about: `
      SELECT kind AS name, COUNT(*) AS count FROM ${table("journal")}${indexedBy("journal_bank_files")}
      WHERE book = ? AND ${BANK_FILE_IN} = ? AND ${ROWS_OF_BANK_FILES} GROUP BY kind`,
  };
}
