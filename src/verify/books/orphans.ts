import type { Audit } from "../audit.js";
import type { AuditedTable } from "../findings.js";

/** A row whose owner does not exist. */
interface Orphan {
  readonly table: AuditedTable;
  readonly id: string;
  readonly owner: string;
}

/**
 * Checks the rows that no book leads to: organizations without a book, and keys without their
 * owner.
 */
export async function auditOrphans({ snapshot, findings }: Audit): Promise<void> {
  const { table } = snapshot;

  const orphans = snapshot.rows<Orphan>(`
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
  for (let row = await orphans.next(); row !== undefined; row = await orphans.next()) {
    const { table: name, id, owner } = row;
    findings.of(undefined).add({ seq: undefined, table: name, id }, { expected: owner, found: "none" });
  }
}
