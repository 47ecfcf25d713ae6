import { type BookAccount, JOURNAL_KINDS } from "../domain/journal.js";
import { MAX_CENTS } from "../domain/values/cents.js";
import type { Snapshot } from "../storage/sql/snapshot.js";
import type { Finding, Findings } from "./findings.js";
import { decimalOf, describePosting, type PostingColumns } from "./format.js";

interface JournalRow extends PostingColumns {
  readonly seq: number;
  readonly organization_id: string;
  readonly transaction_id: string | null;
  readonly kind: string;
}

/** The sums are read as text. A sum over an organization may exceed the safe integers. */
interface BookRow {
  readonly organization_id: string;
  readonly last_seq: number;
  readonly reserve_cents: string;
  readonly shortfall_cents: string;
  readonly available_cents: string;
  readonly held_cents: string;
  readonly unallocated_cents: string;
}

export interface JournalTotals {
  readonly journalRows: number;
  readonly organizations: number;
  /** The sum over all organizations. */
  readonly reserveCents: bigint;
}

/** The balances of an organization's book accounts. */
interface Sums extends Record<BookAccount, bigint> {
  /** The `seq` of the last row of the book. */
  lastSeq: number;
}

const KINDS: ReadonlySet<string> = new Set(JOURNAL_KINDS);
const BOOK_ACCOUNTS = { reserve: true, shortfall: true, available: true, held: true, unallocated: true } as const;
const ASSETS: ReadonlySet<BookAccount> = new Set(["reserve", "shortfall"]);

/**
 * Reads each book in the order of `seq`. Checks that no row is missing or doubled, and that each row
 * is valid by itself. Then compares the last `seq` and the sums of the postings with the row in
 * `books`.
 */
export async function verifyJournal(snapshot: Snapshot, findings: Findings): Promise<JournalTotals> {
  const { table } = snapshot;
  const rows = snapshot.rows<JournalRow>(`
    SELECT b.organization_id, j.seq, j.transaction_id, j.kind, j.debit, j.credit, j.amount_cents
    FROM ${table("journal")} j LEFT JOIN ${table("books")} b ON b.number = j.book ORDER BY j.book, j.seq`);
  const sums = new Map<string, Sums>();
  let journalRows = 0;
  for (let row = await rows.next(); row !== undefined; row = await rows.next()) {
    journalRows += 1;
    const sum = sumOf(sums, row.organization_id);
    if (row.seq !== sum.lastSeq + 1) findings.add(outOfStep(row.seq, sum.lastSeq));
    sum.lastSeq = row.seq;
    checkRow(row, findings);
    post(row, sum);
  }
  return { journalRows, ...(await checkBooks(snapshot, sums, findings)) };
}

// The parts of a finding on a journal row.
const ROW = { table: "journal", id: undefined } as const;

function outOfStep(seq: number, before: number): Finding {
  const expectedSeq = before + 1;
  return seq > expectedSeq
    ? { ...ROW, seq: expectedSeq, expected: "a row", found: `no row: the next row has seq ${String(seq)}` }
    : { ...ROW, seq, expected: `seq ${String(expectedSeq)}`, found: `seq ${String(seq)} again` };
}

function checkRow(row: JournalRow, findings: Findings): void {
  const { seq, kind, transaction_id: transactionId } = row;
  if (!KINDS.has(kind)) findings.add({ ...ROW, seq, expected: "a known kind", found: kind });
  if (kind.startsWith("transaction.") !== (transactionId !== null)) {
    const expected = "a transaction_id if the kind begins with transaction., and none otherwise";
    findings.add({ ...ROW, seq, expected, found: `${kind} ${transactionId === null ? "without" : "with"} one` });
  }
  if (!isNoPosting(row) && !isPosting(row)) {
    const expected = `a debit and a credit to two of the book accounts, and an amount from 0.01 to ${decimalOf(MAX_CENTS)}`;
    findings.add({ ...ROW, seq, expected, found: describePosting(row) });
  }
}

function isNoPosting({ debit, credit, amount_cents: amountCents }: PostingColumns): boolean {
  return debit === null && credit === null && amountCents === null;
}

interface ValidPosting {
  readonly debit: keyof typeof BOOK_ACCOUNTS;
  readonly credit: keyof typeof BOOK_ACCOUNTS;
  readonly amount_cents: number;
}

function isPosting(row: JournalRow): row is JournalRow & ValidPosting {
  const { debit, credit, amount_cents: amountCents } = row;
  return (
    debit !== null &&
    credit !== null &&
    amountCents !== null &&
    debit in BOOK_ACCOUNTS &&
    credit in BOOK_ACCOUNTS &&
    debit !== credit &&
    Number.isSafeInteger(amountCents) &&
    amountCents > 0 &&
    amountCents <= MAX_CENTS
  );
}

function sumOf(sums: Map<string, Sums>, organizationId: string): Sums {
  let sum = sums.get(organizationId);
  if (sum === undefined) {
    sum = { reserve: 0n, shortfall: 0n, available: 0n, held: 0n, unallocated: 0n, lastSeq: 0 };
    sums.set(organizationId, sum);
  }
  return sum;
}

function post(row: JournalRow, sum: Sums): void {
  if (!isPosting(row)) return;
  const amount = BigInt(row.amount_cents);
  // A debit adds to an asset. A credit adds to a liability.
  sum[row.debit] += ASSETS.has(row.debit) ? amount : -amount;
  sum[row.credit] += ASSETS.has(row.credit) ? -amount : amount;
}

async function checkBooks(
  snapshot: Snapshot,
  sums: Map<string, Sums>,
  findings: Findings,
): Promise<Pick<JournalTotals, "organizations" | "reserveCents">> {
  const { table } = snapshot;
  const rows = snapshot.rows<BookRow>(`
    SELECT o.id AS organization_id, b.last_seq, CAST(reserve_cents AS TEXT) AS reserve_cents,
      CAST(shortfall_cents AS TEXT) AS shortfall_cents, CAST(available_cents AS TEXT) AS available_cents,
      CAST(held_cents AS TEXT) AS held_cents, CAST(unallocated_cents AS TEXT) AS unallocated_cents
    FROM ${table("organizations")} o LEFT JOIN ${table("books")} b ON b.organization_id = o.id`);
  let organizations = 0;
  let reserveCents = 0n;
  for (let row = await rows.next(); row !== undefined; row = await rows.next()) {
    organizations += 1;
    const sum = sumOf(sums, row.organization_id);
    reserveCents += sum.reserve;
    findings.compare({
      seq: sum.lastSeq,
      table: "books",
      id: row.organization_id,
      expected: describeSums(sum),
      found: describeBook(row),
    });
  }
  return { organizations, reserveCents };
}

function describeSums({ lastSeq, ...sums }: Sums): string {
  const parts = Object.entries(sums).map(([name, cents]) => `${name} ${decimalOf(cents)}`);
  return `${parts.join(", ")}, last_seq ${String(lastSeq)}`;
}

function describeBook(row: BookRow): string {
  // The LEFT JOIN found no row in `books`.
  if ((row.last_seq as number | null) === null) return "no row";
  return describeSums({
    reserve: BigInt(row.reserve_cents),
    shortfall: BigInt(row.shortfall_cents),
    available: BigInt(row.available_cents),
    held: BigInt(row.held_cents),
    unallocated: BigInt(row.unallocated_cents),
    lastSeq: row.last_seq,
  });
}
