import { BOOK_ACCOUNTS, type BookAccount } from "../../../domain/journal.js";
import type { RowOf } from "../../../model/column.js";
import type { ACCOUNT_MARKS } from "../../../model/seals.js";
import type { Audit } from "../../audit.js";
import type { Place } from "../../findings.js";
import { decimalOf, post, type PostingColumns } from "../../format.js";
import type { AuditedBook } from "../book.js";
import type { AuditedJournalRow } from "../journal-rows.js";

type AccountMarkRow = Pick<RowOf<typeof ACCOUNT_MARKS>, "seq" | "account_id">;

/** All KESC that entered and left circulation up to a row. */
const TURNOVER = ["minted", "redeemed"] as const;
const NAMES = [...BOOK_ACCOUNTS, ...TURNOVER];
/** The book accounts with what is in circulation. Repeated on purpose, as ASSETS is. */
const OF_USERS: ReadonlySet<string> = new Set(["available", "held"]);

/** The sums are text, because a driver rounds large numbers. */
type BookMarkRow = Readonly<Record<BookAccount | (typeof TURNOVER)[number], string>> & { readonly seq: number };

/**
 * Compares the marks of one book with the rows of the journal that they name. A mark that is
 * missing is no error: the reads of the past are right without it, and only take longer.
 */
export class MarksAudit {
  readonly table = "book_marks";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #sums: Record<string, bigint> = Object.fromEntries(NAMES.map((name) => [name, 0n]));

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
  }

  /** Takes the rows of the book in the order of `seq`, up to its head. */
  async slice(rows: readonly AuditedJournalRow[]): Promise<void> {
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return;
    const range = [this.#book.row.number, first.seq, last.seq];
    const { table } = this.#audit.engine;
    const accountMarks = await this.#audit.rows<AccountMarkRow>(
      `SELECT seq, account_id FROM ${table("account_marks")} WHERE book = ? AND seq >= ? AND seq <= ?`,
      range,
    );
    const sums = NAMES.map((name) => `CAST(${name}_cents AS TEXT) AS ${name}`).join(", ");
    const bookMarks = await this.#audit.rows<BookMarkRow>(
      `SELECT seq, ${sums} FROM ${table("book_marks")} WHERE book = ? AND seq >= ? AND seq <= ?`,
      range,
    );
    this.#compare(rows, {
      accounts: new Map(accountMarks.map((mark) => [mark.seq, mark])),
      books: new Map(bookMarks.map((mark) => [mark.seq, mark])),
    });
  }

  /**
   * Called once, after the last row. Marks past the head are those of rows that were added since.
   */
  async end(): Promise<void> {
    const { number, head } = this.#book.row;
    const { table } = this.#audit.engine;
    for (const name of ["account_marks", "book_marks"] as const) {
      for (const [bound, seq] of [
        [">", head ?? 0],
        ["<", 1],
      ] as const) {
        const [beyond] = await this.#audit.rows<{ readonly seq: number }>(
          `SELECT m.seq FROM ${table(name)} m WHERE m.book = ? AND m.seq ${bound} ?
             AND NOT EXISTS (SELECT 1 FROM ${table("journal")} j WHERE j.book = m.book AND j.seq = m.seq)
           ORDER BY m.seq LIMIT 1`,
          [number, seq],
        );
        if (beyond === undefined) continue;
        const place: Place = { seq: beyond.seq, table: name, id: undefined };
        this.#book.findings.add(place, { expected: "a row of the journal", found: "none" });
      }
    }
  }

  #compare(
    rows: readonly AuditedJournalRow[],
    marks: {
      readonly accounts: ReadonlyMap<number, AccountMarkRow>;
      readonly books: ReadonlyMap<number, BookMarkRow>;
    },
  ): void {
    const { findings } = this.#book;
    for (const row of rows) {
      this.#post(row);
      const account = marks.accounts.get(row.seq);
      if (account !== undefined && account.account_id !== row.account_id) {
        const place: Place = { seq: row.seq, table: "account_marks", id: undefined };
        findings.add(place, { expected: row.account_id ?? "no account", found: account.account_id });
      }
      const book = marks.books.get(row.seq);
      if (book === undefined) continue;
      const place: Place = { seq: row.seq, table: "book_marks", id: undefined };
      findings.compare(place, { expected: describe(this.#sums), found: describe(book) });
    }
  }

  #post(row: PostingColumns): void {
    const { debit, credit } = row;
    const amount = post(this.#sums, row);
    if (OF_USERS.has(String(debit)) === OF_USERS.has(String(credit))) return;
    const name = OF_USERS.has(String(credit)) ? "minted" : "redeemed";
    this.#sums[name] = (this.#sums[name] ?? 0n) + amount;
  }
}

function describe(sums: object): string {
  const centsOf = new Map<string, bigint | string>(Object.entries(sums));
  return NAMES.map((name) => `${name} ${decimalOf(centsOf.get(name) ?? 0n)}`).join(", ");
}
