import type { JournalKind } from "../../domain/journal.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { guarded } from "../guarded.js";
import { slices } from "../slices.js";
import type { AuditedBook } from "./book.js";
import { hasHashOf, proofsIn } from "./content.js";
import { type AuditedJournalRow, newerRows } from "./journal-rows.js";

/** A row of `freezes`. */
interface AuditedFreezeRow {
  readonly id: string;
  readonly seq: number;
  readonly account_id: string;
  readonly reason_code: string;
  readonly reason: string;
  readonly created_by: string;
  readonly created_at: number;
  readonly lifted_by: string | null;
  readonly lifted_at: number | null;
  readonly lift_reason: string | null;
}

const BEGUN: JournalKind = "account.frozen";
const ENDED: JournalKind = "account.unfrozen";

/**
 * Compares each freeze of one book with its rows in the journal: the one that began it, and the one
 * that ended it, if it was lifted. The reasons, the authors and the times must be those of the
 * rows.
 */
export class FreezesAudit {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  /** The rows about freezes up to the head, by the id of the freeze. */
  readonly #rows = new Map<string, AuditedJournalRow[]>();

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Takes the rows of the book up to its head. */
  row(row: AuditedJournalRow): void {
    const { freeze_id: id } = row;
    if (id === null) return;
    const rows = this.#rows.get(id);
    if (rows === undefined) this.#rows.set(id, [row]);
    else rows.push(row);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const newer = new Map<string, AuditedFreezeRow>();
    for await (const summaries of this.#summaries()) {
      for (const summary of summaries) {
        if (this.#isNewer(summary)) newer.set(summary.id, summary);
        else this.#check(summary.id, summary);
      }
    }
    if (newer.size > 0) {
      for await (const row of newerRows(this.#audit, this.#book.row)) {
        const summary = row.freeze_id === null ? undefined : newer.get(row.freeze_id);
        // A row that lifts the freeze may be newer than the summary.
        if (summary !== undefined && (row.kind === BEGUN || summary.lifted_at !== null)) this.row(row);
      }
      for (const [id, summary] of newer) this.#check(id, summary);
    }
    for (const id of this.#rows.keys()) this.#check(id, undefined);
  }

  /** Whether the freeze reflects a row of the journal after the head. */
  #isNewer({ id, seq, lifted_at: liftedAt }: AuditedFreezeRow): boolean {
    if (seq > (this.#book.row.head ?? 0)) return true;
    return liftedAt !== null && this.#rows.get(id)?.some(({ kind }) => kind === ENDED) !== true;
  }

  #check(id: string, summary: AuditedFreezeRow | undefined): void {
    const rows = this.#rows.get(id) ?? [];
    this.#rows.delete(id);
    guarded(this.#book.findings, { seq: undefined, table: "freezes", id }, () => {
      const check = new FreezeCheck(id, this.#book, summary);
      for (const row of rows) check.row(row);
      check.end();
    });
  }

  #summaries(): AsyncGenerator<readonly AuditedFreezeRow[], void, void> {
    return slices<AuditedFreezeRow>(this.#audit, {
      sql: `
        SELECT id, seq, account_id, reason_code, reason, created_by, created_at, lifted_by, lifted_at, lift_reason
        FROM ${this.#audit.engine.table("freezes")} WHERE book = ?`,
      bindings: [this.#book.row.number],
      key: "seq",
      keyOf: ({ seq }) => seq,
    });
  }
}

class FreezeCheck {
  readonly #id: string;
  readonly #book: AuditedBook;
  readonly #summary: AuditedFreezeRow | undefined;
  #begun: AuditedJournalRow | undefined;
  #ended: AuditedJournalRow | undefined;

  constructor(id: string, book: AuditedBook, summary: AuditedFreezeRow | undefined) {
    this.#id = id;
    this.#book = book;
    this.#summary = summary;
  }

  row(row: AuditedJournalRow): void {
    const { seq, kind } = row;
    const place = { seq, table: "journal", id: this.#id } as const;
    if (this.#begun === undefined) {
      this.#book.findings.compare(place, { expected: BEGUN, found: kind });
      this.#begun = row;
    } else {
      const expected = this.#ended === undefined ? ENDED : "no row after the freeze was lifted";
      this.#book.findings.compare(place, { expected, found: kind });
      this.#book.findings.compareFields(place, { account_id: [this.#begun.account_id, row.account_id] });
      this.#ended = row;
    }
    this.#checkContent(row);
  }

  end(): void {
    const [summary, begun, ended] = [this.#summary, this.#begun, this.#ended];
    const { findings } = this.#book;
    const place: Place = { seq: (ended ?? begun)?.seq ?? summary?.seq, table: "freezes", id: this.#id };
    if (summary === undefined) findings.add(place, { expected: "a row", found: "none" });
    else if (begun === undefined) findings.add(place, { expected: "a journal row that began it", found: "none" });
    else {
      findings.compareFields(place, {
        seq: [begun.seq, summary.seq],
        account_id: [begun.account_id, summary.account_id],
        created_by: [begun.actor, summary.created_by],
        created_at: [begun.recorded_at, summary.created_at],
        lifted_by: [ended?.actor ?? null, summary.lifted_by],
        lifted_at: [ended?.recorded_at ?? null, summary.lifted_at],
      });
      this.#compareReason(place, { name: "reason", expected: begun.reason, found: summary.reason });
      this.#compareReason(place, { name: "lift_reason", expected: ended?.reason ?? null, found: summary.lift_reason });
    }
  }

  /** A finding never contains the text of a caller. */
  #compareReason(
    place: Place,
    { name, expected, found }: { name: string; expected: string | null; found: string | null },
  ): void {
    if (expected === found) return;
    this.#book.findings.add(place, { expected: `the ${name} of the journal row`, found: `another ${name}` });
  }

  #checkContent(row: AuditedJournalRow): void {
    const { secrets, findings } = this.#book;
    const summary = this.#summary;
    if (secrets === undefined || summary === undefined) return;
    const created = row.kind === BEGUN ? [this.#id, summary.reason_code, summary.reason] : [this.#id, ...proofsIn(row)];
    if (hasHashOf({ accountId: row.account_id, transactionId: null, created }, row, secrets.salts)) return;
    findings.add(
      { seq: row.seq, table: "freezes", id: this.#id },
      {
        expected: "the freeze that gives the content_hash of the journal row",
        found: "another id, reason_code, reason or content_hash",
      },
    );
  }
}
