import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { describePosting, type Direction } from "../format.js";
import { guarded } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { hasHashOf, proofsIn } from "./content.js";
import { type JournalRow, newerRows } from "./journal-rows.js";

/** A row of `proposals`. */
interface ProposalRow {
  readonly subject: string;
  readonly content: string;
  readonly person: string;
  readonly proposed_at: number;
  readonly done_at: number | null;
  /** The last row of the book at the moment in which the proposal was read. */
  readonly book_seq: number;
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

/** What the journal says about one subject. */
interface Derived {
  readonly content: string;
  readonly person: string;
  readonly proposedAt: number;
  readonly doneAt: number | null;
  readonly seq: number;
}

/**
 * Checks what operators proposed and did in one book, and compares it with `proposals`. People
 * propose, so the proposals are few, and all of them stay in memory.
 */
export class ProposalsAudit {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #derived = new Map<string, Derived>();

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Takes the rows of the book in the order of `seq`, up to its head. */
  row(row: JournalRow): void {
    if (!Object.hasOwn(CORRECTIONS, row.kind) && !PROPOSALS.has(row.kind)) return;
    const place: Place = { seq: row.seq, table: "journal", id: undefined };
    guarded(this.#book.findings, place, () => {
      this.#check(row);
    });
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const found = await this.#proposals();
    const bookSeq = found[0]?.book_seq ?? 0;
    if (bookSeq > (this.#book.row.head ?? 0)) {
      for await (const row of newerRows(this.#audit, this.#book.row)) {
        if (row.seq <= bookSeq) this.row(row);
      }
    }
    this.#compare(new Map(found.map((proposal) => [proposal.subject, proposal])));
  }

  /** One statement reads all proposals and the last row of the book, so all are of one moment. */
  async #proposals(): Promise<readonly ProposalRow[]> {
    const { engine, rows } = this.#audit;
    const head = `(SELECT COALESCE(MAX(j.seq), 0) FROM ${engine.table("journal")} j WHERE j.book = p.book)`;
    return rows<ProposalRow>(
      `
        SELECT p.subject, p.content, p.person, p.proposed_at, p.done_at, ${head} AS book_seq
        FROM ${engine.table("proposals")} p WHERE p.book = ?`,
      [this.#book.row.number],
    );
  }

  #check(row: JournalRow): void {
    const correction = CORRECTIONS[row.kind];
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

  #compare(found: ReadonlyMap<string, ProposalRow>): void {
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
    for (const subject of found.keys()) {
      if (this.#derived.has(subject)) continue;
      const place: Place = { seq: undefined, table: "proposals", id: subject };
      findings.add(place, { expected: "a journal row that proposes it", found: "none" });
    }
  }

  #checkPosting(row: JournalRow, direction: Direction | undefined): void {
    const { debit = null, credit = null } = direction ?? {};
    const isRight = row.debit === debit && row.credit === credit && (row.amount_cents === null) === (debit === null);
    if (isRight) return;
    const expected = describePosting({
      debit,
      credit,
      amount_cents: direction === undefined ? null : row.amount_cents,
    });
    this.#add(row, `${row.kind} with ${expected}`, describePosting(row));
  }

  /** The detail names the correction, its amount, and its account or receipt. */
  #checkContent(row: JournalRow, content: string, { name, target }: Correction): void {
    const targets = { account: row.account_id, receipt: row.rail_receipt };
    const expected = JSON.stringify([name, row.amount_cents, ...(target === undefined ? [] : [targets[target]])]);
    if (content !== expected) this.#add(row, `the content ${expected}`, content);
    if (target !== "receipt" && row.rail_receipt !== null) this.#add(row, "no receipt", "a receipt");
  }

  /** The audits of accounts and of transactions check the hashes of their rows. */
  #checkHash(row: JournalRow): void {
    const { secrets } = this.#book;
    if (secrets === undefined || row.account_id !== null || row.transaction_id !== null) return;
    const content = { accountId: null, transactionId: null, created: proofsIn(row) };
    if (hasHashOf(content, row, secrets.salts)) return;
    this.#add(row, "the content_hash of the row", "another content_hash, kind, detail, receipt or time");
  }

  #follow(
    subject: string,
    { person, content, row, isDone }: { person: string; content: string; row: JournalRow; isDone: boolean },
  ): void {
    const before = this.#derived.get(subject);
    if (before?.doneAt !== undefined && before.doneAt !== null) {
      this.#add(row, "no row about a subject that is done", row.kind);
    }
    const { seq, recorded_at: recordedAt } = row;
    // An equal proposal keeps its person and its time.
    const kept = before?.content === content ? before : { content, person, proposedAt: recordedAt, doneAt: null, seq };
    if (before?.content === content && !isDone) this.#add(row, "a new proposal", "an equal one");
    this.#derived.set(subject, { ...kept, doneAt: isDone ? recordedAt : null, seq });
  }

  #add({ seq }: JournalRow, expected: string, found: string): void {
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
