import type { JournalKind } from "../../../domain/journal.js";
import type { Audit } from "../../audit.js";
import type { ApiKeysAudit } from "../api-keys.js";
import type { AuditedBook } from "../book.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import type { AuditedTransactionRow } from "../transactions/transaction-check.js";

// Repeated on purpose: an audit must not depend on the code that it audits.

/** Who can write a row: an API key, a person or the machine, or a rail and other services. */
export type Author = "key" | "operators" | "payouts" | "service";

/** Who can write a row, and the scope that a key needs for it. */
interface Right {
  readonly authors: readonly Author[];
  readonly scope: string;
}

/**
 * How long a key or an operator can still write after its end: a call may take 3,600 seconds
 * (KESC_CALL_SECONDS_MAX), a server knows a key for a second, a stream asks again after 15, and
 * two clocks may differ by some seconds. A revocation that is undone for less is not found.
 */
const CALL_MILLIS_MAX = 3_660_000;
/** A book may be this far ahead of the clock of a server. */
const CLOCK_BEHIND_MILLIS_MAX = 60_000;
/** The command on the database. */
const MACHINE = "operator";
/** What pays the rows of approved files. */
const FILES = "payouts";
/** What notes the answers of checks of payouts, and the rows that follow from one. */
const CHECKS = "checks";
const OF_CHECKS: ReadonlySet<string> = new Set(["transaction.held", "transaction.released"]);
/** The detail of the row with which a person refuses a redemption that was held. */
const REFUSED = "REFUSED_BY_OPERATOR";
const KEY = /^key_/;
const OPERATOR = /^opr_/;

const byKey = (scope: string): Right => ({ authors: ["key"], scope });
const byPerson = (scope: string): Right => ({ authors: ["key", "operators"], scope });
const MOVES = byKey("transactions:write");
/** A key may name a file in the metadata, too: it is a word of the caller then. */
const PAYS_FILE: Right = { authors: ["key", "payouts"], scope: "transactions:write" };
const OPERATORS: Right = { authors: ["operators"], scope: "" };
const CORRECTS = byPerson("transactions:write");
const RESOLVES = byPerson("transactions:resolve");
const ACCOUNTS = byPerson("accounts:write");
const ENDPOINTS = byPerson("webhooks:write");

/** The rows that a rail never writes. */
const RIGHTS: Readonly<Partial<Record<JournalKind, Right>>> = {
  "account.created": byKey("accounts:write"),
  "account.updated": ACCOUNTS,
  "account.closed": ACCOUNTS,
  "account.frozen": ACCOUNTS,
  "account.unfrozen": ACCOUNTS,
  "destination.created": byKey("destinations:write"),
  "destination.removed": byPerson("destinations:write"),
  "transaction.pending": MOVES,
  "transaction.held": PAYS_FILE,
  "transaction.released": OPERATORS,
  "transaction.canceled": CORRECTS,
  "transaction.attended": RESOLVES,
  "transaction.resolution_proposed": RESOLVES,
  "webhook_endpoint.created": ENDPOINTS,
  "webhook_endpoint.updated": ENDPOINTS,
  "webhook_endpoint.deleted": ENDPOINTS,
};

/** Returns who can write the row. `begun` is the transaction that it begins. */
export function rightOf(row: AuditedJournalRow, begun: AuditedTransactionRow | undefined): Right | undefined {
  if (row.kind === "transaction.pending" && begun !== undefined && namesFile(begun)) return PAYS_FILE;
  if (row.kind === "transaction.failed" && row.detail === REFUSED) return OPERATORS;
  // The audit of the transaction compares the row with `transaction.checked` before it.
  if (row.actor === CHECKS && OF_CHECKS.has(row.kind)) return undefined;
  if (begun === undefined || row.kind !== "transaction.completed") return RIGHTS[row.kind as JournalKind];
  const { deposit_id: depositId, correction } = begun;
  if (correction === null) return depositId === null || isClaim(begun) ? MOVES : undefined;
  return correction === "REVERSAL" && depositId === null ? CORRECTS : undefined;
}

/** Whether the transaction says that it pays a row of a file (docs/adr/0078). */
function namesFile({ type, metadata }: AuditedTransactionRow): boolean {
  return type === "REDEEM" && metadata.includes('["payout_file","');
}

/** Whether a caller's own mint credits the deposit whose receipt it names. */
export function isClaim({ deposit_id: depositId, reference }: AuditedTransactionRow): boolean {
  return depositId !== null && !reference.startsWith("kesc:");
}

export function authorOf(actor: string): Author {
  if (KEY.test(actor)) return "key";
  if (actor === FILES) return "payouts";
  return actor === MACHINE || OPERATOR.test(actor) ? "operators" : "service";
}

/** Finds out whether the actor of a row was there, and could act, when the row was written. */
export class Authors {
  readonly #audit: Audit;
  readonly #book: AuditedBook;
  readonly #keys: Pick<ApiKeysAudit, "key">;

  constructor(audit: Audit, book: AuditedBook, keys: Pick<ApiKeysAudit, "key">) {
    this.#audit = audit;
    this.#book = book;
    this.#keys = keys;
  }

  /** Returns what the actor should have been. Undefined if nothing is wrong with it. */
  problemOf(row: AuditedJournalRow, right: Right | undefined): string | undefined {
    const { actor } = row;
    const author = authorOf(actor);
    if (right !== undefined && !right.authors.includes(author)) {
      const authors = right.authors.map((each) => (each === "key" ? "a key" : each));
      return `${authors.join(" or ")} as the actor of ${row.kind}`;
    }
    if (author === "key") return this.#problemOfKey(row, right);
    return OPERATOR.test(actor) ? this.#problemOfOperators(row) : undefined;
  }

  #problemOfKey(row: AuditedJournalRow, right: Right | undefined): string | undefined {
    const key = this.#keys.key(row.actor);
    if (key === undefined || key.seq >= row.seq) return "a key of the book that was created before, as the actor";
    const { revoked_seq: revokedSeq, revoked_at: revokedAt, expires_at: expiresAt, scopes } = key;
    const isRevoked = revokedSeq !== null && revokedSeq < row.seq && this.#isAfter(row, revokedAt);
    if (isRevoked || this.#isAfter(row, expiresAt)) return "a key that was neither revoked nor expired, as the actor";
    const hasScope = right === undefined || scopes.split(" ").includes(right.scope);
    return hasScope ? undefined : `a key with the scope ${right.scope} as the actor`;
  }

  /**
   * A person of the AdminService is an operator. The approver is another person. The operators of
   * rows that came with an import may belong to another database.
   */
  #problemOfOperators(row: AuditedJournalRow): string | undefined {
    const ids = row.actor.split(",");
    const areKnown = row.seq <= (this.#book.row.arrived_seq ?? 0) || ids.every((id) => this.#isOperatorAt(id, row));
    if (areKnown && new Set(ids).size === ids.length && ids.length <= 2) return undefined;
    return "one operator, or two different ones, as the actor";
  }

  #isOperatorAt(id: string, row: AuditedJournalRow): boolean {
    const operator = this.#audit.operators.get(id);
    return operator !== undefined && !this.#isAfter(row, operator.revokedAt ?? null);
  }

  /**
   * Whether the row is surely of a later time. It may have the time of the row before it, where the
   * clock was behind the book.
   */
  #isAfter({ recorded_at: recordedAt }: AuditedJournalRow, end: number | null): boolean {
    const { clock_accepted_at: acceptedAt } = this.#book.row;
    if (acceptedAt !== null && recordedAt <= acceptedAt + CLOCK_BEHIND_MILLIS_MAX) return false;
    return end !== null && recordedAt > end + CALL_MILLIS_MAX;
  }
}
