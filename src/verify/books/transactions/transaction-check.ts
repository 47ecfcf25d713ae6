import type { JournalKind } from "../../../domain/journal.js";
import { DIRECT_RAIL, type TransactionStatus, type TransactionType } from "../../../domain/transaction.js";
import type { Place } from "../../findings.js";
import { describePosting, type Direction } from "../../format.js";
import type { AuditedBook } from "../book.js";
import { hasHashOf } from "../content.js";
import type { JournalRow } from "../journal-rows.js";

/** A row of `transactions`. */
export interface TransactionRow {
  readonly id: string;
  readonly seq: number;
  readonly account_id: string;
  readonly type: string;
  readonly status: string;
  readonly status_reason: string;
  readonly amount_cents: number;
  readonly reference: string;
  readonly description: string;
  readonly metadata: string;
  readonly rail: string;
  readonly corrects_id: string | null;
  readonly correction: string | null;
  readonly reversed_by_id: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly completed_at: number | null;
}

type TransactionKind = Extract<JournalKind, `transaction.${string}`>;

const STATUSES: Readonly<Partial<Record<TransactionKind, TransactionStatus>>> = {
  "transaction.pending": "PENDING",
  "transaction.completed": "COMPLETED",
  "transaction.canceled": "CANCELED",
};

/**
 * The steps that the rules allow, and the posting of each. The value is null if the step moves no
 * money.
 */
type Steps = Readonly<Partial<Record<TransactionKind, Direction | null>>>;

// Repeated on purpose: an audit must not depend on the code that it audits.
const MINTED = { debit: "reserve", credit: "available" } as const;
const REDEEMED = { debit: "available", credit: "reserve" } as const;
const HELD = { debit: "available", credit: "held" } as const;
const RELEASED = { debit: "held", credit: "available" } as const;
const BURNED = { debit: "held", credit: "reserve" } as const;

const RULES: Readonly<Record<TransactionType, { direct: Steps; otherRails: Steps; whilePending: Steps }>> = {
  MINT: {
    direct: { "transaction.completed": MINTED },
    otherRails: { "transaction.pending": null },
    whilePending: { "transaction.completed": MINTED, "transaction.canceled": null },
  },
  REDEEM: {
    direct: { "transaction.completed": REDEEMED },
    otherRails: { "transaction.pending": HELD },
    whilePending: { "transaction.completed": BURNED, "transaction.canceled": RELEASED },
  },
};

/**
 * Follows one transaction through the journal. Checks that its type and rail allow each step, that
 * each step has the right posting, and that the transaction ends at most once. Then compares the
 * last state with the row in `transactions`, and its content with the hash in the journal.
 */
export class TransactionCheck {
  readonly #summary: TransactionRow;
  readonly #book: AuditedBook;
  #first: JournalRow | undefined;
  #last: JournalRow | undefined;
  #status: TransactionStatus | undefined;
  #completedAt: number | null = null;

  constructor(summary: TransactionRow, book: AuditedBook) {
    this.#summary = summary;
    this.#book = book;
  }

  /** Takes the rows of the transaction in the order of `seq`. */
  row(row: JournalRow): void {
    const { account_id: accountId } = this.#summary;
    if (row.account_id !== accountId) this.#add(row.seq, accountId, String(row.account_id));
    this.#checkContent(row, this.#first === undefined);
    this.#first ??= row;
    if (isTransactionKind(row.kind)) this.#step(row, row.kind);
    this.#last = row;
  }

  end(): void {
    const summary = this.#summary;
    const { findings } = this.#book;
    const [first, last] = [this.#first, this.#last];
    const place: Place = { seq: last?.seq ?? summary.seq, table: "transactions", id: summary.id };
    if (first === undefined || last === undefined) {
      findings.add(place, { expected: "a journal row that created it", found: "none" });
      return;
    }
    findings.compareFields(place, {
      seq: [first.seq, summary.seq],
      status: [this.#status, summary.status],
      created_at: [first.recorded_at, summary.created_at],
      updated_at: [last.recorded_at, summary.updated_at],
      completed_at: [this.#completedAt, summary.completed_at],
    });
    if (summary.status_reason !== last.reason) {
      findings.add(place, { expected: "the reason of the last row", found: "another status_reason" });
    }
  }

  #checkContent(row: JournalRow, isFirst: boolean): void {
    const { id, account_id: accountId, type, amount_cents: amountCents } = this.#summary;
    const { reference, description, metadata, rail } = this.#summary;
    if (isFirst && row.reason !== "") this.#add(row.seq, "a first row without a reason", "a reason");
    const { secrets, findings } = this.#book;
    const { corrects_id: correctsId, correction } = this.#summary;
    const created = isFirst
      ? [type, String(amountCents), reference, description, metadata, rail, correction ?? "", correctsId ?? ""]
      : [];
    if (secrets === undefined || hasHashOf({ accountId, transactionId: id, created }, row, secrets.salts)) return;
    const place: Place = { seq: row.seq, table: isFirst ? "transactions" : "journal", id };
    findings.add(place, {
      expected: `the ${isFirst ? "transaction" : "row"} that gives the content_hash of the journal row`,
      found: "another content or content_hash",
    });
  }

  #step(row: JournalRow, kind: TransactionKind): void {
    const steps = this.#allowedSteps();
    const direction = steps[kind];
    if (direction === undefined) {
      const allowed = Object.keys(steps).join(" or ") || "no further row";
      this.#add(row.seq, this.#status === undefined ? `${allowed} first` : `${allowed} after ${this.#status}`, kind);
    } else {
      this.#checkPosting(row, direction);
    }
    this.#status = STATUSES[kind];
    if (kind === "transaction.completed") this.#completedAt = row.recorded_at;
  }

  #allowedSteps(): Steps {
    const { type, rail } = this.#summary;
    if (!isTransactionType(type)) return {};
    const { direct, otherRails, whilePending } = RULES[type];
    if (this.#status === undefined) return rail === DIRECT_RAIL ? direct : otherRails;
    return this.#status === "PENDING" ? whilePending : {};
  }

  #checkPosting(row: JournalRow, direction: Direction | null): void {
    const { debit = null, credit = null } = direction ?? {};
    const amountCents = direction === null ? null : this.#summary.amount_cents;
    if (row.debit === debit && row.credit === credit && row.amount_cents === amountCents) return;
    const expected = describePosting({ debit, credit, amount_cents: amountCents });
    this.#add(row.seq, `${row.kind} with ${expected}`, describePosting(row));
  }

  #add(seq: number, expected: string, found: string): void {
    this.#book.findings.add({ seq, table: "journal", id: this.#summary.id }, { expected, found });
  }
}

/** Returns whether no row of the transaction may follow. */
export function isLastKind(kind: string): boolean {
  return isTransactionKind(kind) && STATUSES[kind] !== "PENDING";
}

function isTransactionKind(kind: string): kind is TransactionKind {
  return Object.hasOwn(STATUSES, kind);
}

function isTransactionType(type: string): type is TransactionType {
  return Object.hasOwn(RULES, type);
}
