import type { RowOf } from "../../model/column.js";
import { PAYOUT_FILES, STOPPED_PAYOUT_FILES } from "../../model/payouts.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { jsonIn } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { ANOTHER_MAC, checkOwnHash } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";
import { smallTableAudit } from "./table-audit.js";

/** An approved file, as its rows of the journal have it. */
interface Approval {
  readonly seq: number;
  readonly file: Omit<RowOf<typeof PAYOUT_FILES>, "book" | "sha256" | "mac">;
}

/** Compares each approved file of payouts with the rows of the journal that approve and stop it. */
export function payoutFilesAudit(audit: Audit, book: AuditedBook): AuditPart {
  const table = "payout_files";
  const derived = new Map<string, Approval>();
  return smallTableAudit<typeof PAYOUT_FILES, Approval>(audit, book, {
    table,
    owner: PAYOUT_FILES.owner,
    derived,
    idOf: ({ sha256 }) => sha256,
    follow: (row) => {
      if (row.kind !== "payouts.approved" && row.kind !== "payouts.stopped") return;
      checkOwnHash(book, row);
      if (row.kind === "payouts.approved") take(book, row, derived);
      else stop(book, row, derived);
    },
    compare: (sha256, approval, row) => {
      const place: Place = { seq: approval?.seq ?? row?.seq, table, id: sha256 };
      const expected = approval === undefined ? "a journal row that approves it" : describe(approval.file);
      book.findings.compare(place, { expected, found: row === undefined ? "no row" : describe(row) });
      const { secrets } = book;
      const bound = row?.stopped_at === null ? PAYOUT_FILES : STOPPED_PAYOUT_FILES;
      if (row !== undefined && secrets !== undefined && !hasTrueMac(secrets.keys, bound, row)) {
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
  const approved = { ...numbers, seq, approved_at: approvedAt, stopped_at: null };
  approvals.set(sha256, { seq, file: { rows_sha256: String(rowsSha256), rail: String(rail), ...approved } });
}

function stop({ findings }: AuditedBook, row: AuditedJournalRow, approvals: Map<string, Approval>): void {
  const [sha256] = jsonIn("detail", row.detail, "[]") as unknown[];
  const approval = approvals.get(String(sha256));
  if (approval?.file.stopped_at !== null) {
    findings.onRow(row, "a file in the detail that was approved, and not stopped", String(row.detail));
    return;
  }
  approvals.set(String(sha256), { ...approval, file: { ...approval.file, stopped_at: row.recorded_at } });
}

function describe(file: Approval["file"]): string {
  const { rows_sha256: rows, rail, row_count: count, amount_cents: cents, left_out: leftOut } = file;
  const paid = `${String(count)} rows over ${rail}, ${String(cents)} cents, without ${String(leftOut)}, as ${rows}`;
  const stopped = file.stopped_at === null ? "" : `, stopped at ${String(file.stopped_at)}`;
  return `${paid}, approved in row ${String(file.seq)} at ${String(file.approved_at)}${stopped}`;
}
