import { DEPOSIT_REASONS } from "../../../domain/deposit.js";
import type { RowOf } from "../../../model/column.js";
import type { DEPOSITS } from "../../../model/deposits.js";
import type { Place } from "../../findings.js";
import { describePosting, type Direction } from "../../format.js";
import type { AuditedBook } from "../book.js";
import { checkHash, decryptedIn, proofsIn } from "../content.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import type { AuditedTransactionRow } from "../transactions/transaction-check.js";

/** A row of `deposits`. */
export interface AuditedDepositRow extends RowOf<typeof DEPOSITS> {
  /** When the person of its account was erased, or later. Null if the data is there. */
  readonly erased_at: number | null;
  /** The deposit reference of its account. Null without one. */
  readonly account_reference: string | null;
}

// Repeated on purpose: an audit must not depend on the code that it audits.
const RECEIVED = { debit: "reserve", credit: "unallocated" } as const;
const WENT_OUT = { debit: "unallocated", credit: "reserve" } as const;
const DIRECT_RAIL: string = "direct";
const REASONS: ReadonlySet<string> = new Set(DEPOSIT_REASONS);
const WAITING: ReadonlySet<string> = new Set(["UNALLOCATED", "RETURNING"]);
const DAY_MILLIS = 86_400_000;
/** What payers put between the digits of a reference. */
const SEPARATORS = /[\s./#-]/g;

/**
 * Follows one deposit through its rows in the journal, and through the transactions that credit it
 * and take the credit back. Then compares the last state with the row in `deposits`.
 */
export class DepositCheck {
  readonly #summary: AuditedDepositRow;
  readonly #book: AuditedBook;
  #receivedSeq: number | undefined;
  #createdAt: number | undefined;
  #lastSeq: number | undefined;
  #updatedAt: number | undefined;
  #status: string | undefined;
  #reason: string | null = null;
  #accountId: string | null = null;
  #transactionId: string | null = null;
  #credits = 0;
  /** The account that it was credited to because the payer typed its reference. */
  #typedFor: string | undefined;

  constructor(summary: AuditedDepositRow, book: AuditedBook) {
    this.#summary = summary;
    this.#book = book;
  }

  /** Takes the rows about the deposit in the order of `seq`, each with its transaction. */
  row(row: AuditedJournalRow, transaction: AuditedTransactionRow | undefined): void {
    if (transaction === undefined) this.#ownRow(row);
    else if (transaction.type === "MINT") this.#credit(row, transaction);
    else this.#takeBack(row, transaction);
    this.#lastSeq = row.seq;
    this.#updatedAt = row.recorded_at;
  }

  /**
   * Whether all rows that the summary reflects were seen. No two states have both values equal, but
   * those between which a refused return leads to and fro.
   */
  isAt({ status, credits }: AuditedDepositRow): boolean {
    return !WAITING.has(status) && this.#status === status && this.#credits === credits;
  }

  /** `summary` is the row of `deposits` as it was after the last row that was taken. */
  end(summary: AuditedDepositRow): void {
    const { findings } = this.#book;
    const place: Place = { seq: this.#lastSeq ?? summary.seq, table: "deposits", id: summary.id };
    if (!findings.isThere(place, this.#receivedSeq, "a journal row that received it")) return;
    findings.compareFields(place, {
      seq: [this.#receivedSeq, summary.seq],
      status: [this.#status, summary.status],
      reason: [this.#reason, summary.reason],
      account_id: [this.#accountId, summary.account_id],
      transaction_id: [this.#transactionId, summary.transaction_id],
      credits: [this.#credits, summary.credits],
      created_at: [this.#createdAt, summary.created_at],
      updated_at: [this.#updatedAt, summary.updated_at],
    });
    this.#checkTyped(summary, place);
  }

  #ownRow(row: AuditedJournalRow): void {
    const { seq, kind, rail_receipt: receipt } = row;
    const isFirst = kind === "deposit.received";
    this.#checkHash(row, isFirst);
    if (kind === "deposit.returning" || kind === "deposit.return_failed") {
      if (receipt !== null) this.#add(seq, `no receipt on ${kind}`, "a receipt");
      if (row.debit !== null) this.#add(seq, `${kind} without a posting`, describePosting(row));
      this.#return(row);
      return;
    }
    this.#checkPosting(row, isFirst ? RECEIVED : WENT_OUT);
    if (receipt === null) this.#add(seq, "a receipt", "none");
    if (isFirst) this.#receive(row);
    else this.#goOut(row);
  }

  /** The rail is asked to return it, or has refused that. */
  #return({ seq, kind, detail }: AuditedJournalRow): void {
    const isFailed = kind === "deposit.return_failed";
    this.#from(isFailed ? "RETURNING" : "UNALLOCATED", { seq, kind });
    const { id } = this.#summary;
    const expected = isFailed ? `${id} RETURN_FAILED` : id;
    if (detail !== expected) this.#add(seq, `the detail ${expected}`, String(detail));
    this.#status = isFailed ? "UNALLOCATED" : "RETURNING";
    this.#reason = isFailed ? "RETURN_FAILED" : null;
  }

  #receive({ seq, detail, rail_receipt: receipt, recorded_at: recordedAt }: AuditedJournalRow): void {
    const { id } = this.#summary;
    if (this.#receivedSeq !== undefined) this.#add(seq, "one row that received it", "a second one");
    const place: Place = { seq, table: "deposits", id };
    this.#book.findings.compareFields(place, { receipt: [receipt, this.#summary.receipt] });
    const reason = detail === id ? null : ((detail ?? "").slice(id.length + 1).split(" ")[0] ?? null);
    if (reason !== null && !REASONS.has(reason)) this.#add(seq, "why it is not credited in the detail", reason);
    this.#receivedSeq = seq;
    this.#createdAt = recordedAt;
    this.#status = "UNALLOCATED";
    this.#reason = reason;
  }

  #credit({ seq }: AuditedJournalRow, mint: AuditedTransactionRow): void {
    const { id, amount_cents: amountCents, receipt, rail } = this.#summary;
    this.#from("UNALLOCATED", { seq, kind: "a mint that credits it" });
    const isNext = this.#receivedSeq !== undefined && seq === this.#receivedSeq + 1;
    if (this.#reason === null && !isNext) this.#add(seq, "a credit right after a row without a reason", "a later one");
    if (this.#reason === null && rail !== DIRECT_RAIL) this.#typedFor = mint.account_id;
    this.#credits += 1;
    // A caller's own mint on `direct` credits the deposit whose receipt it names.
    const isClaim = mint.rail === DIRECT_RAIL && !mint.reference.startsWith("kesc:");
    this.#book.findings.compareFields(
      { seq, table: "transactions", id: mint.id },
      {
        amount_cents: [amountCents, mint.amount_cents],
        rail_receipt: [receipt, mint.rail_receipt],
        ...(isClaim
          ? {}
          : { rail: [rail, mint.rail], reference: [`kesc:deposit:${id}:${String(this.#credits)}`, mint.reference] }),
      },
    );
    this.#status = "CREDITED";
    this.#reason = null;
    this.#accountId = mint.account_id;
    this.#transactionId = mint.id;
  }

  /** Back to nobody if an operator takes the credit back, and out if the rail has. */
  #takeBack({ seq, credit, rail_receipt: receipt }: AuditedJournalRow, redeem: AuditedTransactionRow): void {
    this.#from("CREDITED", { seq, kind: "a redemption that takes its credit back" });
    this.#book.findings.compareFields(
      { seq, table: "transactions", id: redeem.id },
      {
        amount_cents: [this.#summary.amount_cents, redeem.amount_cents],
        corrects_id: [this.#transactionId, redeem.corrects_id],
      },
    );
    const isUnassigned = credit === "unallocated";
    if (isUnassigned !== (receipt === null)) {
      const [expected, found] = isUnassigned ? ["no receipt", "a receipt"] : ["a receipt", "none"];
      this.#add(seq, expected, found);
    }
    this.#status = isUnassigned ? "UNALLOCATED" : "REVERSED";
    if (!isUnassigned) return;
    this.#reason = "UNASSIGNED";
    this.#accountId = null;
    this.#transactionId = null;
  }

  #goOut({ seq, kind, detail }: AuditedJournalRow): void {
    const isReturned = kind === "deposit.returned" && this.#status === "RETURNING";
    this.#from(isReturned ? "RETURNING" : "UNALLOCATED", { seq, kind });
    if (detail !== this.#summary.id) this.#add(seq, "its id alone as the detail", String(detail));
    this.#status = kind === "deposit.returned" ? "RETURNED" : "REVERSED";
    this.#reason = null;
  }

  #from(status: string, { seq, kind }: { readonly seq: number; readonly kind: string }): void {
    if (this.#status !== status) this.#add(seq, `${kind} only when ${status}`, this.#status ?? "not received yet");
  }

  #checkPosting(row: AuditedJournalRow, direction: Direction): void {
    const expected = describePosting({ ...direction, amount_cents: this.#summary.amount_cents });
    const found = describePosting(row);
    if (expected !== found) this.#add(row.seq, `${row.kind} with ${expected}`, found);
  }

  #checkHash(row: AuditedJournalRow, isFirst: boolean): void {
    const { id, rail, rail_account_id: railAccountId, receipt, amount_cents, paid_at } = this.#summary;
    const own = isFirst ? [id, rail, railAccountId ?? "", receipt, String(amount_cents), String(paid_at ?? "")] : [];
    const created = [...own, ...proofsIn(row)];
    const expected = `the ${isFirst ? "deposit" : "row"} that gives the content_hash of the journal row`;
    const place: Place = { seq: row.seq, table: isFirst ? "deposits" : "journal", id };
    checkHash(this.#book, row, { created }, { place, expected, found: "another content or content_hash" });
  }

  /** The payer may have typed personal data. It goes soon after the person of the account. */
  #checkTyped(summary: AuditedDepositRow, place: Place): void {
    const { id, typed_reference: typed, erased_at: erasedAt, account_reference: reference } = summary;
    const { findings, secrets, row } = this.#book;
    const isTypedFor = this.#typedFor !== undefined && this.#typedFor === this.#accountId;
    if (typed === null) {
      if (isTypedFor && erasedAt === null) findings.add(place, { expected: "a typed_reference", found: "none" });
      return;
    }
    if (erasedAt !== null && row.last_recorded_at - erasedAt > DAY_MILLIS) {
      findings.add(place, { expected: "no typed_reference a day after the erasure of its account", found: "one" });
    }
    if (secrets === undefined) return;
    const text = decryptedIn(this.#book, { ownerId: id, field: "typed_reference" }, typed);
    if (text === undefined) {
      findings.add(place, { expected: "typed_reference that the book's key decrypts", found: "another value" });
    } else if (isTypedFor && text.replaceAll(SEPARATORS, "") !== reference) {
      findings.add(place, { expected: "the account whose reference the payer typed", found: String(this.#accountId) });
    }
  }

  #add(seq: number, expected: string, found: string): void {
    this.#book.findings.onRow({ seq }, expected, found, this.#summary.id);
  }
}
