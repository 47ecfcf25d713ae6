import type { Snapshot } from "../../../storage/sql/snapshot.js";
import { allRows } from "../../all-rows.js";
import type { Place } from "../../findings.js";
import { describePosting, type Direction, type PostingColumns } from "../../format.js";
import type { AuditedBook } from "../book-stream.js";
import { hasHashOf, type HashedRow, type ProofColumns, proofsIn } from "../content.js";

/** A row of `proposals`. */
interface ProposalRow {
  readonly book: number;
  readonly subject: string;
  readonly content: string;
  readonly person: string;
  readonly proposed_at: number;
  readonly done_at: number | null;
}

/** A row of the journal. */
interface OperatorRow extends PostingColumns, HashedRow, ProofColumns {
  readonly account_id: string | null;
  readonly transaction_id: string | null;
}

interface Correction {
  /** Undefined if the row only proposes. */
  readonly posting: Direction | undefined;
  /** The name of the correction in the content of a proposal. */
  readonly name: string;
  readonly target: "account" | "receipt" | undefined;
}

// Repeated on purpose: an audit must not depend on the code that it audits.
const CORRECTIONS: Readonly<Record<string, Correction>> = {
  "book.covered": { posting: { debit: "reserve", credit: "shortfall" }, name: "coverShortfall", target: undefined },
  "book.recovered": {
    posting: { debit: "available", credit: "shortfall" },
    name: "recoverShortfall",
    target: "account",
  },
  "book.allocated": { posting: { debit: "unallocated", credit: "available" }, name: "allocate", target: "account" },
  "book.returned": {
    posting: { debit: "unallocated", credit: "reserve" },
    name: "returnUnallocated",
    target: "receipt",
  },
  "book.received": { posting: { debit: "reserve", credit: "unallocated" }, name: "bookReceipt", target: "receipt" },
};
const PROPOSALS: ReadonlySet<string> = new Set(["book.proposed", "transaction.resolution_proposed"]);

/** The kinds of rows that concern the organization's book, and no account. */
export const CORRECTION_KINDS_WITHOUT_ACCOUNT: ReadonlySet<string> = new Set([
  "book.proposed",
  "book.covered",
  "book.returned",
  "book.received",
]);

/** Reads the proposals of each book. People make them, so they are few. */
export async function readProposals(snapshot: Snapshot): Promise<ReadonlyMap<number, readonly ProposalRow[]>> {
  const rows = await allRows(
    snapshot.rows<ProposalRow>(`
      SELECT book, subject, content, person, proposed_at, done_at FROM ${snapshot.table("proposals")}
      ORDER BY book, subject ${snapshot.byCodeUnit}`),
  );
  const byBook = new Map<number, ProposalRow[]>();
  for (const row of rows) {
    const own = byBook.get(row.book);
    if (own === undefined) byBook.set(row.book, [row]);
    else own.push(row);
  }
  return byBook;
}

/** What the journal says about one subject. */
interface Derived {
  readonly content: string;
  readonly person: string;
  readonly proposedAt: number;
  readonly doneAt: number | null;
  readonly seq: number;
}

/** Checks what operators proposed and did in one book. */
export class OperatorCheck {
  readonly #book: AuditedBook;
  readonly #proposals: readonly ProposalRow[];
  readonly #derived = new Map<string, Derived>();

  constructor(book: AuditedBook, proposals: readonly ProposalRow[]) {
    this.#book = book;
    this.#proposals = proposals;
  }

  row(row: OperatorRow): void {
    const correction = CORRECTIONS[row.kind];
    if (correction === undefined && !PROPOSALS.has(row.kind)) return;
    const [subject, person, content] = readDetail(row.detail);
    if (subject === undefined || person === undefined || content === undefined) {
      this.#add(row, "a subject, a person and a content in the detail", String(row.detail));
      return;
    }
    this.#checkPosting(row, correction?.posting);
    if (correction !== undefined) this.#checkContent(row, content, correction);
    this.#checkHash(row);
    this.#follow(subject, { person, content, row, isDone: correction !== undefined });
  }

  end(): void {
    const found = new Map(this.#proposals.map((proposal) => [proposal.subject, proposal]));
    const { findings } = this.#book;
    for (const [subject, { seq, ...derived }] of this.#derived) {
      const place: Place = { seq, table: "proposals", id: subject };
      const row = found.get(subject);
      if (row === undefined) {
        findings.add(place, { expected: "a row", found: "none" });
        continue;
      }
      findings.compareFields(place, {
        content: [derived.content, row.content],
        person: [derived.person, row.person],
        proposed_at: [derived.proposedAt, row.proposed_at],
        done_at: [derived.doneAt, row.done_at],
      });
    }
    for (const { subject } of this.#proposals) {
      if (this.#derived.has(subject)) continue;
      const place: Place = { seq: undefined, table: "proposals", id: subject };
      findings.add(place, { expected: "a journal row that proposes it", found: "none" });
    }
  }

  #checkPosting(row: OperatorRow, direction: Direction | undefined): void {
    const { debit = null, credit = null } = direction ?? {};
    const isRight = row.debit === debit && row.credit === credit && (row.amount_cents === null) === (debit === null);
    if (isRight) return;
    const expected = describePosting({ debit, credit, amount_cents: direction === undefined ? null : row.amount_cents });
    this.#add(row, `${row.kind} with ${expected}`, describePosting(row));
  }

  /** The detail names the correction, its amount, and its account or receipt. */
  #checkContent(row: OperatorRow, content: string, { name, target }: Correction): void {
    const targets = { account: row.account_id, receipt: row.rail_receipt };
    const expected = JSON.stringify([name, row.amount_cents, ...(target === undefined ? [] : [targets[target]])]);
    if (content !== expected) this.#add(row, `the content ${expected}`, content);
    if (target !== "receipt" && row.rail_receipt !== null) this.#add(row, "no receipt", "a receipt");
  }

  /** The audits of accounts and of transactions check the hashes of their rows. */
  #checkHash(row: OperatorRow): void {
    const { secrets } = this.#book;
    if (secrets === undefined || row.account_id !== null || row.transaction_id !== null) return;
    const content = { accountId: null, transactionId: null, created: proofsIn(row) };
    if (hasHashOf(content, row, secrets.salts)) return;
    this.#add(row, "the content_hash of the row", "another content_hash, kind, detail, receipt or time");
  }

  #follow(
    subject: string,
    { person, content, row, isDone }: { person: string; content: string; row: OperatorRow; isDone: boolean },
  ): void {
    const before = this.#derived.get(subject);
    if (before?.doneAt !== undefined && before.doneAt !== null) {
      this.#add(row, "no row about a subject that is done", row.kind);
    }
    const { seq, recorded_at: recordedAt } = row;
    // An equal proposal keeps its person and its time.
    const kept =
      before?.content === content ? before : { content, person, proposedAt: recordedAt, doneAt: null, seq };
    if (before?.content === content && !isDone) this.#add(row, "a new proposal", "an equal one");
    this.#derived.set(subject, { ...kept, doneAt: isDone ? recordedAt : null, seq });
  }

  #add({ seq }: OperatorRow, expected: string, found: string): void {
    this.#book.findings.add({ seq, table: "journal", id: undefined }, { expected, found });
  }
}

/** Returns three texts, or none of them if the detail has another form. */
function readDetail(detail: string | null): readonly (string | undefined)[] {
  let parts: unknown;
  try {
    parts = JSON.parse(detail ?? "");
  } catch {
    return [];
  }
  const isThreeTexts = Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === "string");
  return isThreeTexts ? (parts as string[]) : [];
}
