import type { Owner } from "../../model/column.js";
import { type ModelName, TABLES_BY_NAME } from "../../model/tables.js";
import type { Audit } from "../audit.js";
import { slices } from "../slices.js";

/** A row whose owner does not exist. */
interface Orphan {
  readonly table: ModelName;
  readonly id: string;
  readonly owner: string;
}

/** A row that belongs to a row of another table. */
interface PartRow {
  readonly id: string;
  readonly organization_id: string | null;
  /** Null if the other row does not exist in the book of the part. */
  readonly owner_seq: number | null;
}

/** A table with rows that belong to the rows of another table. */
interface PartsCheck {
  readonly table: ModelName;
  /** The column with the id of the other row. Its values differ. */
  readonly id: string;
  readonly owners: ModelName;
  readonly expected: string;
}

const HOLDERS: PartsCheck = {
  table: "account_holders",
  id: "account_id",
  owners: "accounts",
  expected: "an account of the book",
};
const PAYMENTS: PartsCheck = {
  table: "payments",
  id: "transaction_id",
  owners: "transactions",
  expected: "a transaction of the book",
};

/** The tables of books with a look of their own. */
const OTHER_TABLES_OF_BOOKS: ReadonlySet<ModelName> = new Set(["book_keys", "proposals", "payments"]);
// A move of a book belongs to the database that the book leaves.
const TABLES_OF_BOOKS: readonly ModelName[] = [...ownedBy("book", OTHER_TABLES_OF_BOOKS), "book_moves"];
const TABLES_OF_ORGANIZATIONS = ownedBy("organization", new Set(["organizations", "books"]));

function ownedBy(owner: Owner["of"], others: ReadonlySet<ModelName>): readonly ModelName[] {
  return TABLES_BY_NAME.flatMap(([name, table]) => (table.owner.of === owner && !others.has(name) ? [name] : []));
}

/**
 * Checks the rows that no book leads to: organizations without a book, keys, proposals, rail
 * accounts and webhook endpoints without their owner, holders without their account, and payments
 * without their transaction.
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
    ${TABLES_OF_ORGANIZATIONS.map(
      (name) => `
        UNION ALL
        SELECT '${name}', x.id, 'the organization ' || x.organization_id
        FROM ${table(name)} x LEFT JOIN ${table("organizations")} o ON o.id = x.organization_id WHERE o.id IS NULL`,
    ).join("")}`);
  for (const { table: name, id, owner } of orphans) {
    findings.of(undefined).add({ seq: undefined, table: name, id }, { expected: owner, found: "none" });
  }
  await auditLostParts(audit, HOLDERS);
  await auditLostParts(audit, PAYMENTS);
}

async function auditLostParts(audit: Audit, { table: name, id: column, owners, expected }: PartsCheck): Promise<void> {
  const { table } = audit.engine;
  const parts = slices<PartRow>(audit, {
    sql: `
      SELECT x.${column} AS id, o.seq AS owner_seq, b.organization_id
      FROM ${table(name)} x
      LEFT JOIN ${table(owners)} o ON o.id = x.${column} AND o.book = x.book
      LEFT JOIN ${table("books")} b ON b.number = x.book
      WHERE TRUE`,
    bindings: [],
    key: `x.${column}`,
    keyOf: ({ id }) => id,
  });
  for await (const rows of parts) {
    for (const { id, owner_seq: ownerSeq, organization_id: organizationId } of rows) {
      if (ownerSeq !== null) continue;
      const place = { seq: undefined, table: name, id } as const;
      audit.findings.of(organizationId ?? undefined).add(place, { expected, found: "none" });
    }
  }
}

/**
 * Adds a finding for each table with rows of a book that does not exist, if its number is between
 * the numbers of two books, or beyond all of them. Numbers without such rows cost no more than a
 * look into each index.
 */
export async function auditLostBooks(
  { engine: { table }, rows, findings }: Audit,
  { after, before }: { readonly after: number | undefined; readonly before: number | undefined },
): Promise<void> {
  const bounds = [after, before].filter((bound) => bound !== undefined);
  const range = `${after === undefined ? "" : "x.book > ? AND"} ${before === undefined ? "" : "x.book < ? AND"}`;
  const lost = await rows<{ readonly table: ModelName; readonly book: number | null }>(
    TABLES_OF_BOOKS.map(
      (name) => `
        SELECT '${name}' AS "table",
          (SELECT x.book FROM ${table(name)} x WHERE ${range}
             NOT EXISTS (SELECT 1 FROM ${table("books")} b WHERE b.number = x.book)
           ORDER BY x.book LIMIT 1) AS book`,
    ).join(" UNION ALL "),
    TABLES_OF_BOOKS.flatMap(() => bounds),
  );
  for (const { table: name, book } of lost) {
    if (book === null) continue;
    const expected = `the book with the number ${String(book)}`;
    findings.of(undefined).add({ seq: undefined, table: name, id: undefined }, { expected, found: "no such book" });
  }
}
