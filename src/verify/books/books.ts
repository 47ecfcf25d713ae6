import type { Audit } from "../audit.js";
import { guarded } from "../guarded.js";
import { AccountsAudit } from "./accounts/accounts.js";
import { ApiKeysAudit } from "./api-keys.js";
import { type AuditedBook, auditPassedOver, nextBook } from "./book.js";
import { DepositsAudit } from "./deposits/deposits.js";
import { DestinationsAudit } from "./destinations.js";
import { LimitsAudit } from "./figures/limits.js";
import { MarksAudit } from "./figures/marks.js";
import { ReserveAudit } from "./figures/reserve.js";
import { FreezesAudit } from "./freezes.js";
import { auditIdempotencyKeys } from "./idempotency-keys.js";
import { BookCheck } from "./journal.js";
import { journalSlices } from "./journal-rows.js";
import { auditLostBooks } from "./orphans.js";
import { auditProofs } from "./proofs.js";
import { ProposalsAudit } from "./proposals.js";
import { RailAccountsAudit } from "./rail-accounts.js";
import { SealsAudit } from "./seals/seals-audit.js";
import { TransactionsAudit } from "./transactions/transactions.js";

/**
 * Audits the books one after another, while servers write.
 *
 * The head of a book is its last row when the audit of the book begins. Rows up to the head never
 * change, so they may be read at different times. The other tables are read after the head, so
 * each of their rows reflects the journal up to the head or to a newer row. In the second case the
 * audit follows the account or the transaction through the newer rows, too.
 */
export async function auditBooks(audit: Audit): Promise<void> {
  let after = Number.MIN_SAFE_INTEGER;
  for (;;) {
    const book = await nextBook(audit, after);
    const before = book?.row.number ?? Number.MAX_SAFE_INTEGER;
    if (audit.organizationId === undefined && before > after + 1) await auditLostBooks(audit, { after, before });
    if (book === undefined) break;
    audit.coverage.organizations += 1;
    await auditBook(audit, book);
    after = before;
  }
  if (audit.organizationId === undefined) await auditPassedOver(audit);
}

async function auditBook(audit: Audit, book: AuditedBook): Promise<void> {
  const { number, head } = book.row;
  const journal = new BookCheck(book, audit);
  const place = { seq: undefined, table: "journal", id: undefined } as const;
  const deposits = new DepositsAudit(audit, book);
  const transactions = new TransactionsAudit(audit, book, (transaction) => {
    deposits.transaction(transaction);
  });
  const keys = new ApiKeysAudit(audit, book);
  const freezes = new FreezesAudit(audit, book);
  const destinations = new DestinationsAudit(audit, book);
  const proposals = new ProposalsAudit(audit, book);
  const seals = new SealsAudit(audit, book);
  const marks = new MarksAudit(audit, book);
  const reserve = new ReserveAudit(audit, book);
  const limits = new LimitsAudit(audit, book);
  const rails = new RailAccountsAudit(audit, book);
  await transactions.begin();
  await deposits.begin();
  await seals.begin();
  let isValid = true;
  const parts = await partsOf(audit, number);
  for (const [index, includes] of parts.entries()) {
    const accounts = new AccountsAudit(audit, book, includes);
    for await (const rows of journalSlices(audit, number, { upTo: head ?? 0 })) {
      for (const row of rows) accounts.row(row);
      if (index > 0) continue;
      isValid &&= guarded(book.findings, place, () => {
        for (const row of rows) journal.row(row);
      });
      for (const row of rows) {
        keys.row(row);
        freezes.row(row);
        destinations.row(row);
        proposals.row(row);
        reserve.row(row);
        limits.row(row);
        rails.row(row);
      }
      await transactions.slice(rows);
      await deposits.slice(rows);
      await seals.slice(rows);
      await marks.slice(rows);
      audit.onSlice();
    }
    await accounts.end();
  }
  if (isValid) {
    guarded(book.findings, place, () => {
      journal.end();
    });
  }
  await transactions.end();
  await deposits.end();
  await keys.end();
  await freezes.end();
  await destinations.end();
  await proposals.end();
  await seals.end();
  await marks.end();
  await reserve.end();
  await limits.end();
  await rails.end();
  await auditProofs(audit, book);
  await auditIdempotencyKeys(audit, book);
}

/**
 * Splits the accounts of a book into parts that fit into memory. The journal is read once for each
 * part. A hash of the id decides, so that ids that no table has belong to a part, too.
 */
async function partsOf(
  { engine, rows, accountsMax }: Audit,
  book: number,
): Promise<readonly ((accountId: string) => boolean)[]> {
  // An index of `account_holders` suffices, because these rows hardly ever change.
  const sql = `SELECT COUNT(*) AS count FROM ${engine.table("account_holders")} WHERE book = ?`;
  const [counted] = await rows<{ readonly count: number }>(sql, [book]);
  const count = Math.max(1, Math.ceil((counted?.count ?? 0) / accountsMax));
  if (count === 1) return [() => true];
  return Array.from({ length: count }, (_, part) => (accountId) => hashOf(accountId) % count === part);
}

function hashOf(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) >>> 0;
  return hash;
}
