import { ActsWithoutPerson } from "./acts-without-person.js";
import type { Head } from "./heads.js";

/** A book that is not audited, because its rows are being copied here or were removed. */
export interface PassedOver {
  readonly organizationId: string;
  readonly phase: string;
  /** When the move took its last step, in Unix milliseconds. */
  readonly since: number;
}

/** What an audit has read. */
export interface Coverage {
  readonly organizations: number;
  readonly journalRows: number;
  readonly accounts: number;
  readonly transactions: number;
  readonly idempotencyKeys: number;
  readonly apiKeys: number;
  /** The accounts whose personal data was erased. The hash of that data cannot be recomputed. */
  readonly erasedHolders: number;
  readonly seals: number;
  /** The books that were compared with a published copy. */
  readonly publishedBooks: number;
  /** The known witnesses that have cosigned, of all books together. Undefined if none is known. */
  readonly cosignatures: number | undefined;
  /** The books that were not audited: their rows are being copied here, or removed. */
  readonly notAudited: readonly PassedOver[];
  readonly actsWithoutPerson: Pick<ActsWithoutPerson, "count" | "newest">;
  /** The sum over all organizations, derived from the journal. */
  readonly reserveCents: bigint;
  /** The time of the last row of all books, in Unix milliseconds. 0 if there is no row. */
  readonly lastRecordedAt: number;
  /** The last row of each book. */
  readonly heads: readonly Head[];
  /** The other heads that a heads file notes: the last rows of operators, and the newest seals. */
  readonly otherHeads: readonly Head[];
  /** The root of the tree over all rows of each book, by the organization's id, in hexadecimal. */
  readonly roots: ReadonlyMap<string, string>;
}

type CountedBeside = "heads" | "otherHeads" | "notAudited" | "actsWithoutPerson" | "roots";

/** A coverage that the parts of an audit add to. */
export type CoverageCounts = {
  -readonly [Name in keyof Omit<Coverage, CountedBeside>]: Coverage[Name];
} & {
  readonly heads: Head[];
  readonly otherHeads: Head[];
  readonly notAudited: PassedOver[];
  readonly actsWithoutPerson: ActsWithoutPerson;
  readonly roots: Map<string, string>;
};

export function noCoverage(): CoverageCounts {
  return {
    organizations: 0,
    journalRows: 0,
    accounts: 0,
    transactions: 0,
    idempotencyKeys: 0,
    apiKeys: 0,
    erasedHolders: 0,
    seals: 0,
    publishedBooks: 0,
    cosignatures: undefined,
    reserveCents: 0n,
    lastRecordedAt: 0,
    heads: [],
    otherHeads: [],
    notAudited: [],
    actsWithoutPerson: new ActsWithoutPerson(),
    roots: new Map(),
  };
}

/**
 * The stored fields that no second source confirms, and what of them is meant. An empty text means
 * every value. A test changes each column of each table, and fails if `verify` neither finds the
 * change nor names the column here.
 */
export const NOT_COVERED: Readonly<Record<string, string>> = {
  "journal.actor":
    "which of those who could write it at that time, of a row that is neither sealed, nor a freeze or an unfreeze",
  "journal.reason":
    "of a row that is not sealed: of an erasure, or if it neither sets a status nor belongs to a freeze or suspension",
  "journal.content_hash": "of a row that is not sealed, and set personal data which was erased or replaced since",
  "payments.state": "which of READY, SENDING and ACCEPTED, while the transaction is PROCESSING",
  "payments.rail_account_id": "",
  "payments.rail_reference": "",
  "payments.masked_phone": "once the payment has ended",
  "payments.sends": "how often, if the rail was asked at all",
  "payments.turned_away": "",
  "payments.ahead_millis": "",
  "payments.due_at": "",
  "payments.checks": "",
  "payments.advances": "",
  "payments.last_code": "",
  "payments.status_question": "",
  "payments.updated_at": "if not before the transaction",
  "deposits.typed_reference": "that it is absent, unless it led to the account",
  "deposits.masked_phone": "",
  "deposits.return_due_at": "",
  "deposits.return_requests": "",
  "proposals.sealed": "",
  "passkeys.created_at": "",
  sessions: "but that none has ended",
  sign_in_tokens: "but that none was used",
  restores: "",
  "books.state": "which of the known states",
  "books.arrived_seq": "",
  "books.clock_accepted_at": "",
  "idempotency_keys.key": "",
  "idempotency_keys.resource_id": "which of the book's accounts, freezes, transactions, destinations or deposits",
  "idempotency_keys.created_at": "if not before the resource",
  "api_keys.last_used_at": "",
  "rail_accounts.deposits_since": "",
  "rail_accounts.deposits_due_at": "",
  "rail_accounts.deposits_read_at": "",
  "rail_accounts.balance": "",
  "rail_accounts.balance_at": "",
  "rail_accounts.balance_question": "",
  "rail_accounts.balance_asked_at": "",
  "rail_accounts.balance_asked_with": "",
  rail_messages: "",
  leases: "",
  "seals.sealed_at": "",
  seal_alarms: "but that each is cleared",
  "webhook_endpoints.revision": "",
  "webhook_endpoints.settled_seq": "",
  "webhook_endpoints.replay_seq": "",
  "webhook_endpoints.replay_until_seq": "",
  "webhook_endpoints.failures": "",
  "webhook_endpoints.failing_since": "",
  "webhook_endpoints.probe_at": "",
  "webhook_endpoints.retry_at": "",
  "webhook_endpoints.logged": "",
  payout_parts: "",
  "payout_lists.stored_at": "",
  webhook_retries: "",
  webhook_log: "",
  book_moves: "",
  knex_migrations: "all but that the names are known",
  knex_migrations_lock: "",
};
