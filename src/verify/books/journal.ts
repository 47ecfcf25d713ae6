import { MAX_SUM_CENTS, ofEachAccount } from "../../domain/book.js";
import { BOOK_ACCOUNTS, type BookAccount, JOURNAL_KINDS, MAY_BE_NEGATIVE } from "../../domain/journal.js";
import { MAX_CENTS } from "../../domain/values/cents.js";
import { ORGANIZATIONS } from "../../model/organizations.js";
import { bookMac } from "../../storage/secrets/balance-mac.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { decimalOf, describePosting, post, type PostingColumns } from "../format.js";
import type { Head } from "../heads.js";
import type { AuditedBook, AuditedBookRow } from "./book.js";
import { ANOTHER_MAC, checkHash, checkOwnHash, proofsIn } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import { accountsOf } from "./proposals.js";

const KINDS: ReadonlySet<string> = new Set(JOURNAL_KINDS);
const STATES: ReadonlySet<string> = new Set(["OPEN", "MOVING", "MOVED", "RESTORED"]);
/** The last time that a Date can hold, in Unix milliseconds. */
const TIME_MAX = 8_640_000_000_000_000;
const FIRST_KIND = "organization.created";
const FREEZE_KINDS: ReadonlySet<string> = new Set(["account.frozen", "account.unfrozen"]);
const SUSPENDED = "organization.suspended";
const RESUMED = "organization.resumed";
const REQUIRED = "organization.receipts_required";
const OPTIONAL = "organization.receipts_optional";
const RULES_SET = "reserve.rules_set";
const LIST_SET = "payouts.list_set";
/** The kinds of rows about the organization itself that can have words, beside corrections. */
const HAS_WORDS: ReadonlySet<string> = new Set([
  SUSPENDED,
  RESUMED,
  REQUIRED,
  OPTIONAL,
  "limits.set",
  "month.closed",
  "rail.changed",
  "reserve.recorded",
  "reserve.place_set",
  RULES_SET,
  "payouts.approved",
  "payouts.check_set",
  "payouts.check_cleared",
  "bank_file.approved",
  "bank_file.downloaded",
  "bank_file.lost",
  "payouts.stopped",
  LIST_SET,
]);
const CHARGE = "charge.recorded";
const CHARGE_RECEIPT = "charge:";
/** The rows whose hash leaves the detail out. */
const PLAIN_KIND = /^(organization\.|key\.created$)/;
const WEBHOOK_KIND = /^webhook_endpoint\./;
/** The kinds of rows about the organization itself. */
const RECEIPT_KIND = /^(transaction|book|deposit|charge)\./;
const OWN_KIND = /^(organization|key|webhook_endpoint|reserve|limits|rail|deposit|charge|month|payouts|bank_file)\./;
/** The kinds of rows that move money of no account. */
const MOVES_KIND = /^(book|deposit|charge)\./;

/**
 * Checks that no row of a book is missing or doubled, and that each row is valid by itself. Then
 * compares the last row and the sums of the postings with `books`.
 */
export class BookCheck {
  readonly table = "journal";
  readonly #book: AuditedBook;
  readonly #audit: Audit;
  readonly #noted: Head | undefined;
  readonly #sums = ofEachAccount(() => 0n);
  #lastSeq = 0;
  #lastRecordedAt = 0;
  #lastHash = "";
  #suspendedSeq: number | null = null;
  #receiptsRequiredSeq: number | null = null;
  #reserveRules: string | null = null;
  #payoutList: string | null = null;

  constructor(book: AuditedBook, audit: Audit) {
    this.#book = book;
    this.#audit = audit;
    this.#noted = audit.notedHeads.get(book.row.organization_id);
  }

  /** Takes the rows in the order of `seq`, up to the head of the book. */
  row(row: AuditedJournalRow): void {
    const { seq } = row;
    this.#audit.coverage.journalRows += 1;
    if (seq !== this.#lastSeq + 1) this.#addOutOfStep(seq);
    this.#checkTime(row);
    this.#checkForm(row);
    if (row.account_id === null) this.#checkOwn(row);
    if (row.kind === FIRST_KIND && row.account_id === null) this.#checkFirst(row);
    if (row.kind === SUSPENDED || row.kind === RESUMED) {
      this.#suspendedSeq = this.#switched(row, this.#suspendedSeq, { on: SUSPENDED, state: "suspended" });
    }
    if (row.kind === REQUIRED || row.kind === OPTIONAL) {
      const state = "receipts required";
      this.#receiptsRequiredSeq = this.#switched(row, this.#receiptsRequiredSeq, { on: REQUIRED, state });
    }
    if (row.kind === RULES_SET) this.#reserveRules = row.detail;
    if (row.kind === LIST_SET) this.#payoutList = row.detail;
    if (isPosting(row)) post(this.#sums, row);
    if (this.#isCounted) this.#audit.coverage.actsWithoutPerson.inBook(this.#book.row.organization_id, row);
    this.#lastSeq = seq;
    this.#lastHash = row.content_hash;
    if (seq === this.#noted?.seq) this.#compareNoted(this.#noted, `content_hash ${this.#lastHash}`);
  }

  /** The other place counts a book that has left, or has not been opened here. */
  get #isCounted(): boolean {
    const { phase } = this.#book.row;
    return phase === null || phase === "LEAVING";
  }

  end(): void {
    const { row, secretsProblem } = this.#book;
    const { coverage } = this.#audit;
    const last = { seq: this.#lastSeq, table: "books", id: row.organization_id } as const;
    if (this.#lastSeq === 0) this.#add(1, FIRST_KIND, "no row");
    if (this.#noted !== undefined && this.#lastSeq < this.#noted.seq) {
      this.#compareNoted(this.#noted, `the book ends at seq ${String(this.#lastSeq)}`);
    }
    this.#compareBook(last, row);
    if (secretsProblem !== undefined) {
      const expected = "keys that the master key decrypts";
      this.#book.findings.add({ ...last, table: "book_keys" }, { expected, found: secretsProblem });
    }
    if (this.#isCounted) coverage.reserveCents += this.#sums.reserve;
    if (this.#lastSeq === 0) return;
    coverage.heads.push({
      organizationId: row.organization_id,
      seq: this.#lastSeq,
      contentHash: this.#lastHash,
    });
  }

  #addOutOfStep(seq: number): void {
    const expectedSeq = this.#lastSeq + 1;
    if (seq > expectedSeq) this.#add(expectedSeq, "a row", `no row: the next row has seq ${String(seq)}`);
    else this.#add(seq, `seq ${String(expectedSeq)}`, `seq ${String(seq)} again`);
  }

  /** Continues from a wrong time, so that one row causes one finding. */
  #checkTime({ seq, recorded_at: recordedAt }: AuditedJournalRow): void {
    const isTime = recordedAt <= TIME_MAX;
    if (!isTime || recordedAt < this.#lastRecordedAt) {
      this.#add(seq, `recorded_at ${String(this.#lastRecordedAt)} or later`, `recorded_at ${String(recordedAt)}`);
    }
    this.#lastRecordedAt = recordedAt;
    const { coverage } = this.#audit;
    if (isTime) coverage.lastRecordedAt = Math.max(coverage.lastRecordedAt, recordedAt);
  }

  #checkForm(row: AuditedJournalRow): void {
    const { seq, kind } = row;
    if (!KINDS.has(kind)) this.#add(seq, "a known kind", kind);
    if ((kind === FIRST_KIND) !== (seq === 1)) this.#add(seq, `${FIRST_KIND} as seq 1, and nowhere else`, kind);
    if (kind.startsWith("transaction.") !== (row.transaction_id !== null)) {
      const expected = "a transaction_id if the kind begins with transaction., and none otherwise";
      this.#add(seq, expected, `${kind} ${row.transaction_id === null ? "without" : "with"} one`);
    }
    if (FREEZE_KINDS.has(kind) !== (row.freeze_id !== null)) {
      const expected = "a freeze_id if the row freezes or unfreezes, and none otherwise";
      this.#add(seq, expected, `${kind} ${row.freeze_id === null ? "without" : "with"} one`);
    }
    // The hashes of some of these rows leave it out, and it would block a true payment.
    if (row.rail_receipt !== null && !RECEIPT_KIND.test(kind)) this.#add(seq, `no receipt on ${kind}`, "a receipt");
    const { mayLack, mayHave } = OWN_KIND.test(kind) ? { mayLack: true, mayHave: false } : accountsOf(kind);
    if (row.account_id === null ? !mayLack : !mayHave) {
      const expected = "an account_id, except on rows about the organization or its book";
      this.#add(seq, expected, `${kind} ${row.account_id === null ? "without" : "with"} one`);
    }
    if (!isNoPosting(row) && !isPosting(row)) {
      const expected = `a debit and a credit to two of the book accounts, and an amount from 0.01 to ${decimalOf(MAX_CENTS)}`;
      this.#add(seq, expected, describePosting(row));
    }
  }

  /** Checks a row about the organization itself. */
  #checkOwn(row: AuditedJournalRow): void {
    const { seq } = row;
    const mayMove = MOVES_KIND.test(row.kind);
    if (!isNoPosting(row) && !mayMove) this.#add(seq, "no posting without an account", describePosting(row));
    const stray = row.previous_seq ?? row.available_after_cents ?? row.held_after_cents;
    if (stray !== null) this.#add(seq, "no link and no balance without an account", String(stray));
    if (row.reason !== "" && !HAS_WORDS.has(row.kind) && !mayMove)
      this.#add(seq, "no reason without an account", "a reason");
    if (row.detail !== null && PLAIN_KIND.test(row.kind)) this.#add(seq, `no detail on ${row.kind}`, "a detail");
    if (WEBHOOK_KIND.test(row.kind)) this.#checkWebhookRow(row);
    if (row.kind === CHARGE) this.#checkCharge(row);
  }

  /** No table has the charges, so only the row itself says what they are. */
  #checkCharge(row: AuditedJournalRow): void {
    const { seq, debit, credit, amount_cents: amountCents } = row;
    checkOwnHash(this.#book, row, { found: "another content_hash, detail, receipt or time" });
    const isOut = debit === "charges" && credit === "reserve";
    const isIn = debit === "reserve" && credit === "charges";
    const direction = isOut ? "out" : isIn ? "in" : "another posting of";
    const detail = `${direction} ${String(amountCents)}`;
    if (row.detail !== detail) this.#add(seq, `the posting that the detail ${String(row.detail)} says`, detail);
    const isNamed = row.rail_receipt?.startsWith(CHARGE_RECEIPT) === true;
    if (!isNamed) this.#add(seq, `a receipt that begins with ${CHARGE_RECEIPT}`, String(row.rail_receipt));
  }

  /** The row names an endpoint, which may be deleted since. So only its hash can confirm it. */
  #checkWebhookRow(row: AuditedJournalRow): void {
    const place: Place = { seq: row.seq, table: "journal", id: this.#book.row.organization_id };
    const expected = "the kind, the time and the detail that give the content_hash";
    const found = "another kind, time, detail or content_hash";
    checkHash(this.#book, row, { created: proofsIn(row) }, { place, expected, found });
  }

  /** Checks the row that created the organization. */
  #checkFirst(row: AuditedJournalRow): void {
    const { secrets, findings, row: book } = this.#book;
    const { seq } = row;
    if (book.name === null) return;
    const place = { seq, table: "organizations", id: book.organization_id } as const;
    findings.compareFields(place, { created_at: [row.recorded_at, book.created_at] });
    const content = { transactionId: row.transaction_id, created: [book.name, String(book.is_sandbox)] };
    const expected = "the name and the mode that give the content_hash";
    checkHash(this.#book, row, content, { place, expected, found: "another name, mode or content_hash" });
    const { name, is_sandbox, created_at, organization_mac: mac } = book;
    const bound = { id: book.organization_id, name, is_sandbox, created_at, mac };
    if (secrets !== undefined && !hasTrueMac(secrets.keys, ORGANIZATIONS, bound)) findings.add(place, ANOTHER_MAC);
  }

  /** Returns the `seq` that switched the state on. Null for the row that switches it off. */
  #switched(
    row: AuditedJournalRow,
    since: number | null,
    { on, state }: { readonly on: string; readonly state: string },
  ): number | null {
    const { seq, kind } = row;
    const isOn = since !== null;
    if ((kind === on) === isOn) {
      this.#add(seq, `${kind} only when ${isOn ? `not ${state}` : state}`, isOn ? state : `not ${state}`);
    }
    checkOwnHash(this.#book, row, {
      found: "another content_hash, kind, reason or time",
      created: [row.reason],
    });
    return kind === on ? seq : null;
  }

  #compareBook(place: Place, row: AuditedBookRow): void {
    const { findings, secrets } = this.#book;
    if (secrets !== undefined && row.mac !== bookMac(secrets.balanceKey, row)) findings.add(place, ANOTHER_MAC);
    if (row.name === null) findings.add({ ...place, table: "organizations" }, { expected: "a row", found: "none" });
    const isOpen = row.state === "OPEN" || row.state === "RESTORED";
    if (isOpen && row.phase !== null) {
      findings.add(place, { expected: `no move of a book that is ${row.state}`, found: row.phase });
    }
    if (!STATES.has(row.state)) findings.add(place, { expected: "a known state", found: row.state });
    if (!(row.number > 0)) findings.add(place, { expected: "a number above 0", found: String(row.number) });
    if (this.#lastSeq > 0) {
      findings.compareFields(place, {
        last_seq: [this.#lastSeq, row.last_seq],
        last_recorded_at: [this.#lastRecordedAt, row.last_recorded_at],
        suspended_seq: [this.#suspendedSeq, row.suspended_seq],
        receipts_required_seq: [this.#receiptsRequiredSeq, row.receipts_required_seq],
        reserve_rules: [this.#reserveRules, row.reserve_rules],
        payout_list: [this.#payoutList, row.payout_list],
      });
    }
    const found = ofEachAccount((account) => row[`${account}_cents`]);
    findings.compare(place, { expected: describeSums(this.#sums), found: describeSums(found) });
    const outside = BOOK_ACCOUNTS.filter((name) => {
      const cents = this.#sums[name];
      return cents > MAX_SUM_CENTS || cents < (MAY_BE_NEGATIVE.has(name) ? -MAX_SUM_CENTS : 0);
    });
    if (outside.length > 0) {
      const expected = `sums up to ${decimalOf(MAX_SUM_CENTS)}, and only the reserve and the charges below zero`;
      findings.add(place, { expected, found: `${outside.join(", ")} outside of that` });
    }
  }

  #compareNoted({ seq, contentHash }: Head, found: string): void {
    const place = { seq, table: "journal", id: this.#book.row.organization_id } as const;
    if (found === `content_hash ${contentHash}`) return;
    const expected = `the row that the heads file knows, with content_hash ${contentHash}`;
    this.#book.findings.add(place, { expected, found });
  }

  #add(seq: number, expected: string, found: string): void {
    this.#book.findings.onRow({ seq }, expected, found);
  }
}

interface ValidPosting {
  readonly debit: BookAccount;
  readonly credit: BookAccount;
  readonly amount_cents: number;
}

function isNoPosting({ debit, credit, amount_cents: amountCents }: PostingColumns): boolean {
  return debit === null && credit === null && amountCents === null;
}

function isPosting(row: AuditedJournalRow): row is AuditedJournalRow & ValidPosting {
  const { debit, credit, amount_cents: amountCents } = row;
  return (
    isBookAccount(debit) &&
    isBookAccount(credit) &&
    debit !== credit &&
    amountCents !== null &&
    Number.isSafeInteger(amountCents) &&
    amountCents > 0 &&
    amountCents <= MAX_CENTS
  );
}

function isBookAccount(name: string | null): name is BookAccount {
  return BOOK_ACCOUNTS.some((known) => known === name);
}

function describeSums(sums: Readonly<Record<BookAccount, bigint | string>>): string {
  return BOOK_ACCOUNTS.map((name) => `${name} ${decimalOf(sums[name])}`).join(", ");
}
