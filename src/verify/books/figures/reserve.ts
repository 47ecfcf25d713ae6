import type { Audit } from "../../audit.js";
import { decimalOf } from "../../format.js";
import { jsonIn } from "../../guarded.js";
import type { AuditedBook } from "../book.js";
import { checkOwnHash } from "../content.js";
import { type AuditedJournalRow, newerRowsUpTo } from "../journal-rows.js";

/** A row of `reserve_places`. */
interface AuditedPlaceRow {
  readonly place: string;
  readonly seq: number;
  readonly amount_cents: number;
  readonly as_of_day: string;
  readonly evidence: string;
  readonly kind: string;
  readonly document_sha256: string | null;
  readonly matures_on: string | null;
  readonly recorded_at: number;
  /** The last row of the book at the moment in which the place was read. */
  readonly book_seq: number;
}

interface Figure {
  readonly seq: number;
  readonly text: string;
}

/**
 * Checks what the operator recorded about the reserve of one book, and compares `reserve_places`
 * with the last figure of each place.
 */
export class ReserveAudit {
  readonly table = "reserve_places";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #figures = new Map<string, Figure>();

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Takes the rows of the book in the order of `seq`. */
  row(row: AuditedJournalRow): void {
    if (row.kind.startsWith("reserve.")) this.#follow(row);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const places = await this.#places();
    const bookSeq = places[0]?.book_seq ?? 0;
    for await (const row of newerRowsUpTo(this.#audit, this.#book.row, bookSeq)) this.row(row);
    const { findings } = this.#book;
    for (const place of places) {
      const figure = this.#figures.get(place.place);
      this.#figures.delete(place.place);
      findings.compare(
        { seq: figure?.seq ?? place.seq, table: "reserve_places", id: undefined },
        { expected: figure?.text ?? "a journal row that records it", found: describe(place) },
      );
    }
    for (const { seq, text } of this.#figures.values()) {
      findings.add({ seq, table: "reserve_places", id: undefined }, { expected: text, found: "no row" });
    }
  }

  #follow(row: AuditedJournalRow): void {
    const { findings } = this.#book;
    const place = { seq: row.seq, table: "journal", id: undefined } as const;
    checkOwnHash(this.#book, row);
    // The rules are compared with the row of the book (journal.ts).
    if (row.kind !== "reserve.recorded") return;
    // Rows from before there were kinds have four parts.
    const [name, amountCents, asOfDay, evidence, kind = "other", document = null, maturesOn = null] = jsonIn(
      "detail",
      row.detail,
      "[]",
    ) as unknown[];
    if (typeof name !== "string" || typeof amountCents !== "number") {
      findings.add(place, { expected: "a place and its figure in the detail", found: String(row.detail) });
      return;
    }
    const terms = { kind: String(kind), document_sha256: textOrNull(document), matures_on: textOrNull(maturesOn) };
    const figure = { ...terms, as_of_day: String(asOfDay), evidence: String(evidence), recorded_at: row.recorded_at };
    const text = describe({ ...figure, place: name, seq: row.seq, amount_cents: amountCents });
    this.#figures.set(name, { seq: row.seq, text });
  }

  /** One statement reads all places and the last row of the book, so all are of one moment. */
  #places(): Promise<readonly AuditedPlaceRow[]> {
    const { engine, rows } = this.#audit;
    const head = `(SELECT COALESCE(MAX(j.seq), 0) FROM ${engine.table("journal")} j WHERE j.book = p.book)`;
    return rows<AuditedPlaceRow>(
      `SELECT p.place, p.seq, p.amount_cents, p.as_of_day, p.evidence, p.recorded_at, p.kind, p.document_sha256, p.matures_on, ${head} AS book_seq
       FROM ${engine.table("reserve_places")} p WHERE p.book = ?`,
      [this.#book.row.number],
    );
  }
}

function describe({
  place,
  seq,
  amount_cents,
  as_of_day,
  evidence,
  recorded_at,
  ...terms
}: Omit<AuditedPlaceRow, "book_seq">): string {
  const at = `on ${as_of_day}, recorded in row ${String(seq)} at ${String(recorded_at)}`;
  const { kind, document_sha256: document, matures_on: maturesOn } = terms;
  const words = `${kind}, document ${document ?? "none"}, matures ${maturesOn ?? "never"}`;
  return `${JSON.stringify(place)} with ${decimalOf(amount_cents)} ${at}, by ${JSON.stringify(evidence)}: ${words}`;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
