import type { AccountStatus } from "../domain/account.js";
import type { BookAccount, JournalKind } from "../domain/journal.js";
import { MAX_CENTS } from "../domain/values/cents.js";
import type { Snapshot } from "../storage/sql/snapshot.js";
import type { Findings } from "./findings.js";
import { decimalOf, describeBalances, describePosting, type PostingColumns } from "./format.js";
import { checkGroups, type GroupCheck } from "./merge-join.js";

/** A row of `accounts`. */
interface AccountSummary {
  readonly id: string;
  readonly seq: number;
  readonly last_seq: number;
  readonly organization_id: string;
  readonly status: string;
  readonly available_cents: number;
  readonly held_cents: number;
}

/** A row of the journal. `id` is the id of its account. */
interface AccountJournalRow extends PostingColumns {
  readonly id: string;
  readonly seq: number;
  readonly previous_seq: number | null;
  readonly organization_id: string;
  readonly kind: string;
  readonly available_after_cents: number;
  readonly held_after_cents: number;
}

type AccountKind = Exclude<Extract<JournalKind, `account.${string}`>, "account.erased">;

const STATUS_CHANGES: Readonly<Record<AccountKind, { from: AccountStatus | undefined; to: AccountStatus }>> = {
  "account.created": { from: undefined, to: "ACTIVE" },
  "account.frozen": { from: "ACTIVE", to: "FROZEN" },
  "account.unfrozen": { from: "FROZEN", to: "ACTIVE" },
  "account.closed": { from: "ACTIVE", to: "CLOSED" },
};

/**
 * Follows every account through the journal. Checks the link of each row to the previous one, the
 * balances after each row, and each change of status. Then compares the last state with the row in
 * `accounts`. Returns the number of accounts.
 */
export function verifyAccounts(snapshot: Snapshot, findings: Findings): Promise<number> {
  const { byCodeUnit, table } = snapshot;
  return checkGroups<AccountSummary, AccountJournalRow>({
    summaries: snapshot.rows(`
      SELECT a.id, a.seq, a.last_seq, b.organization_id, a.status, a.available_cents, a.held_cents
      FROM ${table("accounts")} a LEFT JOIN ${table("books")} b ON b.number = a.book ORDER BY a.id ${byCodeUnit}`),
    rows: snapshot.rows(`
      SELECT j.account_id AS id, j.seq, j.previous_seq, b.organization_id, j.kind, j.debit, j.credit, j.amount_cents,
        j.available_after_cents, j.held_after_cents
      FROM ${table("journal")} j LEFT JOIN ${table("books")} b ON b.number = j.book
      WHERE j.account_id IS NOT NULL ORDER BY j.account_id ${byCodeUnit}, j.seq`),
    check: (id, summary) => new AccountCheck(id, summary, findings),
  });
}

class AccountCheck implements GroupCheck<AccountJournalRow> {
  readonly #id: string;
  readonly #summary: AccountSummary | undefined;
  readonly #findings: Findings;
  #first: AccountJournalRow | undefined;
  #last: AccountJournalRow | undefined;
  #status: AccountStatus | undefined;
  #availableCents = 0;
  #heldCents = 0;

  constructor(id: string, summary: AccountSummary | undefined, findings: Findings) {
    this.#id = id;
    this.#summary = summary;
    this.#findings = findings;
  }

  row(row: AccountJournalRow): void {
    this.#first ??= this.#begin(row);
    if (row.organization_id !== this.#first.organization_id) {
      this.#add(row.seq, `organization ${this.#first.organization_id}`, `organization ${row.organization_id}`);
    }
    const previousSeq = this.#last?.seq ?? null;
    if (row.previous_seq !== previousSeq) this.#add(row.seq, describeLink(previousSeq), describeLink(row.previous_seq));
    if (isAccountKind(row.kind)) this.#changeStatus(row, row.kind);
    else if (row.kind !== "account.erased") this.#checkMayMove(row);
    this.#follow(row);
    this.#last = row;
  }

  end(): void {
    const summary = this.#summary;
    if (summary === undefined) return;
    if (this.#last === undefined) {
      this.#compareSummary(summary.seq, "a journal row that created it", "none");
      return;
    }
    const { seq } = this.#last;
    this.#compareSummary(
      seq,
      `${describe(this.#status)}, ${describeBalances(this.#availableCents, this.#heldCents)}`,
      `${summary.status}, ${describeBalances(summary.available_cents, summary.held_cents)}`,
    );
    this.#compareSummary(seq, `last_seq ${String(seq)}`, `last_seq ${String(summary.last_seq)}`);
  }

  #begin(row: AccountJournalRow): AccountJournalRow {
    const summary = this.#summary;
    if (summary === undefined) {
      this.#compareSummary(row.seq, "a row", "none");
      return row;
    }
    this.#compareSummary(
      row.seq,
      `created at seq ${String(row.seq)}, organization ${row.organization_id}`,
      `created at seq ${String(summary.seq)}, organization ${summary.organization_id}`,
    );
    return row;
  }

  #changeStatus(row: AccountJournalRow, kind: AccountKind): void {
    const { seq } = row;
    const { from, to } = STATUS_CHANGES[kind];
    if (this.#status !== from) this.#add(seq, `${kind} only when ${describe(from)}`, describe(this.#status));
    if (row.amount_cents !== null) this.#add(seq, `${kind} without a posting`, describePosting(row));
    if (to === "CLOSED" && (this.#availableCents !== 0 || this.#heldCents !== 0)) {
      this.#add(
        seq,
        `${kind} only when the balances are zero`,
        describeBalances(this.#availableCents, this.#heldCents),
      );
    }
    this.#status = to;
  }

  /** Only an ACTIVE account can start a transaction. No money can move on a CLOSED account. */
  #checkMayMove(row: AccountJournalRow): void {
    if (this.#status === "ACTIVE") return;
    const begins = row.kind === "transaction.pending" || row.debit === "available";
    const moves = row.amount_cents !== null;
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
    this.#findings.add({ seq, table: "journal", id: this.#id, expected, found });
  }

  #compareSummary(seq: number, expected: string, found: string): void {
    this.#findings.compare({ seq, table: "accounts", id: this.#id, expected, found });
  }
}

function isAccountKind(kind: string): kind is AccountKind {
  return Object.hasOwn(STATUS_CHANGES, kind);
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
