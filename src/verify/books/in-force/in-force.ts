import type { Audit } from "../../audit.js";
import { decimalOf } from "../../format.js";
import { guarded, jsonIn } from "../../guarded.js";
import type { ApiKeysAudit } from "../api-keys.js";
import type { AuditedBook } from "../book.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import type { AuditedTransactionRow } from "../transactions/transaction-check.js";
import { authorOf, Authors, isClaim, rightOf } from "./authors.js";
import { LimitsCheck } from "./limits.js";

// Repeated on purpose: an audit must not depend on the code that it audits.
const DIRECT_RAIL: string = "direct";
/** The rail that moves no shillings. Only sandbox organizations have it. */
const SANDBOX_RAIL: string = "sandbox";
/** The orders that a rail was not asked for yet. */
const ENDS: ReadonlySet<string> = new Set(["transaction.processing", "transaction.failed", "transaction.canceled"]);

/**
 * Checks for each row of one book that what allowed it was in force at that moment, from the rows
 * before it alone: its actor, the suspension, the need for receipts, the limits, payouts of a rail,
 * and the destination and the file of a payout. So a change of a table leaves a finding even if
 * somebody has put it back, as long as the server has acted on it.
 */
export class InForceAudit {
  readonly table = "journal";
  readonly #book: AuditedBook;
  readonly #authors: Authors;
  readonly #limits: LimitsCheck;
  /** The transactions by the `seq` of their first row, until that row comes. */
  readonly #begun = new Map<number, AuditedTransactionRow>();
  /** The rails of the payouts that have not begun, by their transactions. */
  readonly #payouts = new Map<string, string>();
  /** The rails on which payouts are closed, by the account at the rail. */
  readonly #closed = new Map<string, string>();
  readonly #removedDestinations = new Set<string>();
  /** How the metadata of a transaction names the files of payouts that were stopped. */
  readonly #stoppedFiles = new Set<string>();
  readonly #problems = new Set<string>();
  /** The redemption that the row before has accepted, and why it must be held. */
  #accepted: { readonly id: string; readonly reasons: readonly string[] } | undefined;
  #isSuspended = false;
  #areReceiptsRequired = false;
  /** Whether the organization has a check of payouts. */
  #isChecked = false;

  constructor(audit: Audit, book: AuditedBook, keys: Pick<ApiKeysAudit, "key">) {
    this.#book = book;
    this.#authors = new Authors(audit, book, keys);
    this.#limits = new LimitsCheck(audit.accountsMax);
  }

  /** Takes a transaction, before the slice with its first row. */
  transaction(summary: AuditedTransactionRow): void {
    this.#begun.set(summary.seq, summary);
  }

  /** Takes the rows of the book in the order of `seq`, after the transactions that they begin. */
  slice(rows: readonly AuditedJournalRow[]): void {
    for (const row of rows) {
      guarded(this.#book.findings, { seq: row.seq, table: "journal", id: undefined }, () => {
        this.#check(row);
      });
    }
  }

  #check(row: AuditedJournalRow): void {
    const begun = this.#begun.get(row.seq);
    this.#begun.delete(row.seq);
    const right = rightOf(row, begun);
    const author = authorOf(row.actor);
    const problem = this.#authors.problemOf(row, right);
    // What is wrong with an actor has one finding, however many rows it has written.
    if (problem !== undefined && !this.#problems.has(`${row.actor} ${problem}`)) {
      this.#problems.add(`${row.actor} ${problem}`);
      this.#book.findings.onRow(row, problem, row.actor);
    }
    if (
      this.#isSuspended &&
      (row.kind === "transaction.processing" ||
        (right !== undefined && (author !== "operators" || !right.authors.includes("operators"))))
    ) {
      this.#book.findings.onRow(row, "no such row while the organization is suspended", row.kind);
    }
    const isSandbox = this.#book.row.is_sandbox !== 0;
    if (!isSandbox && (row.actor === SANDBOX_RAIL || begun?.rail === SANDBOX_RAIL)) {
      this.#book.findings.onRow(row, "no sandbox in the book of a live organization", row.kind);
    }
    this.#checkHold(row);
    if (begun !== undefined) this.#begin(row, begun);
    this.#followPayout(row);
    this.#follow(row);
  }

  /** Checks the first row of a transaction. */
  #begin(row: AuditedJournalRow, begun: AuditedTransactionRow): void {
    const { id, type, rail, correction, deposit_id: depositId, destination_id: destination } = begun;
    const isOwn = correction === null && depositId === null;
    if (isOwn && this.#areReceiptsRequired && type === "MINT" && rail === DIRECT_RAIL && row.rail_receipt === null) {
      this.#book.findings.onRow(row, "a receipt, as the organization required at that time", "none");
    }
    // What came in for an account is credited whatever the limits, if a person assigns it.
    const isLimited = isOwn || isClaim(begun) || (correction === null && authorOf(row.actor) === "service");
    const { exceeded: reached, heldFor } = this.#limits.take(begun, isLimited);
    const reasons = this.#isChecked && type === "REDEEM" ? [...heldFor, "CHECK"] : heldFor;
    if (row.kind === "transaction.pending" && reasons.length > 0) this.#accepted = { id, reasons };
    if (reached !== undefined)
      this.#book.findings.onRow(
        row,
        `at most ${decimalOf(reached.limitCents)}, the limit at that time`,
        decimalOf(reached.foundCents),
      );
    if (row.kind !== "transaction.pending") return;
    if (type === "REDEEM") this.#payouts.set(id, rail);
    if (authorOf(row.actor) === "payouts" && [...this.#stoppedFiles].some((file) => begun.metadata.includes(file))) {
      this.#book.findings.onRow(row, "no row of a file that a person has stopped", id);
    }
    if (destination === null || begun.destination_usable_at === null) return;
    const isUsable =
      begun.destination_account_id === begun.account_id &&
      begun.destination_usable_at <= row.recorded_at &&
      !this.#removedDestinations.has(destination);
    if (!isUsable)
      this.#book.findings.onRow(row, "a destination of the account that could be paid at that time", destination);
  }

  /** What must wait for a person or for the check has the row `transaction.held` next. */
  #checkHold(row: AuditedJournalRow): void {
    const accepted = this.#accepted;
    this.#accepted = undefined;
    if (accepted === undefined) return;
    const words = row.kind === "transaction.held" && row.transaction_id === accepted.id ? (row.detail ?? "") : "";
    if (accepted.reasons.every((reason) => words.split(",").includes(reason))) return;
    this.#book.findings.onRow(row, `transaction.held for ${accepted.reasons.join(",")} of ${accepted.id}`, row.kind);
  }

  #followPayout({ seq, kind, transaction_id: id }: AuditedJournalRow): void {
    const rail = id === null || !ENDS.has(kind) ? undefined : this.#payouts.get(id);
    if (id === null || rail === undefined) return;
    this.#payouts.delete(id);
    if (kind !== "transaction.processing" || ![...this.#closed.values()].includes(rail)) return;
    this.#book.findings.onRow({ seq }, "no payout while those of the rail are closed", rail);
  }

  #follow(row: AuditedJournalRow): void {
    const { kind, account_id: accountId, detail } = row;
    switch (kind) {
      case "organization.suspended":
      case "organization.resumed":
        this.#isSuspended = kind === "organization.suspended";
        break;
      case "organization.receipts_required":
      case "organization.receipts_optional":
        this.#areReceiptsRequired = kind === "organization.receipts_required";
        break;
      case "payouts.check_set":
      case "payouts.check_cleared":
        this.#isChecked = kind === "payouts.check_set";
        break;
      case "limits.set":
        this.#limits.set(jsonIn("detail", detail, "[]"), row.recorded_at);
        break;
      case "account.tiered":
        this.#limits.setTier(accountId ?? "", detail ?? "");
        break;
      case "destination.removed":
        this.#removedDestinations.add(detail ?? "");
        break;
      case "payouts.stopped": {
        const [sha256] = jsonIn("detail", detail, "[]") as unknown[];
        this.#stoppedFiles.add(JSON.stringify(["payout_file", sha256]));
        break;
      }
      case "rail.changed": {
        const { id, rail, payouts } = jsonIn("detail", detail, "{}") as Readonly<Record<string, unknown>>;
        if (payouts === "closed") this.#closed.set(String(id), String(rail));
        else this.#closed.delete(String(id));
      }
    }
  }
}
