import type { BookAccount } from "../../domain/journal.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { describePosting, type Direction } from "../format.js";
import { guarded } from "../guarded.js";
import type { AuditedBook } from "./book.js";
import { hasHashOf, proofsIn } from "./content.js";
import { type AuditedJournalRow, newerRows } from "./journal-rows.js";

/** A row of `proposals`. */
interface AuditedProposalRow {
  readonly subject: string;
  readonly content: string;
  readonly person: string;
  readonly proposed_at: number;
  readonly done_at: number | null;
  /** The last row of the book at the moment in which the proposal was read. */
  readonly book_seq: number;
}

/** The content of a proposal: its name, its amount, and what stands behind them. */
type ProposedContent = readonly unknown[];

interface ProposedCorrection {
  /** The posting. None moves no money. */
  readonly posting: (row: AuditedJournalRow) => Direction | undefined;
  /** The name of the correction in the content of a proposal. */
  readonly name: string;
  /** What the content has behind the amount. */
  readonly targets: (row: AuditedJournalRow, content: ProposedContent) => ProposedContent;
  /** Whether the row has the receipt of what moved. */
  readonly hasReceipt: boolean;
  readonly account: "always" | "never" | "maybe";
}

const always = (debit: BookAccount, credit: BookAccount) => (): Direction => ({ debit, credit });
const payerOf = ({ account_id: id }: AuditedJournalRow): BookAccount => (id === null ? "shortfall" : "available");
const accountIn = ({ account_id: id }: AuditedJournalRow): ProposedContent => (id === null ? [] : [id]);
const receiptIn = ({ rail_receipt: receipt }: AuditedJournalRow): ProposedContent => [receipt];
const RECEIPT = { targets: receiptIn, hasReceipt: true, account: "never" } as const;
const ACCOUNT = { targets: accountIn, hasReceipt: false, account: "always" } as const;

// Repeated on purpose: an audit must not depend on the code that it audits.
const CORRECTIONS: Readonly<Record<string, ProposedCorrection>> = {
  "book.covered": {
    posting: always("reserve", "shortfall"),
    name: "coverShortfall",
    targets: () => [],
    hasReceipt: false,
    account: "never",
  },
  "book.recovered": { ...ACCOUNT, posting: always("available", "shortfall"), name: "recoverShortfall" },
  "book.allocated": { ...ACCOUNT, posting: always("unallocated", "available"), name: "allocate" },
  "book.returned": { ...RECEIPT, posting: always("unallocated", "reserve"), name: "returnUnallocated" },
  "book.received": { ...RECEIPT, posting: always("reserve", "unallocated"), name: "bookReceipt" },
  "book.paid": {
    posting: (row) => ({ debit: payerOf(row), credit: "reserve" }),
    name: "bookPayment",
    targets: (row) => [row.rail_receipt, ...accountIn(row)],
    hasReceipt: true,
    account: "maybe",
  },
  "book.adjusted": {
    posting: (row) =>
      row.debit === "reserve"
        ? { debit: "reserve", credit: row.account_id === null ? "unallocated" : "available" }
        : { debit: payerOf(row), credit: "reserve" },
    name: "adjustMovement",
    // Only the content says which movement it is.
    targets: (row, content) => [content[2], row.debit === "reserve" ? "in" : "out", ...accountIn(row)],
    hasReceipt: false,
    account: "maybe",
  },
  "book.transferred": {
    posting: () => undefined,
    name: "explainTransfer",
    targets: (row, content) => [row.rail_receipt, content[3] === "in" ? "in" : "out"],
    hasReceipt: true,
    account: "never",
  },
};
const PROPOSALS: ReadonlySet<string> = new Set(["book.proposed", "transaction.resolution_proposed"]);

/** Whether a row of this kind may lack an account, and whether it may have one. */
export function accountsOf(kind: string): { readonly mayLack: boolean; readonly mayHave: boolean } {
  const account = CORRECTIONS[kind]?.account ?? (kind === "book.proposed" ? "never" : "always");
  return { mayLack: account !== "always", mayHave: account !== "never" };
}

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
  row(row: AuditedJournalRow): void {
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
  async #proposals(): Promise<readonly AuditedProposalRow[]> {
    const { engine, rows } = this.#audit;
    const head = `(SELECT COALESCE(MAX(j.seq), 0) FROM ${engine.table("journal")} j WHERE j.book = p.book)`;
    return rows<AuditedProposalRow>(
      `
        SELECT p.subject, p.content, p.person, p.proposed_at, p.done_at, ${head} AS book_seq
        FROM ${engine.table("proposals")} p WHERE p.book = ?`,
      [this.#book.row.number],
    );
  }

  #check(row: AuditedJournalRow): void {
    const correction = CORRECTIONS[row.kind];
    const [subject, person, content] = readDetail(row.detail);
    if (subject === undefined || person === undefined || content === undefined) {
      this.#add(row, "a subject, a person and a content in the detail", String(row.detail));
      return;
    }
    this.#checkPosting(row, correction?.posting(row));
    if (correction !== undefined) this.#checkContent(row, content, correction);
    this.#checkHash(row);
    this.#follow(subject, { person, content, row, isDone: correction !== undefined });
  }

  #compare(found: ReadonlyMap<string, AuditedProposalRow>): void {
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

  #checkPosting(row: AuditedJournalRow, direction: Direction | undefined): void {
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
  #checkContent(
    row: AuditedJournalRow,
    content: string,
    { name, targets, hasReceipt, posting }: ProposedCorrection,
  ): void {
    const said = readContent(content);
    const amount = posting(row) === undefined ? amountIn(said) : row.amount_cents;
    const expected = JSON.stringify([name, amount, ...targets(row, said)]);
    if (content !== expected) this.#add(row, `the content ${expected}`, content);
    if (!hasReceipt && row.rail_receipt !== null) this.#add(row, "no receipt", "a receipt");
  }

  /** The audits of accounts and of transactions check the hashes of their rows. */
  #checkHash(row: AuditedJournalRow): void {
    const { secrets } = this.#book;
    if (secrets === undefined || row.account_id !== null || row.transaction_id !== null) return;
    const content = { accountId: null, transactionId: null, created: proofsIn(row) };
    if (hasHashOf(content, row, secrets.salts)) return;
    this.#add(row, "the content_hash of the row", "another content_hash, kind, detail, receipt or time");
  }

  #follow(
    subject: string,
    { person, content, row, isDone }: { person: string; content: string; row: AuditedJournalRow; isDone: boolean },
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

  #add({ seq }: AuditedJournalRow, expected: string, found: string): void {
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

/** Returns the parts of a content, or none if it has another form. */
function readContent(content: string): ProposedContent {
  try {
    const parts: unknown = JSON.parse(content);
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** The amount of a row that moves no money in the book. */
function amountIn([, amount]: ProposedContent): number | undefined {
  return typeof amount === "number" && Number.isSafeInteger(amount) && amount > 0 ? amount : undefined;
}
