import {
  type Deposit,
  type DepositReason,
  type DepositStatus,
  isUnallocated,
  readDepositDetail,
  type TypedReference,
} from "../../../domain/deposit.js";
import type { RailAccountId, RailReceipt } from "../../../domain/payment.js";
import type { Rail } from "../../../domain/transaction.js";
import { toCents } from "../../../domain/values/cents.js";
import type { AccountId, DepositId, TransactionId } from "../../../domain/values/ids.js";
import type { MaskedPhone } from "../../../domain/values/masked-phone.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { DEPOSITS } from "../../../model/deposits.js";
import { decryptPersonal, encryptPersonal } from "../../secrets/personal-data.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";
import { isAsMade, madeBy, madeDepositColumns, type MadeDepositRow } from "./made-rows.js";

/** A row of `deposits`, as both drivers read it. */
export type DepositRow = RowOf<typeof DEPOSITS, Uint8Array> & {
  /** The detail of the row that received it. */
  readonly made_detail: string | null;
};

/** Returns the columns of `DepositRow`, of the table `d`. */
export function depositColumns({ table }: Pick<Engine, "table">): string {
  return `d.*, (
    SELECT j.detail FROM ${table("journal")} j WHERE j.book = d.book AND j.seq = d.seq
  ) AS made_detail`;
}

/**
 * The deposits whose shillings lie in `unallocated`. Both engines use the partial index only if a
 * statement repeats its condition.
 */
export const IS_UNALLOCATED = "d.status IN ('UNALLOCATED', 'RETURNING')";

export const DEPOSIT_TABLE: Table<Deposit, DepositRow & MadeDepositRow> = {
  name: "deposits",
  key: "id",
  insertedRow: depositRowOf,
  contentOf: contentOfDeposit,
  reads: (engine, { list, pairs, keyed }) => {
    const deposits = engine.table("deposits");
    const columns = `d.*, ${madeDepositColumns(engine)}`;
    return [
      {
        finders: ["deposit", "idempotencyKeyOfDeposit", "receipt"],
        isAfterLock: true,
        sql: `
          SELECT ${columns} FROM ${deposits} d ${madeBy(engine, "d")} WHERE d.id IN (${list} UNION ALL ${keyed})
          UNION ALL
          SELECT ${columns} FROM ${pairs}
          CROSS JOIN ${deposits} d ${madeBy(engine, "d")} WHERE d.book = input.book AND d.receipt = input.name`,
      },
    ];
  },
  rowOf: depositOf,
  isAsWritten: isDepositAsMade,
  // The typed reference goes by another way.
  updates: [{ sets: changedNamesOf(DEPOSITS).filter((name) => name !== "typed_reference") }],
};

/** Decrypts what the payer typed. Throws if it was changed, or belongs to another deposit. */
export function depositOf(row: DepositRow, { organizationId, keys }: OpenBook): Deposit {
  const id = row.id as DepositId;
  const { typed_reference: typed } = row;
  const place = { organizationId, ownerId: id, field: "typed_reference" } as const;
  return {
    id,
    organizationId,
    rail: row.rail as Rail,
    railAccountId: (row.rail_account_id ?? undefined) as RailAccountId | undefined,
    receipt: row.receipt as RailReceipt,
    amountCents: toCents(row.amount_cents),
    status: row.status as DepositStatus,
    reason: (row.reason ?? undefined) as DepositReason | undefined,
    sameNumber: readDepositDetail(row.made_detail ?? "").sameNumber,
    accountId: (row.account_id ?? undefined) as AccountId | undefined,
    transactionId: (row.transaction_id ?? undefined) as TransactionId | undefined,
    credits: row.credits,
    typedReference: typed === null ? undefined : (decryptPersonal(keys, place, typed) as TypedReference),
    maskedPhone: (row.masked_phone ?? undefined) as MaskedPhone | undefined,
    paidAt: row.paid_at === null ? undefined : toUnixMillis(row.paid_at),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

/** `seq` is that of the journal row that received the deposit. */
function depositRowOf(deposit: Deposit, { book, seq }: RowPlace): InsertedRow<typeof DEPOSITS> {
  const { id, organizationId, typedReference } = deposit;
  const place = { organizationId, ownerId: id, field: "typed_reference" } as const;
  return {
    book: book.number,
    seq,
    id,
    rail: deposit.rail,
    rail_account_id: deposit.railAccountId ?? null,
    receipt: deposit.receipt,
    amount_cents: deposit.amountCents,
    status: deposit.status,
    reason: deposit.reason ?? null,
    account_id: deposit.accountId ?? null,
    transaction_id: deposit.transactionId ?? null,
    credits: deposit.credits,
    typed_reference:
      typedReference === undefined ? null : encryptPersonal(book.keys, place, typedReference).toString("hex"),
    masked_phone: deposit.maskedPhone ?? null,
    paid_at: deposit.paidAt ?? null,
    created_at: deposit.createdAt,
    updated_at: deposit.updatedAt,
    // The settlement looks at once, whatever time the row got. The requests are of one return.
    return_due_at: deposit.status === "RETURNING" ? 0 : null,
    return_requests: null,
  };
}

/** Returns whether the deposit is as the journal has it, and waits only if no mint credits it. */
function isDepositAsMade(row: MadeDepositRow, book: Pick<OpenBook, "salts">, deposit: Deposit): boolean {
  if (isUnallocated(deposit) && row.credit_id !== null) return false;
  const content = contentOfDeposit(deposit);
  return isAsMade(row, book, { transactionId: null, accountId: row.made_account_id, content });
}

/** Returns the fields of a new deposit that the content hash covers. They never change. */
function contentOfDeposit(deposit: Deposit): readonly string[] {
  const { id, rail, railAccountId, receipt, amountCents, paidAt } = deposit;
  return [id, rail, railAccountId ?? "", receipt, String(amountCents), String(paidAt ?? "")];
}
