import type { Audit } from "../audit.js";
import { guarded, guardedReads } from "../guarded.js";
import { AccountsAudit } from "./accounts/accounts.js";
import { ApiKeysAudit } from "./api-keys.js";
import { type AuditedBook, auditPassedOver, nextBook } from "./book.js";
import { DepositsAudit } from "./deposits/deposits.js";
import { destinationsAudit } from "./destinations.js";
import { LimitsAudit } from "./figures/limits.js";
import { MarksAudit } from "./figures/marks.js";
import { reserveAudit } from "./figures/reserve.js";
import { freezesAudit } from "./freezes.js";
import { auditIdempotencyKeys } from "./idempotency-keys.js";
import { AloneAudit } from "./in-force/alone.js";
import { InForceAudit } from "./in-force/in-force.js";
import { BookCheck } from "./journal.js";
import { journalSlices } from "./journal-rows.js";
import { auditLostBooks } from "./orphans.js";
import type { AuditPart } from "./part.js";
import { payoutFilesAudit } from "./payout-files.js";
import { payoutListAudit } from "./payout-list.js";
import { auditProofs } from "./proofs.js";
import { proposalsAudit } from "./proposals.js";
import { railAccountsAudit } from "./rail-accounts.js";
import { SealsAudit } from "./seals/seals-audit.js";
import { TransactionsAudit } from "./transactions/transactions.js";
import { webhookEndpointsAudit } from "./webhook-endpoints.js";

/**
 * Audits the books one after another, while servers write.
 *
 * The head of a book is its last row when the audit of the book begins. Rows up to the head never
 * change, so they may be read at different times. The other tables are read after the head, so
 * each of their rows reflects the journal up to the head or to a newer row. In the second case the
 * audit follows the account or the transaction through the newer rows, too.
 */
export async function auditBooks(audit: Audit): Promise<void> {
  let after: number | undefined;
  for (;;) {
    const book = await nextBook(audit, after ?? Number.MIN_SAFE_INTEGER);
    const before = book?.row.number;
    const isNext = after !== undefined && before === after + 1;
    if (audit.organizationId === undefined && !isNext) await auditLostBooks(audit, { after, before });
    if (book === undefined) break;
    audit.coverage.organizations += 1;
    await auditBook(audit, book);
    after = before;
  }
  if (audit.organizationId === undefined) await auditPassedOver(audit);
}

async function auditBook(audit: Audit, book: AuditedBook): Promise<void> {
  const { number, head } = book.row;
  const { findings } = book;
  const keys = new ApiKeysAudit(audit, book);
  const inForce = new InForceAudit(audit, book, keys);
  const alone = new AloneAudit(book);
  const deposits = new DepositsAudit(audit, book);
  const transactions = new TransactionsAudit(audit, book, (transaction) => {
    inForce.transaction(transaction);
    alone.transaction(transaction);
    deposits.transaction(transaction);
  });
  const parts = new Set<AuditPart>([
    new BookCheck(book, audit),
    keys,
    transactions,
    deposits,
    // Both take the transactions of the slice, so they come after them.
    inForce,
    alone,
    freezesAudit(audit, book),
    destinationsAudit(audit, book),
    proposalsAudit(audit, book),
    new SealsAudit(audit, book),
    new MarksAudit(audit, book),
    reserveAudit(audit, book),
    payoutFilesAudit(audit, book),
    payoutListAudit(audit, book),
    new LimitsAudit(audit, book),
    railAccountsAudit(audit, book),
    webhookEndpointsAudit(audit, book),
    { table: "journal", end: () => auditProofs(audit, book) },
    { table: "idempotency_keys", end: () => auditIdempotencyKeys(audit, book) },
  ]);
  /** A part that throws has a finding, and takes no further step. */
  const each = async (step: (part: AuditPart) => Promise<void> | void): Promise<void> => {
    for (const part of parts) {
      const place = { seq: undefined, table: part.table, id: undefined };
      if (!(await guardedReads(audit, { findings, place }, () => step(part)))) parts.delete(part);
    }
  };
  await each((part) => part.begin?.());
  for (const [index, includes] of (await partsOf(audit, number)).entries()) {
    const accounts = new AccountsAudit(audit, book, includes);
    for await (const rows of journalSlices(audit, number, { upTo: head ?? 0 })) {
      for (const row of rows) accounts.row(row);
      if (index > 0) continue;
      await each((part) => {
        if (part.row === undefined) return;
        for (const row of rows)
          guarded(findings, { seq: row.seq, table: "journal", id: undefined }, () => part.row?.(row));
      });
      await each((part) => part.slice?.(rows));
      audit.onSlice();
    }
    const place = { seq: undefined, table: "accounts", id: undefined } as const;
    await guardedReads(audit, { findings, place }, () => accounts.end());
  }
  await each((part) => part.end?.());
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
