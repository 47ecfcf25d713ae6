import type { Audit } from "../../audit.js";
import { guarded } from "../../guarded.js";
import { SLICE_ROWS, slices } from "../../slices.js";
import type { AuditedBook } from "../book.js";
import { type AuditedJournalRow, newerRows } from "../journal-rows.js";
import { AccountCheck, type AuditedAccountRow, type Doubt } from "./account-check.js";
import type { AuditedHolderRow } from "./holders.js";

/** A row of `accounts` with its row of `account_holders`. */
interface JoinedRow extends AuditedAccountRow, Omit<AuditedHolderRow, "seq"> {
  /** Null if the account has no holder. */
  readonly holder_seq: number | null;
}

/** An account whose row reflects newer rows of the journal than the head of the audit. */
interface MovedAccount {
  readonly check: AccountCheck;
  readonly row: JoinedRow;
}

/** More accounts in memory at once would cost more than reading the newer rows again. */
const MOVED_MAX = 20_000;

/**
 * Follows accounts of one book through the journal, and compares them with `accounts` and
 * `account_holders`. These tables are read after the journal, while a server changes them.
 */
export class AccountsAudit {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #includes: (id: string) => boolean;
  readonly #checks = new Map<string, AccountCheck>();
  readonly #moved = new Map<string, MovedAccount>();
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
    if (id === null || !this.#includes(id)) return;
    let check = this.#checks.get(id);
    if (check === undefined) this.#checks.set(id, (check = this.#newCheck(id)));
    this.#step(id, check, row);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const { head } = this.#book.row;
    for await (const rows of this.#joinedRows()) {
      for (const row of rows) {
        const { id } = row;
        if (!this.#includes(id)) continue;
        this.#audit.coverage.accounts += 1;
        const check = this.#checks.get(id) ?? this.#newCheck(id);
        this.#checks.delete(id);
        if (row.last_seq > (head ?? 0)) this.#moved.set(id, { check, row });
        else this.#compare(id, check, row);
      }
      if (this.#moved.size >= MOVED_MAX) await this.#endMoved();
    }
    await this.#endMoved();
    for (const [id, check] of this.#checks) this.#compare(id, check, undefined);
    await this.#decideDoubts();
  }

  /** A rail takes a deposit back from an account that is frozen, too. */
  async #decideDoubts(): Promise<void> {
    const { engine, rows } = this.#audit;
    const sql = `
      SELECT id FROM ${engine.table("transactions")}
      WHERE book = ? AND deposit_id IS NOT NULL AND id IN (SELECT value FROM ${engine.jsonItems("?")})`;
    for (let from = 0; from < this.#doubts.length; from += SLICE_ROWS) {
      const doubts = this.#doubts.slice(from, from + SLICE_ROWS);
      const ids = JSON.stringify(doubts.map(({ transactionId }) => transactionId));
      const right = new Set(
        (await rows<{ readonly id: string }>(sql, [this.#book.row.number, ids])).map(({ id }) => id),
      );
      for (const { seq, accountId: id, transactionId, expected, found } of doubts) {
        if (!right.has(transactionId)) this.#book.findings.add({ seq, table: "journal", id }, { expected, found });
      }
    }
  }

  /** Follows the moved accounts up to the row of the journal that each of them names. */
  async #endMoved(): Promise<void> {
    if (this.#moved.size === 0) return;
    for await (const row of newerRows(this.#audit, this.#book.row)) {
      const { account_id: id, seq } = row;
      const moved = id === null ? undefined : this.#moved.get(id);
      if (id !== null && moved !== undefined && seq <= moved.row.last_seq) this.#step(id, moved.check, row);
    }
    for (const [id, { check, row }] of this.#moved) this.#compare(id, check, row);
    this.#moved.clear();
  }

  #step(id: string, check: AccountCheck, row: AuditedJournalRow): void {
    if (this.#broken.has(id)) return;
    this.#guard(id, () => {
      check.row(row);
    });
  }

  #compare(id: string, check: AccountCheck, row: JoinedRow | undefined): void {
    if (this.#broken.has(id)) return;
    this.#guard(id, () => {
      if (row === undefined) check.end(undefined, undefined);
      else check.end(row, row.holder_seq === null ? undefined : { ...row, seq: row.holder_seq });
    });
  }

  #guard(id: string, step: () => void): void {
    const place = { seq: undefined, table: "accounts", id } as const;
    if (!guarded(this.#book.findings, place, step)) this.#broken.add(id);
  }

  #newCheck(id: string): AccountCheck {
    return new AccountCheck(this.#audit, this.#book, { id, doubts: this.#doubts });
  }

  /** One statement reads both rows of an account, so that both are of one moment. */
  #joinedRows(): AsyncGenerator<readonly JoinedRow[], void, void> {
    const { table } = this.#audit.engine;
    return slices<JoinedRow>(this.#audit, {
      sql: `
        SELECT a.*, h.seq AS holder_seq, h.is_open, h.user_id, h.phone_number, h.phone_number_index,
          h.phone_number_changed_at, h.email, h.email_index, h.email_changed_at, h.content_salt
        FROM ${table("accounts")} a
        LEFT JOIN ${table("account_holders")} h ON h.account_id = a.id AND h.book = a.book
        WHERE a.book = ?`,
      bindings: [this.#book.row.number],
      key: "a.seq",
      keyOf: ({ seq }) => seq,
    });
  }
}
