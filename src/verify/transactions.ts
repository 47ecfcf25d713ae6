import type { JournalKind } from "../domain/journal.js";
import { DIRECT_RAIL, type TransactionStatus, type TransactionType } from "../domain/transaction.js";
import type { Snapshot } from "../storage/sql/snapshot.js";
import type { Findings } from "./findings.js";
import { describePosting, type Direction, type PostingColumns } from "./format.js";
import { checkGroups, type GroupCheck } from "./merge-join.js";

/** A row of `transactions`. */
interface TransactionSummary {
  readonly id: string;
  readonly seq: number;
  readonly organization_id: string;
  readonly account_id: string;
  readonly type: string;
  readonly status: string;
  readonly amount_cents: number;
  readonly rail: string;
  readonly completed_at: number | null;
}

/** A row of the journal. `id` is the id of its transaction. */
interface TransactionJournalRow extends PostingColumns {
  readonly id: string;
  readonly seq: number;
  readonly organization_id: string;
  readonly account_id: string;
  readonly kind: string;
  readonly recorded_at: number;
}

type TransactionKind = Extract<JournalKind, `transaction.${string}`>;

const STATUSES: Readonly<Record<TransactionKind, TransactionStatus>> = {
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
 * Follows every transaction through the journal. Checks that its type and rail allow each step,
 * that each step has the right posting, and that the transaction ends at most once. Then compares
 * the last state with the row in `transactions`. Returns the number of transactions.
 */
export function verifyTransactions(snapshot: Snapshot, findings: Findings): Promise<number> {
  const { byCodeUnit, table } = snapshot;
  return checkGroups<TransactionSummary, TransactionJournalRow>({
    summaries: snapshot.rows(`
      SELECT t.id, t.seq, b.organization_id, t.account_id, t.type, t.status, t.amount_cents, t.rail, t.completed_at
      FROM ${table("transactions")} t LEFT JOIN ${table("books")} b ON b.number = t.book ORDER BY t.id ${byCodeUnit}`),
    rows: snapshot.rows(`
      SELECT j.transaction_id AS id, j.seq, b.organization_id, j.account_id, j.kind, j.debit, j.credit, j.amount_cents,
        j.recorded_at
      FROM ${table("journal")} j LEFT JOIN ${table("books")} b ON b.number = j.book
      WHERE j.transaction_id IS NOT NULL ORDER BY j.transaction_id ${byCodeUnit}, j.seq`),
    check: (id, summary) => (summary === undefined ? unknown(id, findings) : new TransactionCheck(summary, findings)),
  });
}

function unknown(id: string, findings: Findings): GroupCheck<TransactionJournalRow> {
  return {
    row: ({ seq }) => {
      findings.add({ seq, table: "transactions", id, expected: "a row", found: "none" });
    },
    end: () => undefined,
  };
}

class TransactionCheck implements GroupCheck<TransactionJournalRow> {
  readonly #summary: TransactionSummary;
  readonly #findings: Findings;
  #first: TransactionJournalRow | undefined;
  #last: TransactionJournalRow | undefined;
  #status: TransactionStatus | undefined;
  #completedAt: number | null = null;

  constructor(summary: TransactionSummary, findings: Findings) {
    this.#summary = summary;
    this.#findings = findings;
  }

  row(row: TransactionJournalRow): void {
    this.#first ??= row;
    const { organization_id: organizationId, account_id: accountId } = this.#summary;
    if (row.organization_id !== organizationId || row.account_id !== accountId) {
      this.#add(row.seq, `${organizationId}, ${accountId}`, `${row.organization_id}, ${row.account_id}`);
    }
    if (isTransactionKind(row.kind)) this.#step(row, row.kind);
    this.#last = row;
  }

  end(): void {
    const { seq, status, completed_at: completedAt } = this.#summary;
    if (this.#first === undefined || this.#last === undefined) {
      this.#compareSummary(seq, "a journal row that created it", "none");
      return;
    }
    const firstSeq = this.#first.seq;
    this.#compareSummary(firstSeq, `created at seq ${String(firstSeq)}`, `created at seq ${String(seq)}`);
    this.#compareSummary(
      this.#last.seq,
      describeEnd(this.#status, this.#completedAt),
      describeEnd(status, completedAt),
    );
  }

  #step(row: TransactionJournalRow, kind: TransactionKind): void {
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

  #checkPosting(row: TransactionJournalRow, direction: Direction | null): void {
    const expected: PostingColumns =
      direction === null
        ? { debit: null, credit: null, amount_cents: null }
        : { ...direction, amount_cents: this.#summary.amount_cents };
    const same =
      row.debit === expected.debit && row.credit === expected.credit && row.amount_cents === expected.amount_cents;
    if (!same) this.#add(row.seq, `${row.kind} with ${describePosting(expected)}`, describePosting(row));
  }

  #add(seq: number, expected: string, found: string): void {
    this.#findings.add({ seq, table: "journal", id: this.#summary.id, expected, found });
  }

  #compareSummary(seq: number, expected: string, found: string): void {
    this.#findings.compare({ seq, table: "transactions", id: this.#summary.id, expected, found });
  }
}

function isTransactionKind(kind: string): kind is TransactionKind {
  return Object.hasOwn(STATUSES, kind);
}

function isTransactionType(type: string): type is TransactionType {
  return Object.hasOwn(RULES, type);
}

function describeEnd(status: string | undefined, completedAt: number | null): string {
  const moment = completedAt === null ? "not completed" : `completed at ${String(completedAt)}`;
  return `${status ?? "no status"}, ${moment}`;
}
