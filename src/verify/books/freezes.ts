import type { JournalKind } from "../../domain/journal.js";
import type { FREEZES } from "../../model/accounts.js";
import type { RowOf } from "../../model/column.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { BegunAndEndedAudit } from "./begun-and-ended.js";
import type { AuditedBook } from "./book.js";
import { hasHashOf, proofsIn } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";

type AuditedFreezeRow = RowOf<typeof FREEZES>;

const BEGUN: JournalKind = "account.frozen";
const ENDED: JournalKind = "account.unfrozen";

/**
 * Compares each freeze of one book with its rows in the journal: the one that began it, and the one
 * that ended it, if it was lifted. The reasons, the authors and the times must be those of the
 * rows.
 */
export function freezesAudit(audit: Audit, book: AuditedBook): BegunAndEndedAudit<AuditedFreezeRow> {
  return new BegunAndEndedAudit<AuditedFreezeRow>(audit, book, {
    table: "freezes",
    begun: BEGUN,
    ended: ENDED,
    idOf: ({ freeze_id: id }) => id,
    endedAt: ({ lifted_at: liftedAt }) => liftedAt,
    compare: (id, rows, summary) => {
      const check = new FreezeCheck(id, book, summary);
      for (const row of rows) check.row(row);
      check.end();
    },
  });
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
