import type { Audit } from "../../audit.js";
import { decimalOf } from "../../format.js";
import { guarded } from "../../guarded.js";
import { rowsWithIds, slicesAlongSeq } from "../../slices.js";
import { RowsAlongSeq } from "../along-seq.js";
import type { AuditedBook } from "../book.js";
import { type AuditedJournalRow, newerRows } from "../journal-rows.js";
import type { AuditedTransactionRow } from "../transactions/transaction-check.js";
import { type AuditedDepositRow, DepositCheck } from "./deposit-check.js";

/** A deposit of which rows are to come. */
interface OpenDeposit {
  readonly summary: AuditedDepositRow;
  readonly check: DepositCheck;
}

/** A row of the journal about a deposit. */
interface DepositEvent {
  readonly id: string;
  readonly row: AuditedJournalRow;
  readonly transaction: AuditedTransactionRow | undefined;
}

type OwnTransaction = AuditedTransactionRow & { readonly deposit_id: string };

/** The row of the journal whose number a deposit has. */
type OtherReceiptRow = Pick<AuditedJournalRow, "seq" | "transaction_id" | "kind" | "detail"> & {
  readonly rail_receipt: string;
};

const OWN_KIND = /^deposit\./;
const NAMES_ANOTHER = / RECEIPT_ALREADY_USED/;

/**
 * Compares the deposits of one book with the journal. Both are read along `seq`, so only those with
 * rows to come stay in memory. Checks, too, that nothing else takes the shillings of deposits.
 */
export class DepositsAudit {
  readonly table = "deposits";
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #rows: RowsAlongSeq<AuditedDepositRow>;
  readonly #open = new Map<string, OpenDeposit>();
  /** The transactions about deposits, by their `seq`, until their row comes. */
  readonly #transactions = new Map<number, OwnTransaction>();
  /** The seq up to which `deposits` was read. */
  #readTo = 0;
  /** The part of the book account `unallocated` that belongs to no deposit. */
  #othersCents = 0n;

  constructor(audit: Audit, book: AuditedBook) {
    this.#audit = audit;
    this.#book = book;
    const { table } = audit.engine;
    this.#rows = new RowsAlongSeq(audit, book, {
      alias: "d",
      columns: COLUMNS,
      tables: `${table("deposits")} d LEFT JOIN ${table("account_holders")} h ON h.account_id = d.account_id
        LEFT JOIN ${table("accounts")} a ON a.id = h.account_id`,
    });
  }

  /** Called once, before the first row. */
  async begin(): Promise<void> {
    for await (const rows of this.#rows.newerThanJournal()) this.#openAll(rows);
  }

  /** Takes a transaction about a deposit, before the slice with its first row. */
  transaction(row: AuditedTransactionRow): void {
    if (isOwn(row)) this.#transactions.set(row.seq, row);
  }

  /** Takes the rows of the book in the order of `seq`, up to its head. */
  async slice(rows: readonly AuditedJournalRow[]): Promise<void> {
    const { seq: to = 0 } = rows.at(-1) ?? {};
    for await (const found of this.#rows.between(this.#readTo, to)) this.#openAll(found);
    this.#readTo = to;
    const strays: DepositEvent[] = [];
    for (const row of rows) {
      const event = eventOf(row, this.#transactions);
      this.#transactions.delete(row.seq);
      if (event === undefined) this.#followOthers(row);
      else if (this.#open.has(event.id)) this.#step(event);
      else strays.push(event);
    }
    if (strays.length > 0) await this.#addStrays(strays, to);
    await this.#checkSameNumbers(rows);
  }

  /** Called once, after the last row. */
  async end(): Promise<void> {
    const current = await this.#rows.withIds([...this.#open.keys()]);
    if (current.size > 0) {
      const newest = Math.max(...[...current.values()].map((row) => row.book_seq));
      const transactions = await this.#newerTransactions(newest);
      for await (const row of newerRows(this.#audit, this.#book.row)) {
        const event = eventOf(row, transactions);
        if (event === undefined || row.seq > (current.get(event.id)?.book_seq ?? 0)) continue;
        this.#guard(event.id, () => this.#open.get(event.id)?.check.row(row, event.transaction));
      }
    }
    for (const [id, { summary, check }] of this.#open) this.#close(id, check, current.get(id) ?? summary);
  }

  #openAll(rows: readonly AuditedDepositRow[]): void {
    for (const summary of rows) {
      const check = new DepositCheck(summary, this.#book);
      if (!this.#open.has(summary.id)) this.#open.set(summary.id, { summary, check });
    }
  }

  #step({ id, row, transaction }: DepositEvent): void {
    const opened = this.#open.get(id);
    if (opened === undefined) return;
    const { summary, check } = opened;
    const isRight = this.#guard(id, () => {
      check.row(row, transaction);
    });
    if (!isRight) this.#open.delete(id);
    else if (check.isAt(summary)) this.#close(id, check, summary);
  }

  #close(id: string, check: DepositCheck, summary: AuditedDepositRow): void {
    this.#open.delete(id);
    this.#guard(id, () => {
      check.end(summary);
    });
  }

  #guard(id: string, step: () => void): boolean {
    return guarded(this.#book.findings, { seq: undefined, table: "deposits", id }, step);
  }

  /** Follows what an order or a correction left over, and what a correction takes of it. */
  #followOthers(row: AuditedJournalRow): void {
    const { debit, credit, amount_cents: amountCents } = row;
    if ((debit !== "unallocated" && credit !== "unallocated") || !Number.isSafeInteger(amountCents)) return;
    const amount = BigInt(amountCents ?? 0);
    this.#othersCents += credit === "unallocated" ? amount : -amount;
    if (this.#othersCents >= 0n) return;
    const expected = "no use of the shillings of deposits that wait";
    this.#book.findings.onRow(row, expected, `${decimalOf(-this.#othersCents)} of them`);
    // One row causes one finding.
    this.#othersCents = 0n;
  }

  /** A deposit may name an earlier row that has its number from another source. */
  async #checkSameNumbers(rows: readonly AuditedJournalRow[]): Promise<void> {
    const naming = rows.filter(({ kind, detail }) => kind === "deposit.received" && NAMES_ANOTHER.test(detail ?? ""));
    if (naming.length === 0) return;
    const sql = `
      SELECT j.seq, j.transaction_id, j.kind, j.detail, j.rail_receipt FROM ${this.#audit.engine.table("journal")} j
      WHERE j.book = ? AND j.rail_receipt`;
    const others = new Map<string, OtherReceiptRow>();
    const names = naming.map(({ detail }) => wordsOf(detail)[2] ?? "");
    for await (const row of rowsWithIds<OtherReceiptRow>(
      this.#audit,
      { sql, bindings: [this.#book.row.number] },
      names,
    )) {
      others.set(row.rail_receipt, row);
    }
    for (const row of naming) {
      const [deposit, , receipt = "", id] = wordsOf(row.detail);
      const other = others.get(receipt);
      const isRight =
        other !== undefined &&
        other.seq < row.seq &&
        numberIn(receipt) === numberIn(row.rail_receipt ?? "") &&
        id === (other.transaction_id ?? (OWN_KIND.test(other.kind) ? wordsOf(other.detail)[0] : undefined));
      const expected = "an earlier row with the number from another source";
      if (!isRight) this.#book.findings.onRow(row, expected, [receipt, id].join(" "), deposit);
    }
  }

  /** Adds findings on rows that belong to no open deposit. None is right. */
  async #addStrays(strays: readonly DepositEvent[], to: number): Promise<void> {
    const { findings } = this.#book;
    const summaries = await this.#rows.withIds(strays.map(({ id }) => id));
    for (const event of strays) {
      const { id, row } = event;
      const { seq, kind } = row;
      const summary = summaries.get(id);
      if (summary !== undefined && summary.seq > to) this.#openAll([summary]);
      if (this.#open.has(id)) this.#step(event);
      else if (findings.isThere({ seq, table: "deposits", id }, summary, "a row")) {
        findings.onRow(row, `no row of it once it is ${summary.status}`, kind, id);
      }
    }
  }

  async #newerTransactions(upTo: number): Promise<ReadonlyMap<number, OwnTransaction>> {
    const { number, head } = this.#book.row;
    const newer = slicesAlongSeq<OwnTransaction>(this.#audit, {
      sql: `
        SELECT t.id, t.seq, t.account_id, t.type, t.amount_cents, t.reference, t.rail, t.rail_receipt, t.corrects_id,
          t.deposit_id
        FROM ${this.#audit.engine.table("transactions")} t
        WHERE t.book = ? AND t.seq > ? AND t.seq <= ? AND t.deposit_id IS NOT NULL`,
      bindings: [number, head ?? 0, upTo],
      alias: "t",
    });
    const found = new Map<number, OwnTransaction>();
    for await (const rows of newer) for (const row of rows) found.set(row.seq, row);
    return found;
  }
}

const COLUMNS = `
  d.*, CASE WHEN h.account_id IS NOT NULL AND h.user_id IS NULL THEN a.updated_at END AS erased_at,
  a.deposit_reference AS account_reference`;

/** Returns what the row says about a deposit. Undefined if it is about none. */
function eventOf(row: AuditedJournalRow, transactions: ReadonlyMap<number, OwnTransaction>): DepositEvent | undefined {
  const transaction = transactions.get(row.seq);
  if (transaction !== undefined && transaction.id === row.transaction_id) {
    return { id: transaction.deposit_id, row, transaction };
  }
  if (!OWN_KIND.test(row.kind)) return undefined;
  return { id: (row.detail ?? "").split(" ")[0] ?? "", row, transaction: undefined };
}

function wordsOf(detail: string | null): readonly string[] {
  return (detail ?? "").split(" ");
}

/** The number of a receipt, which comes after its source and a colon, if it has one. */
function numberIn(receipt: string): string {
  return receipt.slice(receipt.indexOf(":") + 1).toUpperCase();
}

function isOwn(row: AuditedTransactionRow): row is OwnTransaction {
  return row.deposit_id !== null;
}
