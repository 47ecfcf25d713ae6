import type { AccountStatus } from "../../../domain/account.js";
import { UPDATED_FIELDS } from "../../../domain/accounts/update-account.js";
import type { BookAccount, JournalKind } from "../../../domain/journal.js";
import { MAX_CENTS } from "../../../domain/values/cents.js";
import { hasTrueAccountMac } from "../../../storage/secrets/balance-mac.js";
import type { Audit } from "../../audit.js";
import type { Place } from "../../findings.js";
import { decimalOf, describeBalances, describePosting, type PostingColumns } from "../../format.js";
import type { AuditedBook } from "../book.js";
import { ANOTHER_MAC, checkHash, type HashedRow, proofsIn } from "../content.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import { isDepositReference } from "./deposit-reference.js";
import { type AuditedAccountRow, checkHolder } from "./holders.js";

/** A finding on a transaction, unless the transaction takes a deposit back. */
export interface Doubt {
  readonly seq: number;
  readonly accountId: string;
  readonly transactionId: string;
  readonly expected: string;
  readonly found: string;
}

/** The kinds of rows that change the status, and the statuses from which each may come. */
const FROM = {
  "account.created": [undefined],
  "account.frozen": ["ACTIVE", "FROZEN"],
  "account.unfrozen": ["FROZEN"],
  "account.closed": ["ACTIVE"],
} as const satisfies { readonly [Kind in JournalKind]?: readonly (AccountStatus | undefined)[] };

type StatusKind = keyof typeof FROM;

// Repeated on purpose: an audit must not depend on the code that it audits.
const STANDING_FREEZES_MAX = 20;
const DEFAULT_TIER: string = "default";
const TIER = /^[a-z][a-z0-9_-]{0,31}$/;
const REVEAL_REASON = /^(customer_called|payment_delivery|fraud_check|legal_request|other|look_up|export|update): ./;
// Where persons decided it, their names stand behind the word.
const LATE = /^LATE$|^\["LATE",/;
/** The rows whose hash covers more than the row, so another check has it. */
const HASHED_ELSEWHERE: ReadonlySet<string> = new Set<JournalKind>([
  "account.created",
  "account.updated",
  "account.frozen",
  "account.unfrozen",
  "destination.created",
  "destination.removed",
]);
const BEGINS: ReadonlySet<string> = new Set<JournalKind>(["transaction.pending", "transaction.processing"]);
const ENDS: ReadonlySet<string> = new Set<JournalKind>([
  "transaction.completed",
  "transaction.failed",
  "transaction.canceled",
]);

/**
 * Follows one account through the journal. Checks the link of each row to the previous one, the
 * balances after each row, and each change of status. Then compares the last state with the row in
 * `accounts`, and the personal data with the hash in the row that set it.
 *
 * The audit keeps one for each account of a book, so it holds no more than it needs: about 0.5 KB.
 */
export class AccountCheck {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #id: string;
  readonly #doubts: Doubt[];
  #created: HashedRow | undefined;
  #updated: HashedRow | undefined;
  #erased: HashedRow | undefined;
  #lastSeq: number | undefined;
  #phoneNumberChangedAt: number | undefined;
  #emailChangedAt: number | undefined;
  #status: AccountStatus | undefined;
  #statusReason = "";
  /** The freezes that stand. */
  #freezes = 0;
  #availableCents = 0;
  #heldCents = 0;
  #updatedAt = 0;
  #tier = DEFAULT_TIER;
  #depositReference: string | null = null;
  /** The transactions that are on their way over a rail. Most accounts never have one. */
  #openPayments: Set<string> | undefined;

  /** Puts a payment of a frozen account into `doubts` if it may be one that is right. */
  constructor(audit: Audit, book: AuditedBook, { id, doubts }: { id: string; doubts: Doubt[] }) {
    this.#audit = audit;
    this.#book = book;
    this.#id = id;
    this.#doubts = doubts;
  }

  /** Takes the rows of the account in the order of `seq`. */
  row(row: AuditedJournalRow): void {
    this.#created ??= hashedOf(row);
    const previousSeq = this.#lastSeq ?? null;
    if (row.previous_seq !== previousSeq) this.#add(row.seq, describeLink(previousSeq), describeLink(row.previous_seq));
    if (row.transaction_id === null) this.#checkOwnRow(row);
    else this.#checkTransactionRow(row, row.transaction_id);
    this.#follow(row);
    this.#lastSeq = row.seq;
  }

  /** Takes the rows of the tables, after the last row of the journal that they reflect. */
  end(summary: AuditedAccountRow | undefined): void {
    const { findings } = this.#book;
    const place = { seq: this.#lastSeq ?? summary?.seq, table: "accounts", id: this.#id } as const;
    if (!findings.isThere(place, summary, "a row")) return;
    if (findings.isThere(place, this.#created, "a journal row that created it")) {
      this.#compare(place, summary, this.#created);
    }
    const isErased = checkHolder(summary, {
      book: this.#book,
      created: this.#created,
      updated: this.#updated,
      erased: this.#erased,
      isClosed: this.#status === "CLOSED",
      changedAt: { phoneNumber: this.#phoneNumberChangedAt, email: this.#emailChangedAt },
    });
    if (isErased) this.#audit.coverage.erasedHolders += 1;
  }

  #compare(place: Place, summary: AuditedAccountRow, created: HashedRow): void {
    const { findings } = this.#book;
    findings.compareFields(place, {
      seq: [created.seq, summary.seq],
      last_seq: [this.#lastSeq, summary.last_seq],
      status: [this.#status, summary.status],
      created_at: [created.recorded_at, summary.created_at],
      updated_at: [this.#updatedAt, summary.updated_at],
      open_payments: [this.#openPayments?.size ?? 0, summary.open_payments],
      tier: [this.#tier, summary.tier],
      deposit_reference: [this.#depositReference, summary.deposit_reference],
    });
    findings.compare(place, {
      expected: describeBalances(this.#availableCents, this.#heldCents),
      found: describeBalances(summary.available_cents, summary.held_cents),
    });
    const { secrets } = this.#book;
    if (secrets !== undefined && !hasTrueAccountMac(secrets.balanceKey, summary)) findings.add(place, ANOTHER_MAC);
    if (summary.status_reason !== this.#statusReason) {
      findings.add(place, {
        expected: "the reason of the last unfreeze or closing, and none while frozen",
        found: "another status_reason",
      });
    }
  }

  /** Checks a row that belongs to no transaction. */
  #checkOwnRow(row: AuditedJournalRow): void {
    const { seq, kind } = row;
    this.#updatedAt = row.recorded_at;
    // An operator's correction moves money. The audit of the proposals checks how.
    if (kind.startsWith("book.")) this.#checkMayMove(row);
    else if (row.amount_cents !== null) this.#add(seq, `${kind} without a posting`, describePosting(row));
    if (kind === "account.created" && row.reason !== "") this.#add(seq, "account.created without a reason", "a reason");
    if (kind === "destination.created" && (this.#status === "CLOSED" || this.#erased !== undefined)) {
      this.#add(seq, `${kind} only on an open account with personal data`, describe(this.#status));
    }
    if (isStatusKind(kind)) this.#changeStatus(row, kind);
    else if (kind === "account.updated") this.#update(row);
    else if (kind === "account.erased") this.#erase(row);
    else if (kind === "account.revealed") this.#reveal(row);
    else if (kind === "account.tiered") this.#changeTier(row);
    if (HASHED_ELSEWHERE.has(kind)) return;
    const created = kind === "account.revealed" ? [row.actor, row.reason] : proofsIn(row);
    const found = "another content_hash, kind, account or time";
    const place: Place = { seq, table: "journal", id: this.#id };
    checkHash(
      this.#book,
      row,
      { accountId: this.#id, created },
      { place, expected: "the content_hash of the row", found },
    );
  }

  #changeStatus(row: AuditedJournalRow, kind: StatusKind): void {
    const { seq } = row;
    const from: readonly (AccountStatus | undefined)[] = FROM[kind];
    if (!from.includes(this.#status)) {
      this.#add(seq, `${kind} only when ${from.map(describe).join(" or ")}`, describe(this.#status));
    }
    if (kind === "account.closed") this.#checkEmpty(row);
    if (kind === "account.frozen") this.#freezes += 1;
    if (kind === "account.unfrozen") this.#freezes -= 1;
    if (this.#freezes > STANDING_FREEZES_MAX) {
      this.#add(seq, `at most ${String(STANDING_FREEZES_MAX)} standing freezes`, String(this.#freezes));
    }
    const isFrozen = this.#freezes > 0;
    this.#status = isFrozen ? "FROZEN" : "ACTIVE";
    if (kind === "account.closed") this.#status = "CLOSED";
    const detail = kind === "account.unfrozen" && isFrozen ? "FROZEN" : null;
    if (kind === "account.created" && row.detail !== null) {
      this.#depositReference = row.detail;
      if (!isDepositReference(row.detail)) {
        this.#add(seq, "8 digits with a right check digit as the detail", row.detail);
      }
    } else if (row.detail !== detail)
      this.#add(seq, `${kind} with the detail ${String(detail)}`, `the detail ${String(row.detail)}`);
    // The freezes of a frozen account have the reasons.
    this.#statusReason = isFrozen ? "" : row.reason;
  }

  #update(row: AuditedJournalRow): void {
    const { seq, reason, recorded_at: recordedAt } = row;
    if (row.detail !== null) this.#add(seq, "account.updated without a detail", "a detail");
    if (this.#status === undefined || this.#status === "CLOSED" || this.#erased !== undefined) {
      this.#add(seq, "account.updated only on an open account with personal data", describe(this.#status));
    }
    this.#updated = hashedOf(row);
    const { phoneNumber, email, both } = UPDATED_FIELDS;
    if (reason === phoneNumber || reason === both) this.#phoneNumberChangedAt = recordedAt;
    if (reason === email || reason === both) this.#emailChangedAt = recordedAt;
    if (reason !== phoneNumber && reason !== email && reason !== both) {
      this.#add(seq, "the names of the changed fields as the reason", "another reason");
    }
  }

  #changeTier({ seq, detail }: AuditedJournalRow): void {
    if (this.#status === undefined || this.#status === "CLOSED") {
      this.#add(seq, "account.tiered only on an open account", describe(this.#status));
    }
    if (detail === null || !TIER.test(detail)) this.#add(seq, "the name of a tier as the detail", String(detail));
    if (detail === this.#tier) this.#add(seq, "another tier than before", detail);
    this.#tier = detail ?? "";
  }

  #erase(row: AuditedJournalRow): void {
    this.#checkEmpty(row);
    if (this.#status === undefined) this.#add(row.seq, "account.created first", row.kind);
    if (this.#erased !== undefined) this.#add(row.seq, "one erasure", "a second one");
    this.#erased = hashedOf(row);
  }

  /** Somebody looked at the personal data: who and why is all that the row says. */
  #reveal({ seq, reason }: AuditedJournalRow): void {
    if (this.#status === undefined || this.#erased !== undefined) {
      this.#add(seq, "account.revealed only on an account with personal data", describe(this.#status));
    }
    if (!REVEAL_REASON.test(reason)) this.#add(seq, "why somebody looked as the reason", "another reason");
  }

  #checkEmpty({ seq, kind }: AuditedJournalRow): void {
    const open = this.#openPayments?.size ?? 0;
    if (open > 0) this.#add(seq, `${kind} only when no payment is open`, `${String(open)} open`);
    if (this.#availableCents === 0 && this.#heldCents === 0) return;
    const found = describeBalances(this.#availableCents, this.#heldCents);
    this.#add(seq, `${kind} only when the balances are zero`, found);
  }

  /** A payment is open from the pending row of its transaction to the row that ends it. */
  #checkTransactionRow(row: AuditedJournalRow, transactionId: string): void {
    if (row.amount_cents !== null) this.#updatedAt = row.recorded_at;
    this.#checkMayMove(row);
    if (row.kind === "transaction.pending") (this.#openPayments ??= new Set()).add(transactionId);
    else if (ENDS.has(row.kind)) this.#openPayments?.delete(transactionId);
  }

  /**
   * Only an ACTIVE account can start a transaction, or a payment at a rail. A FROZEN one gets what
   * an order brings. It pays only for what a rail reports late, and for a deposit that the rail
   * took back. No money can move on a CLOSED account.
   */
  #checkMayMove(row: AuditedJournalRow): void {
    if (this.#status === "ACTIVE") return;
    const { kind, transaction_id: id } = row;
    const isOfOrder = id !== null && this.#openPayments?.has(id) === true;
    const isMint = kind === "transaction.completed" && row.debit === "reserve" && !isOfOrder;
    const begins = BEGINS.has(kind) || ((row.debit === "available" || isMint) && !LATE.test(row.detail ?? ""));
    const moves = [row.debit, row.credit].some((name) => name === "available" || name === "held");
    if (this.#status === undefined || begins || (moves && this.#status === "CLOSED")) {
      const { seq, transaction_id: transactionId } = row;
      const expected = `${row.kind} with ${describePosting(row)} only when ACTIVE`;
      const found = describe(this.#status);
      const isDoubt = this.#status === "FROZEN" && row.credit === "reserve" && row.rail_receipt !== null;
      if (!isDoubt || transactionId === null) this.#add(seq, expected, found);
      else this.#doubts.push({ seq, accountId: this.#id, transactionId, expected, found });
    }
  }

  /**
   * Continues from the balances that the row states, even if they are wrong. So a broken row causes
   * one finding, and the rows after it cause none.
   */
  #follow(row: AuditedJournalRow): void {
    const availableCents = this.#availableCents + changeOf("available", row);
    const heldCents = this.#heldCents + changeOf("held", row);
    const { available_after_cents: availableAfterCents, held_after_cents: heldAfterCents } = row;
    if (availableCents !== availableAfterCents || heldCents !== heldAfterCents) {
      this.#add(
        row.seq,
        `${describeBalances(availableCents, heldCents)} after the row`,
        describeBalances(availableAfterCents, heldAfterCents),
      );
    }
    if (availableCents < 0 || heldCents < 0 || availableCents + heldCents > MAX_CENTS) {
      this.#add(row.seq, `balances from 0.00 to ${decimalOf(MAX_CENTS)}`, describeBalances(availableCents, heldCents));
    }
    this.#availableCents = availableAfterCents ?? 0;
    this.#heldCents = heldAfterCents ?? 0;
  }

  #add(seq: number, expected: string, found: string): void {
    this.#book.findings.onRow({ seq }, expected, found, this.#id);
  }
}

/** Drops the other columns, because an AccountCheck is kept for long. */
function hashedOf({ seq, kind, recorded_at, content_hash }: AuditedJournalRow): HashedRow {
  return { seq, kind, recorded_at, content_hash };
}

function isStatusKind(kind: string): kind is StatusKind {
  return Object.hasOwn(FROM, kind);
}

function describeLink(previousSeq: number | null): string {
  return previousSeq === null ? "no previous_seq" : `previous_seq ${String(previousSeq)}`;
}

function describe(status: AccountStatus | undefined): string {
  return status ?? "not created yet";
}

/** Available and held are liabilities, so a credit adds to them. */
function changeOf(book: BookAccount, { debit, credit, amount_cents: amountCents }: PostingColumns): number {
  return (credit === book ? (amountCents ?? 0) : 0) - (debit === book ? (amountCents ?? 0) : 0);
}
