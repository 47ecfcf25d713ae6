import type { Audit } from "../../audit.js";
import { guarded } from "../../guarded.js";
import { rowsWithIds, slicesAlongSeq } from "../../slices.js";
import type { AuditedBook } from "../book.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import { compareTable } from "../table-audit.js";
import { AccountCheck, type Doubt } from "./account-check.js";
import type { AuditedAccountRow } from "./holders.js";

/**
 * Follows accounts of one book through the journal, and compares them with `accounts` and
 * `account_holders`. These tables are read after the journal, while a server changes them.
 */
export class AccountsAudit {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #includes: (id: string) => boolean;
  readonly #checks = new Map<string, AccountCheck>();
  /** What only the transactions can decide. Hardly any account has one. */
  readonly #doubts: Doubt[] = [];
  /** The accounts of which a row made the check throw. */
  readonly #broken = new Set<string>();

  /** `includes` says which accounts to follow. */
  constructor(audit: Audit, book: AuditedBook, includes: (id: string) => boolean) {
    this.#audit = audit;
    this.#book = book;
    this.#includes = includes;
  }

  /** Takes the rows of the book in the order of `seq`, up to its head. */
  row(row: AuditedJournalRow): void {
    const { account_id: id } = row;
    if (id === null || !this.#includes(id) || this.#broken.has(id)) return;
    let check = this.#checks.get(id);
    if (check === undefined) this.#checks.set(id, (check = this.#newCheck(id)));
    const place = { seq: undefined, table: "accounts", id } as const;
    if (!guarded(this.#book.findings, place, check.row.bind(check, row))) this.#broken.add(id);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    await compareTable(this.#audit, this.#book, {
      table: "accounts",
      derived: this.#checks,
      rows: this.#joinedRows(),
      idOf: ({ id }) => id,
      asOf: ({ last_seq: lastSeq }) => lastSeq,
      follow: this.row.bind(this),
      subjectOf: ({ account_id: id }) => id,
      compare: (id, check = this.#newCheck(id), row) => {
        // What made a row throw has its finding.
        if (!this.#broken.has(id)) check.end(row);
      },
    });
    await this.#decideDoubts();
  }

  /** A rail takes a deposit back from an account that is frozen, too. */
  async #decideDoubts(): Promise<void> {
    const { table } = this.#audit.engine;
    const sql = `SELECT id FROM ${table("transactions")} WHERE book = ? AND deposit_id IS NOT NULL AND id`;
    const ids = this.#doubts.map(({ transactionId }) => transactionId);
    const right = new Set<string>();
    const found = rowsWithIds<{ readonly id: string }>(this.#audit, { sql, bindings: [this.#book.row.number] }, ids);
    for await (const { id } of found) right.add(id);
    for (const { seq, accountId, transactionId, expected, found } of this.#doubts) {
      if (!right.has(transactionId)) this.#book.findings.onRow({ seq }, expected, found, accountId);
    }
  }

  #newCheck(id: string): AccountCheck {
    return new AccountCheck(this.#audit, this.#book, { id, doubts: this.#doubts });
  }

  /** One statement reads both rows of an account, so that both are of one moment. */
  async *#joinedRows(): AsyncGenerator<readonly AuditedAccountRow[], void, void> {
    const { table } = this.#audit.engine;
    const all = slicesAlongSeq<AuditedAccountRow>(this.#audit, {
      sql: `
        SELECT a.*, h.seq AS holder_seq, h.is_open, h.user_id, h.phone_number, h.phone_number_index,
          h.phone_number_changed_at, h.email, h.email_index, h.email_changed_at, h.content_salt
        FROM ${table("accounts")} a
        LEFT JOIN ${table("account_holders")} h ON h.account_id = a.id AND h.book = a.book
        WHERE a.book = ?`,
      bindings: [this.#book.row.number],
      alias: "a",
    });
    for await (const rows of all) {
      const own = rows.filter(({ id }) => this.#includes(id));
      this.#audit.coverage.accounts += own.length;
      yield own;
    }
  }
}
