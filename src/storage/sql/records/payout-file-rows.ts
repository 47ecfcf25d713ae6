import type { ApprovedPayoutFile } from "../../../domain/payout-file.js";
import type { Rail } from "../../../domain/transaction.js";
import type { Actor } from "../../../domain/values/actor.js";
import { toCents } from "../../../domain/values/cents.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { PAYOUT_FILES, STOPPED_PAYOUT_FILES } from "../../../model/payouts.js";
import { hasTrueMac, rowMac } from "../../secrets/row-mac.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `payout_files`, as both drivers read it. */
export type PayoutFileRow = RowOf<typeof PAYOUT_FILES, Uint8Array> & { readonly approved_by: string };

export const PAYOUT_FILE_TABLE: Table<ApprovedPayoutFile, PayoutFileRow> = {
  name: "payout_files",
  key: PAYOUT_FILES.key,
  insertedRow: payoutFileRowOf,
  reads: ({ table, lookedUp }, { pairs }) => [
    {
      finders: ["payoutFile"],
      isAfterLock: true,
      sql: `
        SELECT f.*, ${approvedByColumn({ table })} FROM ${pairs}
        ${lookedUp(table("payout_files"), "f", "f.book = input.book AND f.sha256 = input.name")}`,
    },
  ],
  rowOf: payoutFileOf,
  isAsWritten: isPayoutFileAsWritten,
  updates: [{ sets: changedNamesOf(PAYOUT_FILES) }],
};

/** The journal row that approved the file `f` names the persons. */
export function approvedByColumn({ table }: Pick<Engine, "table">): string {
  return `(SELECT j.actor FROM ${table("journal")} j WHERE j.book = f.book AND j.seq = f.seq) AS approved_by`;
}

/** Returns whether the service wrote the row as it is. */
export function isPayoutFileAsWritten(row: PayoutFileRow, { keys }: Pick<OpenBook, "keys">): boolean {
  return hasTrueMac(keys, boundOf(row), row);
}

/** Only the row of a stopped file has a `mac` with the stop: earlier builds wrote the others. */
function boundOf({ stopped_at: stoppedAt }: Pick<PayoutFileRow, "stopped_at">) {
  return stoppedAt === null ? PAYOUT_FILES : STOPPED_PAYOUT_FILES;
}

export function payoutFileOf(row: PayoutFileRow, { organizationId }: OpenBook): ApprovedPayoutFile {
  return {
    organizationId,
    sha256: row.sha256,
    rowsSha256: row.rows_sha256,
    rail: row.rail as Rail,
    rows: row.row_count,
    amountCents: toCents(row.amount_cents),
    leftOut: row.left_out,
    approvedAt: toUnixMillis(row.approved_at),
    approvedBy: row.approved_by as Actor,
    stoppedAt: row.stopped_at === null ? undefined : toUnixMillis(row.stopped_at),
  };
}

function payoutFileRowOf(file: ApprovedPayoutFile, { book, seq }: RowPlace): InsertedRow<typeof PAYOUT_FILES> {
  const row = {
    sha256: file.sha256,
    rows_sha256: file.rowsSha256,
    rail: file.rail,
    row_count: file.rows,
    amount_cents: file.amountCents,
    left_out: file.leftOut,
    seq,
    approved_at: file.approvedAt,
    stopped_at: file.stoppedAt ?? null,
  };
  return { book: book.number, ...row, mac: rowMac(book.keys, boundOf(row), row) };
}
