import type { Audit } from "../../audit.js";
import { jsonIn } from "../../guarded.js";
import type { AuditedBook } from "../book.js";
import { checkOwnHash } from "../content.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import { type AuditedUsageRow, checkUsage, type CountedUsage, usageSelect } from "./usage.js";

/**
 * Checks the limits of one book: `books` has those of the last row `limits.set`. Then compares what
 * counts against them, in `books` and in `accounts`, with the accepted transactions.
 */
export class LimitsAudit {
  readonly table = "books";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  #content: string | null = null;
  #since: number | null = null;
  #lastRecordedAt = 0;
  /** The first row that can count in the month of the book. */
  #fromSeq: number | undefined;

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Takes the rows of the book in the order of `seq`. */
  row(row: AuditedJournalRow): void {
    if (row.kind === "limits.set") this.#follow(row);
    this.#lastRecordedAt = row.recorded_at;
    const from = Math.max(this.#since ?? Infinity, this.#book.row.month_from ?? 0);
    if (row.recorded_at >= from) this.#fromSeq ??= row.seq;
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const { findings, row } = this.#book;
    const place = { seq: row.head ?? undefined, table: "books", id: row.organization_id } as const;
    findings.compareFields(place, {
      limits: [this.#content, row.limits],
      limits_since: [this.#since, row.limits_since],
    });
    const fromSeq = this.#fromSeq ?? Number.MAX_SAFE_INTEGER;
    const counted = this.#since === null ? undefined : { since: this.#since, fromSeq };
    const [ofBook] = await this.#usage("books", counted, -1);
    if (ofBook !== undefined) this.#check("books", ofBook);
    await this.#auditAccounts(counted);
  }

  #follow(row: AuditedJournalRow): void {
    const { findings } = this.#book;
    checkOwnHash(this.#book, row);
    const [person, limits] = jsonIn("detail", row.detail, "[]") as unknown[];
    if (typeof person !== "string" || person === "" || typeof limits !== "string") {
      findings.onRow(row, "a person and the limits in the detail", String(row.detail));
      return;
    }
    // The time alone says whether a transaction counts.
    if (this.#since === null && row.recorded_at <= this.#lastRecordedAt) {
      findings.onRow(row, "a later time than that of the row before", "the same time");
    }
    this.#content = limits;
    this.#since ??= row.recorded_at;
  }

  /**
   * Compares the accounts with the transactions, as many at a time as may be in memory. Each time
   * one statement reads both, so that both are of one moment.
   */
  async #auditAccounts(counted: CountedUsage | undefined): Promise<void> {
    const { accountsMax } = this.#audit;
    let after = -1;
    for (;;) {
      const rows = await this.#usage("accounts", counted, after);
      for (const row of rows) this.#check("accounts", row);
      after = rows.at(-1)?.key ?? after;
      if (rows.length < accountsMax) return;
    }
  }

  #check(table: "books" | "accounts", row: AuditedUsageRow): void {
    checkUsage(row, { table, findings: this.#book.findings, monthFrom: this.#book.row.month_from });
  }

  #usage(
    of: "books" | "accounts",
    counted: CountedUsage | undefined,
    after: number,
  ): Promise<readonly AuditedUsageRow[]> {
    const { engine, rows, accountsMax: limit } = this.#audit;
    const { sql, bindings } = usageSelect(engine, { of, book: this.#book.row.number, counted, after, limit });
    return rows<AuditedUsageRow>(sql, bindings);
  }
}
