import type { RowOf } from "../../model/column.js";
import { PAYOUT_FILES } from "../../model/payouts.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { jsonIn } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { ANOTHER_MAC, checkOwnHash } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";
import { smallTableAudit } from "./table-audit.js";

/** An approved file, as its row of the journal has it. */
interface Approval {
  readonly seq: number;
  readonly text: string;
}

/** Compares each approved file of payouts with the row of the journal that approves it. */
export function payoutFilesAudit(audit: Audit, book: AuditedBook): AuditPart {
  const table = "payout_files";
  const derived = new Map<string, Approval>();
  return smallTableAudit<typeof PAYOUT_FILES, Approval>(audit, book, {
    table,
    owner: PAYOUT_FILES.owner,
    derived,
    idOf: ({ sha256 }) => sha256,
    follow: (row) => {
      if (row.kind !== "payouts.approved") return;
      checkOwnHash(book, row);
      take(book, row, derived);
    },
    compare: (sha256, approval, row) => {
      const place: Place = { seq: approval?.seq ?? row?.seq, table, id: sha256 };
      const expected = approval?.text ?? "a journal row that approves it";
      book.findings.compare(place, { expected, found: row === undefined ? "no row" : describe(row) });
      const { secrets } = book;
      if (row !== undefined && secrets !== undefined && !hasTrueMac(secrets.keys, PAYOUT_FILES, row)) {
        book.findings.add(place, ANOTHER_MAC);
      }
    },
  });
}

function take({ findings }: AuditedBook, row: AuditedJournalRow, approvals: Map<string, Approval>): void {
  const [sha256, rowsSha256, rail, count, cents, leftOut] = jsonIn("detail", row.detail, "[]") as unknown[];
  if (typeof sha256 !== "string" || approvals.has(sha256)) {
    findings.onRow(row, "a file that no earlier row approves in the detail", String(row.detail));
    return;
  }
  const { seq, recorded_at: approvedAt } = row;
  const numbers = { row_count: Number(count), amount_cents: Number(cents), left_out: Number(leftOut) };
  const file = { rows_sha256: String(rowsSha256), rail: String(rail), ...numbers, seq, approved_at: approvedAt };
  approvals.set(sha256, { seq, text: describe(file) });
}

function describe(file: Omit<RowOf<typeof PAYOUT_FILES>, "book" | "sha256" | "mac">): string {
  const { rows_sha256: rows, rail, row_count: count, amount_cents: cents, left_out: leftOut } = file;
  const paid = `${String(count)} rows over ${rail}, ${String(cents)} cents, without ${String(leftOut)}, as ${rows}`;
  return `${paid}, approved in row ${String(file.seq)} at ${String(file.approved_at)}`;
}
