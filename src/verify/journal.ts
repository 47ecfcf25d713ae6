import { JOURNAL_KINDS } from "../domain/journal.js";
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
interface SupplyRow {
  readonly organization_id: string;
  readonly reserve_cents: string;
  readonly available_cents: string;
  readonly held_cents: string;
}

export interface JournalTotals {
  readonly journalRows: number;
  readonly organizations: number;
  /** The sum over all organizations. */
  readonly reserveCents: bigint;
}

/** The balances of an organization's book accounts. */
interface Sums {
  reserve: bigint;
  available: bigint;
  held: bigint;
  /** The `seq` of the last posting in the sums. */
  lastSeq: number | undefined;
}

const KINDS: ReadonlySet<string> = new Set(JOURNAL_KINDS);
const BOOK_ACCOUNTS = { reserve: true, available: true, held: true } as const;

/**
 * Reads the journal in the order of `seq`. Checks that no row is missing or doubled, and that each
 * row is valid by itself. Then compares the sum of each organization's postings with its row in
 * `supply`.
 */
export async function verifyJournal(snapshot: Snapshot, findings: Findings): Promise<JournalTotals> {
  const rows = snapshot.rows<JournalRow>(
    "SELECT seq, organization_id, transaction_id, kind, debit, credit, amount_cents FROM journal ORDER BY seq",
  );
  const sums = new Map<string, Sums>();
  let journalRows = 0;
  let lastSeq = 0;
  for (let row = await rows.next(); row !== undefined; row = await rows.next()) {
    journalRows += 1;
    if (row.seq !== lastSeq + 1) findings.add(outOfStep(row.seq, lastSeq));
    lastSeq = row.seq;
    checkRow(row, findings);
    post(row, sums);
  }
  await checkHead(snapshot, lastSeq, findings);
  return { journalRows, ...(await checkSupply(snapshot, sums, findings)) };
}

// The parts of a finding on a journal row.
const ROW = { table: "journal", id: undefined } as const;

function outOfStep(seq: number, before: number): Finding {
  const expectedSeq = before + 1;
  return seq > expectedSeq
    ? { ...ROW, seq: expectedSeq, expected: "a row", found: `no row: the next row has seq ${String(seq)}` }
    : { ...ROW, seq, expected: `seq ${String(expectedSeq)}`, found: `seq ${String(seq)} again` };
}

async function checkHead(snapshot: Snapshot, lastSeq: number, findings: Findings): Promise<void> {
  const head = await snapshot.rows<{ last_seq: number }>("SELECT last_seq FROM journal_head").next();
  const headSeq = head?.last_seq;
  if (headSeq === lastSeq) return;
  findings.add({
    ...ROW,
    seq: Math.min(lastSeq, headSeq ?? lastSeq) + 1,
    expected:
      headSeq === undefined ? "a row in journal_head" : `the last row at seq ${String(headSeq)}, as in journal_head`,
    found: headSeq === undefined ? "none" : `the last row at seq ${String(lastSeq)}`,
  });
}

function checkRow(row: JournalRow, findings: Findings): void {
  const { seq, kind, transaction_id: transactionId } = row;
  if (!KINDS.has(kind)) findings.add({ ...ROW, seq, expected: "a known kind", found: kind });
  if (kind.startsWith("transaction.") !== (transactionId !== null)) {
    const expected = "a transaction_id if the kind begins with transaction., and none otherwise";
    findings.add({ ...ROW, seq, expected, found: `${kind} ${transactionId === null ? "without" : "with"} one` });
  }
  if (!isNoPosting(row) && !isPosting(row)) {
    const expected = `a debit and a credit to two of reserve, available and held, and an amount from 0.01 to ${decimalOf(MAX_CENTS)}`;
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

function post(row: JournalRow, sums: Map<string, Sums>): void {
  if (!isPosting(row)) return;
  let sum = sums.get(row.organization_id);
  if (sum === undefined) {
    sum = { reserve: 0n, available: 0n, held: 0n, lastSeq: undefined };
    sums.set(row.organization_id, sum);
  }
  const amount = BigInt(row.amount_cents);
  // The reserve is an asset, so a debit adds to it. The other two are liabilities, so a credit adds
  // to them.
  sum[row.debit] += row.debit === "reserve" ? amount : -amount;
  sum[row.credit] += row.credit === "reserve" ? -amount : amount;
  sum.lastSeq = row.seq;
}

async function checkSupply(
  snapshot: Snapshot,
  sums: Map<string, Sums>,
  findings: Findings,
): Promise<Pick<JournalTotals, "organizations" | "reserveCents">> {
  const rows = snapshot.rows<SupplyRow>(`
    SELECT o.id AS organization_id, CAST(reserve_cents AS TEXT) AS reserve_cents,
      CAST(available_cents AS TEXT) AS available_cents, CAST(held_cents AS TEXT) AS held_cents
    FROM organizations o LEFT JOIN supply s ON s.organization_id = o.id`);
  let organizations = 0;
  for (let row = await rows.next(); row !== undefined; row = await rows.next()) {
    organizations += 1;
    const sum = sums.get(row.organization_id);
    findings.compare({
      seq: sum?.lastSeq,
      table: "supply",
      id: row.organization_id,
      expected: describeSums(sum),
      found: describeSupply(row),
    });
  }
  let reserveCents = 0n;
  for (const sum of sums.values()) reserveCents += sum.reserve;
  return { organizations, reserveCents };
}

function describeSums(sum: Sums | undefined): string {
  const { reserve, available, held } = sum ?? { reserve: 0n, available: 0n, held: 0n };
  return `reserve ${decimalOf(reserve)}, available ${decimalOf(available)}, held ${decimalOf(held)}`;
}

function describeSupply(row: SupplyRow): string {
  // The LEFT JOIN found no row in `supply`.
  if ((row.reserve_cents as string | null) === null) return "no row";
  const [reserve, available, held] = [row.reserve_cents, row.available_cents, row.held_cents].map(BigInt);
  return describeSums({ reserve: reserve ?? 0n, available: available ?? 0n, held: held ?? 0n, lastSeq: undefined });
}
