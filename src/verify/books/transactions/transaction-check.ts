import { FAILURE_REASONS, FLAG_REASONS } from "../../../domain/payment.js";
import { DIRECT_RAIL, type TransactionStatus } from "../../../domain/transaction.js";
import type { RowOf } from "../../../model/column.js";
import type { TRANSACTIONS } from "../../../model/transactions.js";
import type { Place } from "../../findings.js";
import { describePosting, type Direction, type PostingColumns } from "../../format.js";
import type { AuditedBook } from "../book.js";
import { checkHash, proofsIn } from "../content.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import { HoldCheck } from "./hold-check.js";
import { checkPayment, type PaymentColumns } from "./payments.js";
import type { ProposedEnds } from "./proposed-ends.js";
import { isTransactionKind, STATUSES, stepsAfter, type TransactionKind } from "./steps.js";

/** A row of `transactions` with its row of `payments`. */
export type AuditedTransactionRow = Omit<RowOf<typeof TRANSACTIONS>, "book"> &
  PaymentColumns & {
    /** Null without a destination, like the next two. */
    readonly destination_kind: string | null;
    readonly destination_account_id: string | null;
    readonly destination_usable_at: number | null;
  };

/**
 * Follows one transaction through the journal. Checks that its type and rail allow each step, that
 * each step has the right posting, and that the transaction ends at most once. Then compares the
 * last state with the rows in `transactions` and `payments`, and its content with the hash in the
 * journal.
 */
export class TransactionCheck {
  readonly #summary: AuditedTransactionRow;
  readonly #book: AuditedBook;
  #first: AuditedJournalRow | undefined;
  #last: AuditedJournalRow | undefined;
  #status: TransactionStatus | undefined;
  /** The reason of the last row that set the status. */
  #statusReason = "";
  #processingAt: number | null = null;
  #completedAt: number | null = null;
  #receipt: string | null = null;
  #failure: string | null = null;
  #flags: readonly string[] = [];
  readonly #hold: HoldCheck;
  /** Who proposed the newest resolution. */
  #proposer: string | undefined;

  /** The proposals of the book that are about several transactions. */
  readonly #ends: ProposedEnds;

  constructor(summary: AuditedTransactionRow, book: AuditedBook, ends: ProposedEnds) {
    this.#summary = summary;
    this.#book = book;
    this.#ends = ends;
    this.#hold = new HoldCheck({
      isSandbox: book.row.is_sandbox !== 0,
      add: (seq, expected, found) => {
        this.#add(seq, expected, found);
      },
    });
  }

  /** Takes the rows of the transaction in the order of `seq`. */
  row(row: AuditedJournalRow): void {
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
    this.#hold.end(last.seq);
    findings.compareFields(place, {
      seq: [first.seq, summary.seq],
      status: [this.#status, summary.status],
      // The audit of the deposits compares the receipt of a credit.
      ...(this.#isCredit ? {} : { rail_receipt: [this.#receipt, summary.rail_receipt] }),
      failure: [this.#failure, summary.later_failure ?? summary.failure],
      held_for: [this.#hold.held, summary.held_for],
      open_flags: [this.#flags.length === 0 ? null : this.#flags.join(","), summary.open_flags],
      created_at: [first.recorded_at, summary.created_at],
      updated_at: [last.recorded_at, summary.updated_at],
      completed_at: [this.#completedAt, summary.completed_at],
    });
    if (summary.status_reason !== this.#statusReason) {
      findings.add(place, { expected: "the reason of the last row of a status", found: "another status_reason" });
    }
    if (summary.deposit_id !== null) {
      findings.compareFields(place, { correction: [this.#isCredit ? null : "REVERSAL", summary.correction] });
    }
    const mayHaveMoved = this.#status === "COMPLETED" && summary.rail !== DIRECT_RAIL && summary.deposit_id === null;
    if (summary.rail_movement !== null && !mayHaveMoved) {
      findings.add(place, { expected: "no rail_movement", found: "a rail_movement" });
    }
    checkPayment(summary, {
      id: summary.id,
      type: summary.type,
      destinationKind: summary.destination_kind,
      book: this.#book,
      seq: last.seq,
      isOrder: first.kind === "transaction.pending",
      status: this.#status,
      processingAt: this.#processingAt,
      createdAt: first.recorded_at,
    });
  }

  /** Whether it credits a deposit, whose row has the receipt. */
  get #isCredit(): boolean {
    return this.#summary.deposit_id !== null && this.#summary.type === "MINT";
  }

  #checkContent(row: AuditedJournalRow, isFirst: boolean): void {
    const { id, account_id: accountId, type, amount_cents: amountCents } = this.#summary;
    const { reference, description, metadata, rail, rail_movement: movement } = this.#summary;
    const { corrects_id: correctsId, correction, deposit_id: depositId } = this.#summary;
    if (isFirst && row.reason !== "" && depositId === null)
      this.#add(row.seq, "a first row without a reason", "a reason");
    const own = isFirst
      ? [type, String(amountCents), reference, description, metadata, rail, correction ?? "", correctsId ?? ""]
      : [];
    const other = depositId ?? this.#summary.destination_id;
    if (isFirst && other !== null) own.push(other);
    const created = [...own, ...proofsIn(row, row.kind === "transaction.completed" ? movement : null)];
    const place: Place = { seq: row.seq, table: isFirst ? "transactions" : "journal", id };
    const expected = `the ${isFirst ? "transaction" : "row"} that gives the content_hash of the journal row`;
    const found = "another content or content_hash";
    checkHash(this.#book, row, { accountId, transactionId: id, created }, { place, expected, found });
  }

  #step(row: AuditedJournalRow, kind: TransactionKind): void {
    const steps = stepsAfter(this.#status, this.#summary);
    const directions = steps[kind];
    if (directions === undefined) {
      const allowed = Object.keys(steps).join(" or ") || "no further row";
      this.#add(row.seq, this.#status === undefined ? `${allowed} first` : `${allowed} after ${this.#status}`, kind);
    } else {
      this.#checkPosting(row, directions);
    }
    this.#checkProofs(row, kind);
    this.#hold.row(row, kind, this.#last === this.#first && this.#last?.seq === row.seq - 1);
    this.#follow(row, kind);
  }

  /** Checks the detail and the receipt, which only some kinds have. */
  #checkProofs({ seq, detail, rail_receipt: receipt }: AuditedJournalRow, kind: TransactionKind): void {
    const { correction } = this.#summary;
    const { word, persons } = readDetail(detail, kind);
    const isLate = kind === "transaction.completed" && correction === "LATE";
    const isKnown =
      kind === "transaction.failed"
        ? isOneOf(FAILURE_REASONS, word)
        : kind === "transaction.flagged"
          ? isOneOf(FLAG_REASONS, word) && !this.#flags.includes(word ?? "")
          : kind === "transaction.attended"
            ? this.#flags.includes(word ?? "")
            : kind === "transaction.resolution_proposed" ||
              kind === "transaction.held" ||
              kind === "transaction.checked" ||
              word === (isLate ? correction : null);
    if (!isKnown) this.#add(seq, `${kind} with a detail that fits`, `the detail ${String(detail)}`);
    const [first, second] = persons;
    // A late movement is a transaction of its own. Nobody has proposed anything about that one.
    const isProposed = first === this.#proposer || this.#ends.has(this.#summary.id, first, seq);
    if (second !== undefined && !isProposed && !isLate) {
      this.#add(seq, `${kind} by ${this.#proposer ?? "one person"} first`, `the detail ${String(detail)}`);
    }
    const mayHaveReceipt = (kind === "transaction.completed" && !this.#isCredit) || kind === "transaction.receipted";
    if (receipt !== null && !mayHaveReceipt) this.#add(seq, `${kind} without a receipt`, "a receipt");
    if (kind !== "transaction.receipted") return;
    if (receipt === null) this.#add(seq, "a receipt", "none");
    if (this.#receipt !== null) this.#add(seq, "one receipt", "a second one");
  }

  #follow(row: AuditedJournalRow, kind: TransactionKind): void {
    const { recorded_at: recordedAt } = row;
    const { word, persons } = readDetail(row.detail, kind);
    const status = STATUSES[kind];
    if (status !== undefined) {
      this.#status = status;
      this.#statusReason = row.reason;
    }
    if (kind === "transaction.processing") {
      this.#processingAt = recordedAt;
      if (row.reason !== "") this.#add(row.seq, `${kind} without a reason`, "a reason");
    }
    if (kind === "transaction.completed") this.#completedAt = recordedAt;
    if (kind === "transaction.failed") this.#failure = word;
    this.#receipt = row.rail_receipt ?? this.#receipt;
    if (status !== undefined && status !== "PENDING" && status !== "PROCESSING") this.#flags = [];
    this.#hold.follow(row, kind, this.#status === "PENDING");
    if (kind === "transaction.flagged" && word !== null) this.#flags = [...this.#flags, word];
    if (kind === "transaction.attended") this.#flags = this.#flags.filter((flag) => flag !== word);
    if (kind === "transaction.resolution_proposed") [this.#proposer] = persons;
  }

  #checkPosting(row: AuditedJournalRow, directions: readonly (Direction | null)[]): void {
    const allowed = directions.map((direction): PostingColumns => {
      const { debit = null, credit = null } = direction ?? {};
      return { debit, credit, amount_cents: direction === null ? null : this.#summary.amount_cents };
    });
    const found = describePosting(row);
    const expected = allowed.map(describePosting);
    if (!expected.includes(found)) this.#add(row.seq, `${row.kind} with ${expected.join(" or ")}`, found);
  }

  #add(seq: number, expected: string, found: string): void {
    this.#book.findings.onRow({ seq }, expected, found, this.#summary.id);
  }
}

function isOneOf(known: readonly string[], text: string | null): boolean {
  return text !== null && known.includes(text);
}

interface Detail {
  readonly word: string | null;
  readonly persons: readonly string[];
}

/** A detail is a word, or a JSON array of the word and of the persons who decided. */
function readDetail(detail: string | null, kind: TransactionKind): Detail {
  if (detail?.startsWith("[") !== true) return { word: detail, persons: [] };
  let parts: unknown;
  try {
    parts = JSON.parse(detail);
  } catch {
    return { word: detail, persons: [] };
  }
  if (!Array.isArray(parts) || !parts.every((part) => typeof part === "string")) return { word: detail, persons: [] };
  const [word = "", ...persons] = parts as readonly string[];
  // A proposal has its subject first, and its content last.
  if (kind === "transaction.resolution_proposed") return { word: null, persons: persons.slice(0, 1) };
  return { word: word === "" ? null : word, persons };
}
