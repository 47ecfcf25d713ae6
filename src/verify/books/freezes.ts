import type { JournalKind } from "../../domain/journal.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import type { AuditedBook } from "./book-stream.js";
import { hasHashOf, type HashedRow } from "./content.js";
import { checkGroups, type GroupCheck, type GroupKey } from "./groups.js";

/** A row of `freezes`. */
interface FreezeRow extends GroupKey {
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

/** A row of the journal. `id` is the id of its freeze. */
interface FreezeJournalRow extends GroupKey, HashedRow {
  readonly account_id: string | null;
  readonly actor: string;
  readonly reason: string;
}

const BEGUN: JournalKind = "account.frozen";
const ENDED: JournalKind = "account.unfrozen";

/**
 * Compares each freeze with its rows in the journal: the one that began it, and the one that ended
 * it, if it was lifted. The reasons, the authors and the times must be those of the rows.
 */
export async function auditFreezes(audit: Audit): Promise<void> {
  const { snapshot } = audit;
  const { byCodeUnit, table, hex } = snapshot;
  await checkGroups<FreezeRow, FreezeJournalRow>(audit, {
    table: "freezes",
    summaries: snapshot.rows(`
      SELECT book, id, seq, account_id, reason_code, reason, created_by, created_at, lifted_by, lifted_at, lift_reason
      FROM ${table("freezes")} ORDER BY book, id ${byCodeUnit}`),
    rows: snapshot.rows(`
      SELECT book, freeze_id AS id, seq, account_id, kind, actor, reason, recorded_at,
        ${hex("content_hash")} AS content_hash
      FROM ${table("journal")} WHERE freeze_id IS NOT NULL ORDER BY book, freeze_id ${byCodeUnit}, seq`),
    check: ({ key, book, summary }) => new FreezeCheck(key.id ?? "", book, summary),
  });
}

class FreezeCheck implements GroupCheck<FreezeJournalRow> {
  readonly #id: string;
  readonly #book: AuditedBook;
  readonly #summary: FreezeRow | undefined;
  #begun: FreezeJournalRow | undefined;
  #ended: FreezeJournalRow | undefined;

  constructor(id: string, book: AuditedBook, summary: FreezeRow | undefined) {
    this.#id = id;
    this.#book = book;
    this.#summary = summary;
  }

  row(row: FreezeJournalRow): void {
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

  #checkContent(row: FreezeJournalRow): void {
    const { secrets, findings } = this.#book;
    const summary = this.#summary;
    if (secrets === undefined || summary === undefined) return;
    const created = row.kind === BEGUN ? [this.#id, summary.reason_code, summary.reason] : [this.#id];
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
