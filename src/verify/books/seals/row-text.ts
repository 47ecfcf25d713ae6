import { hash } from "node:crypto";

import type { RowSalts } from "../../../storage/secrets/book-keys.js";
import type { AuditedJournalRow } from "../journal-rows.js";

/** The columns of a leaf after the organization, up to the two hashes (docs/seals.md). */
const COLUMNS = [
  "seq",
  "previous_seq",
  "account_id",
  "transaction_id",
  "freeze_id",
  "kind",
  "debit",
  "credit",
  "amount_cents",
  "available_after_cents",
  "held_after_cents",
  "rail_receipt",
  "recorded_at",
] as const satisfies (keyof AuditedJournalRow)[];

/** Returns the hash of the leaf of a row, as docs/seals.md says it. */
export function leafOf(organizationId: string, row: AuditedJournalRow, salts: RowSalts): Buffer {
  const texts = JSON.stringify(["kesc-texts-1", row.detail ?? "", row.actor, row.reason]);
  const textsHash = hash("sha256", `${salts.of(row.seq)}${texts}`, "hex");
  const fields = COLUMNS.map((name) => String(row[name] ?? ""));
  const text = JSON.stringify(["kesc-row-1", organizationId, ...fields, textsHash, row.content_hash]);
  return hash("sha256", `\u0000${text}`, "buffer");
}
