import type { Audit } from "../audit.js";
import type { AuditedTable } from "../findings.js";
import { slices } from "../slices.js";

/** A row whose owner does not exist. */
interface Orphan {
  readonly table: AuditedTable;
  readonly id: string;
  readonly owner: string;
}

interface HolderKey {
  readonly id: string;
  readonly organization_id: string | null;
  /** Null if the account does not exist in the book of the holder. */
  readonly account_seq: number | null;
}

const TABLES_OF_BOOKS = ["journal", "accounts", "account_holders", "transactions", "idempotency_keys"] as const;

/**
 * Checks the rows that no book leads to: organizations without a book, keys without their owner,
 * and holders without their account.
 */
export async function auditOrphans(audit: Audit): Promise<void> {
  const { engine, rows, findings } = audit;
  const { table } = engine;
  const orphans = await rows<Orphan>(`
    SELECT 'books' AS "table", o.id, 'a book of the organization' AS owner
    FROM ${table("organizations")} o LEFT JOIN ${table("books")} b ON b.organization_id = o.id WHERE b.number IS NULL
    UNION ALL
    SELECT 'book_keys', NULL, 'the book with the number ' || k.book
    FROM ${table("book_keys")} k LEFT JOIN ${table("books")} b ON b.number = k.book WHERE b.number IS NULL
    UNION ALL
    SELECT 'proposals', p.subject, 'the book with the number ' || p.book
    FROM ${table("proposals")} p LEFT JOIN ${table("books")} b ON b.number = p.book WHERE b.number IS NULL
    UNION ALL
    SELECT 'api_keys', k.id, 'the organization ' || k.organization_id
    FROM ${table("api_keys")} k LEFT JOIN ${table("organizations")} o ON o.id = k.organization_id WHERE o.id IS NULL`);
  for (const { table: name, id, owner } of orphans) {
    findings.of(undefined).add({ seq: undefined, table: name, id }, { expected: owner, found: "none" });
  }
  await auditLostHolders(audit);
}

async function auditLostHolders(audit: Audit): Promise<void> {
  const { table } = audit.engine;
  const holders = slices<HolderKey>(audit, {
    sql: `
      SELECT h.account_id AS id, a.seq AS account_seq, b.organization_id
      FROM ${table("account_holders")} h
      LEFT JOIN ${table("accounts")} a ON a.id = h.account_id AND a.book = h.book
      LEFT JOIN ${table("books")} b ON b.number = h.book
      WHERE TRUE`,
    bindings: [],
    key: "h.account_id",
    keyOf: ({ id }) => id,
  });
  for await (const rows of holders) {
    for (const { id, account_seq: accountSeq, organization_id: organizationId } of rows) {
      if (accountSeq !== null) continue;
      const place = { seq: undefined, table: "account_holders", id } as const;
      audit.findings.of(organizationId ?? undefined).add(place, { expected: "an account of the book", found: "none" });
    }
  }
}

/**
 * Adds a finding for each table with rows of a book that does not exist, if its number is between
 * the numbers of two books. Numbers without such rows cost no more than a look into each index.
 */
export async function auditLostBooks(
  { engine: { table }, rows, findings }: Audit,
  { after, before }: { readonly after: number; readonly before: number },
): Promise<void> {
  const lost = await rows<{ readonly table: AuditedTable; readonly book: number | null }>(
    TABLES_OF_BOOKS.map(
      (name) => `
        SELECT '${name}' AS "table",
          (SELECT x.book FROM ${table(name)} x WHERE x.book > ? AND x.book < ?
             AND NOT EXISTS (SELECT 1 FROM ${table("books")} b WHERE b.number = x.book)
           ORDER BY x.book LIMIT 1) AS book`,
    ).join(" UNION ALL "),
    TABLES_OF_BOOKS.flatMap(() => [after, before]),
  );
  for (const { table: name, book } of lost) {
    if (book === null) continue;
    const expected = `the book with the number ${String(book)}`;
    findings.of(undefined).add({ seq: undefined, table: name, id: undefined }, { expected, found: "no such book" });
  }
}
