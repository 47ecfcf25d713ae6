import type { Engine } from "../../sql/engine.js";
import type { Migration } from "../migration.js";
import { FIRST_DESTINATION_KINDS, listOf } from "./columns.js";

/** The table of payments to these kinds of destinations, with its indexes. */
export function paymentTable(
  { int64, bytes, table, changingTableOptions, withoutStatistics }: Engine,
  kinds: readonly string[],
): readonly string[] {
  return [
    // The phone number is encrypted, and gone once the payment has ended. Its masked form stays.
    //
    // `ahead_millis` says how far the times of a payment were ahead of the clock of the server: the
    // newest row of a book may lie in the future after a clock was wrong (docs/operations.md).
    //
    // `turned_away` counts the requests that the rail turned away because of its load. It may have
    // taken them all the same (docs/adr/0039). The answer to a query of a payment's status counts
    // only at the address of the question that stands: an earlier address may have leaked
    // (docs/security.md).
    `CREATE TABLE ${table("payments")} (
     transaction_id   TEXT NOT NULL PRIMARY KEY REFERENCES ${table("transactions")} (id),
     book             ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     rail_account_id  TEXT NOT NULL,
     direction        TEXT NOT NULL CHECK (direction IN ('MINT', 'REDEEM')),
     state            TEXT NOT NULL CHECK (state IN ('READY', 'SENDING', 'ACCEPTED', 'ENDED')),
     phone_number     ${bytes},
     masked_phone     TEXT NOT NULL,
     rail_reference   TEXT,
     begun_at         ${int64},
     sends            ${int64} NOT NULL,
     due_at           ${int64} NOT NULL,
     ahead_millis     ${int64} NOT NULL,
     updated_at       ${int64} NOT NULL,
     checks           ${int64} NOT NULL DEFAULT 0,
     advances         ${int64} NOT NULL DEFAULT 0,
     last_code        TEXT,
     turned_away      ${int64} NOT NULL DEFAULT 0,
     number_kind      TEXT NOT NULL DEFAULT 'PHONE' CHECK (number_kind IN (${listOf(kinds)})),
     status_question  TEXT CHECK (status_question <> ''),
     CHECK ((state = 'ENDED') = (phone_number IS NULL)),
     CHECK (state NOT IN ('SENDING', 'ACCEPTED') OR begun_at IS NOT NULL),
     CHECK ((begun_at IS NULL) = (sends = 0))
     ) ${changingTableOptions(50)}`,
    // Each open payment is in one of two indexes. While no payout may begin, only the second is
    // read for due payments, so the payouts that wait are in nobody's way. Payouts to a kind that
    // wait, however many, must not slow the others: so the first has the kind.
    `CREATE INDEX payments_new_payouts ON ${table("payments")} (rail_account_id, number_kind, due_at)
     WHERE state = 'READY' AND direction = 'REDEEM'`,
    `CREATE INDEX payments_other_open ON ${table("payments")} (rail_account_id, due_at)
     WHERE state <> 'ENDED' AND (state <> 'READY' OR direction = 'MINT')`,
    // A list of received payments names an order by the end of its id.
    `CREATE INDEX payments_by_end ON ${table("payments")}
     ((substr(transaction_id, length(transaction_id) - 11)), rail_account_id) WHERE direction = 'MINT'`,
    `CREATE UNIQUE INDEX payments_asked ON ${table("payments")} (status_question) WHERE status_question IS NOT NULL`,
    ...withoutStatistics("payments", ["phone_number", "masked_phone"]),
  ];
}

/**
 * The orders that transactions give to rails, and what operators have proposed or done. The
 * committer alone writes both, in the commit of the journal row that says why (docs/adr/0038).
 */
export const payments: Migration = (engine) => [
  ...paymentTable(engine, FIRST_DESTINATION_KINDS),
  ...proposalTable(engine),
];

function proposalTable({ int64, bytes, table, tableOptions }: Engine): readonly string[] {
  return [
    // `subject` is a transaction's id, or names a correction of one book. `seq` is the row of the
    // journal that changed the proposal last. Only the service can make the `mac`: nobody can
    // approve a row without it. `sealed` is encrypted, and goes with the decision.
    `CREATE TABLE ${table("proposals")} (
     subject      TEXT NOT NULL PRIMARY KEY,
     book         ${int64} NOT NULL REFERENCES ${table("book_keys")} (book),
     content      TEXT NOT NULL,
     person       TEXT NOT NULL CHECK (person <> ''),
     proposed_at  ${int64} NOT NULL,
     done_at      ${int64} CHECK (done_at >= proposed_at),
     id           TEXT NOT NULL,
     seq          ${int64} NOT NULL CHECK (seq > 0),
     expires_at   ${int64} CHECK (expires_at > proposed_at),
     decision     TEXT CHECK (decision IN ('APPROVED', 'REJECTED', 'LAPSED')),
     decided_by   TEXT CHECK (decided_by <> ''),
     sealed       ${bytes},
     mac          ${bytes} NOT NULL CHECK (length(mac) = 32),
     CHECK ((decision IS NULL) = (done_at IS NULL))
   ) ${tableOptions}`,
    `CREATE UNIQUE INDEX proposals_by_id ON ${table("proposals")} (id)`,
    `CREATE INDEX proposals_waiting ON ${table("proposals")} (book) WHERE done_at IS NULL`,
  ];
}
