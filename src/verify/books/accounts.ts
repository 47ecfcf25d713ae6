import type { AccountStatus } from "../../domain/account.js";
import type { BookAccount, JournalKind } from "../../domain/journal.js";
import { UPDATED_FIELDS } from "../../domain/operations/update-account.js";
import { MAX_CENTS } from "../../domain/values/cents.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { decimalOf, describeBalances, describePosting, type PostingColumns } from "../format.js";
import type { AuditedBook } from "./book-stream.js";
import { hasHashOf, type HashedRow, type ProofColumns, proofsIn } from "./content.js";
import { checkGroups, type Group, type GroupCheck, type GroupKey } from "./groups.js";
import { checkHolder, type HolderRow, holderRows } from "./holders.js";

/** A row of `accounts`. */
interface AccountRow extends GroupKey {
  readonly seq: number;
  readonly last_seq: number;
  readonly status: string;
  readonly status_reason: string;
  readonly available_cents: number;
  readonly held_cents: number;
  readonly open_payments: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A row of the journal. `id` is the id of its account. */
interface AccountJournalRow extends PostingColumns, GroupKey, HashedRow, ProofColumns {
  readonly previous_seq: number | null;
  readonly transaction_id: string | null;
  readonly available_after_cents: number;
  readonly held_after_cents: number;
  /** Null on the row of a transaction, like `content_hash`. */
  readonly reason: string | null;
}

type StatusKind = Exclude<Extract<JournalKind, `account.${string}`>, "account.updated" | "account.erased">;

/** The statuses from which a row of each kind may come. */
const FROM: Readonly<Record<StatusKind, readonly (AccountStatus | undefined)[]>> = {
  "account.created": [undefined],
  "account.frozen": ["ACTIVE", "FROZEN"],
  "account.unfrozen": ["FROZEN"],
  "account.closed": ["ACTIVE"],
};

// Repeated on purpose: an audit must not depend on the code that it audits.
const STANDING_FREEZES_MAX = 20;

/** The rows whose hash covers more than the row, so another check has it. */
const HASHED_ELSEWHERE: ReadonlySet<string> = new Set<JournalKind>([
  "account.created",
  "account.updated",
  "account.frozen",
  "account.unfrozen",
]);
const ENDS: ReadonlySet<string> = new Set(["transaction.completed", "transaction.failed", "transaction.canceled"]);

/**
 * Follows every account through the journal. Checks the link of each row to the previous one, the
 * balances after each row, and each change of status. Then compares the last state with the row in
 * `accounts`, and the personal data with the hash in the row that created the account.
 */
export async function auditAccounts(audit: Audit): Promise<void> {
  const { snapshot } = audit;
  const { byCodeUnit, table, hex } = snapshot;
  audit.coverage.accounts += await checkGroups<AccountRow, AccountJournalRow, HolderRow>(audit, {
    table: "accounts",
    summaries: snapshot.rows(`
      SELECT book, id, seq, last_seq, status, status_reason, available_cents, held_cents, open_payments,
        created_at, updated_at
      FROM ${table("accounts")} ORDER BY book, id ${byCodeUnit}`),
    parts: holderRows(snapshot),
    rows: snapshot.rows(`
      SELECT book, account_id AS id, seq, previous_seq, transaction_id, kind, debit, credit, amount_cents,
        available_after_cents, held_after_cents, detail, rail_receipt, recorded_at,
        CASE WHEN transaction_id IS NULL THEN reason END AS reason,
        CASE WHEN transaction_id IS NULL THEN ${hex("content_hash")} END AS content_hash
      FROM ${table("journal")} WHERE account_id IS NOT NULL ORDER BY book, account_id ${byCodeUnit}, seq`),
    check: (group) => new AccountCheck(group, audit),
  });
}

class AccountCheck implements GroupCheck<AccountJournalRow> {
  readonly #audit: Audit;
  readonly #group: Group<AccountRow, HolderRow>;
  readonly #book: AuditedBook;
  readonly #id: string;
  #first: AccountJournalRow | undefined;
  #last: AccountJournalRow | undefined;
  #updated: AccountJournalRow | undefined;
  #erased: AccountJournalRow | undefined;
  readonly #changedAt = { phoneNumber: undefined as number | undefined, email: undefined as number | undefined };
  #status: AccountStatus | undefined;
  #statusReason: string | null = "";
  /** The freezes that stand. */
  #freezes = 0;
  #availableCents = 0;
  #heldCents = 0;
  #updatedAt = 0;
  /** The transactions that are on their way over a rail. */
  readonly #open = new Set<string>();

  constructor(group: Group<AccountRow, HolderRow>, audit: Audit) {
    this.#audit = audit;
    this.#group = group;
    this.#book = group.book;
    this.#id = group.key.id ?? "";
  }

  row(row: AccountJournalRow): void {
    this.#first ??= row;
    const previousSeq = this.#last?.seq ?? null;
    if (row.previous_seq !== previousSeq) this.#add(row.seq, describeLink(previousSeq), describeLink(row.previous_seq));
    if (row.transaction_id === null) this.#checkOwnRow(row);
    else this.#checkTransactionRow(row, row.transaction_id);
    this.#follow(row);
    this.#last = row;
  }

  end(): void {
    const { summary, part } = this.#group;
    const place = { seq: this.#last?.seq ?? summary?.seq ?? part?.seq, table: "accounts", id: this.#id } as const;
    if (summary === undefined) this.#book.findings.add(place, { expected: "a row", found: "none" });
    else if (this.#first === undefined || this.#last === undefined) {
      this.#book.findings.add(place, { expected: "a journal row that created it", found: "none" });
    } else {
      this.#compare(place, summary, [this.#first, this.#last]);
    }
    const isErased = checkHolder(part, {
      id: this.#id,
      book: this.#book,
      created: this.#first,
      updated: this.#updated,
      erased: this.#erased,
      isClosed: this.#status === "CLOSED",
      changedAt: this.#changedAt,
    });
    if (isErased) this.#audit.coverage.erasedHolders += 1;
  }

  #compare(place: Place, summary: AccountRow, [first, last]: [AccountJournalRow, AccountJournalRow]): void {
    const { findings } = this.#book;
    findings.compareFields(place, {
      seq: [first.seq, summary.seq],
      last_seq: [last.seq, summary.last_seq],
      status: [this.#status, summary.status],
      created_at: [first.recorded_at, summary.created_at],
      updated_at: [this.#updatedAt, summary.updated_at],
      open_payments: [this.#open.size, summary.open_payments],
    });
    findings.compare(place, {
      expected: describeBalances(this.#availableCents, this.#heldCents),
      found: describeBalances(summary.available_cents, summary.held_cents),
    });
    if (summary.status_reason !== this.#statusReason) {
      findings.add(place, {
        expected: "the reason of the last unfreeze or closing, and none while frozen",
        found: "another status_reason",
      });
    }
  }

  /** Checks a row that belongs to no transaction. */
  #checkOwnRow(row: AccountJournalRow): void {
    const { seq, kind } = row;
    const { secrets } = this.#book;
    this.#updatedAt = row.recorded_at;
    // An operator's correction moves money. The audit of the journal checks it.
    const isCorrection = kind.startsWith("book.");
    if (row.amount_cents !== null && !isCorrection) {
      this.#add(seq, `${kind} without a posting`, describePosting(row));
    }
    if (isCorrection) this.#checkMayMove(row);
    if (kind === "account.created" && row.reason !== "") this.#add(seq, "account.created without a reason", "a reason");
    if (isStatusKind(kind)) this.#changeStatus(row, kind);
    else if (kind === "account.updated") this.#update(row);
    else if (kind === "account.erased") this.#erase(row);
    if (HASHED_ELSEWHERE.has(kind) || secrets === undefined) return;
    if (!hasHashOf({ accountId: this.#id, transactionId: null, created: proofsIn(row) }, row, secrets.salts)) {
      this.#add(seq, "the content_hash of the row", "another content_hash, kind, account or time");
    }
  }

  #changeStatus(row: AccountJournalRow, kind: StatusKind): void {
    const { seq } = row;
    const from = FROM[kind];
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
    // The freezes of a frozen account have the reasons.
    this.#statusReason = isFrozen ? "" : row.reason;
  }

  #update(row: AccountJournalRow): void {
    const { seq, reason, recorded_at: recordedAt } = row;
    if (this.#status === undefined || this.#status === "CLOSED" || this.#erased !== undefined) {
      this.#add(seq, "account.updated only on an open account with personal data", describe(this.#status));
    }
    this.#updated = row;
    const { phoneNumber, email, both } = UPDATED_FIELDS;
    if (reason === phoneNumber || reason === both) this.#changedAt.phoneNumber = recordedAt;
    if (reason === email || reason === both) this.#changedAt.email = recordedAt;
    if (reason !== phoneNumber && reason !== email && reason !== both) {
      this.#add(seq, "the names of the changed fields as the reason", "another reason");
    }
  }

  #erase(row: AccountJournalRow): void {
    this.#checkEmpty(row);
    if (this.#status === undefined) this.#add(row.seq, "account.created first", row.kind);
    if (this.#erased !== undefined) this.#add(row.seq, "one erasure", "a second one");
    this.#erased = row;
  }

  #checkEmpty({ seq, kind }: AccountJournalRow): void {
    if (this.#open.size > 0) {
      this.#add(seq, `${kind} only when no payment is open`, `${String(this.#open.size)} open`);
    }
    if (this.#availableCents === 0 && this.#heldCents === 0) return;
    const found = describeBalances(this.#availableCents, this.#heldCents);
    this.#add(seq, `${kind} only when the balances are zero`, found);
  }

  /** A pending transaction is open until it ends. */
  #checkTransactionRow(row: AccountJournalRow, transactionId: string): void {
    if (row.amount_cents !== null) this.#updatedAt = row.recorded_at;
    this.#checkMayMove(row);
    if (row.kind === "transaction.pending") this.#open.add(transactionId);
    else if (ENDS.has(row.kind)) this.#open.delete(transactionId);
  }

  /**
   * Only an ACTIVE account can start a transaction. A FROZEN one pays only for what a rail reports
   * late. No money can move on a CLOSED account.
   */
  #checkMayMove(row: AccountJournalRow): void {
    if (this.#status === "ACTIVE") return;
    const begins = row.kind === "transaction.pending" || (row.debit === "available" && row.detail !== "LATE");
    const moves = [row.debit, row.credit].some((name) => name === "available" || name === "held");
    if (this.#status === undefined || begins || (moves && this.#status === "CLOSED")) {
      this.#add(row.seq, `${row.kind} with ${describePosting(row)} only when ACTIVE`, describe(this.#status));
    }
  }

  /**
   * Continues from the balances that the row states, even if they are wrong. So a broken row causes
   * one finding, and the rows after it cause none.
   */
  #follow(row: AccountJournalRow): void {
    const availableCents = this.#availableCents + changeOf("available", row);
    const heldCents = this.#heldCents + changeOf("held", row);
    if (availableCents !== row.available_after_cents || heldCents !== row.held_after_cents) {
      this.#add(
        row.seq,
        `${describeBalances(availableCents, heldCents)} after the row`,
        describeBalances(row.available_after_cents, row.held_after_cents),
      );
    }
    if (availableCents < 0 || heldCents < 0 || availableCents + heldCents > MAX_CENTS) {
      this.#add(row.seq, `balances from 0.00 to ${decimalOf(MAX_CENTS)}`, describeBalances(availableCents, heldCents));
    }
    this.#availableCents = row.available_after_cents;
    this.#heldCents = row.held_after_cents;
  }

  #add(seq: number, expected: string, found: string): void {
    this.#book.findings.add({ seq, table: "journal", id: this.#id }, { expected, found });
  }
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
