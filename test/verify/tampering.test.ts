import { expect } from "chai";

import { NOT_COVERED } from "../../src/verify/coverage.js";
import { ENGINES } from "../support/databases.js";
import { entryOf, fillEachTable, ONE_OF } from "./given/each-table.js";
import { findingsOnRows, openUnguarded, type Unguarded } from "./unguarded.js";

/** A change of one column: the new value, and the rows. */
type Change = readonly [value: string, rows: string];

/** What `verify` must find, or that it says that it does not cover the change. */
type Answer = RegExp | "not covered";

const OTHER_ORG = "'org_01jd2r6p5vf8ksw3xhb1z7q4ye'";
const SECOND_ORG = "(SELECT organization_id FROM books WHERE number = 2)";
const ROW = (seq: number): string => `book = 1 AND seq = ${String(seq)}`;
/** The account that the row created, and one of the same book. */
const ACCOUNT = (seq: number): string => `(SELECT id FROM accounts WHERE ${ROW(seq)})`;
const TRANSACTION = (seq: number): string => `(SELECT id FROM transactions WHERE ${ROW(seq)})`;
const FREEZE = (seq: number): string => `(SELECT id FROM freezes WHERE ${ROW(seq)})`;
const HOLDER = (column: string, seq: number): string => `(SELECT ${column} FROM account_holders WHERE ${ROW(seq)})`;
const REVERSED = "book = 2 AND seq = 4";
const REVERSAL = "book = 2 AND seq = 5";
/** The account of book 4, whose organization has limits. */
const LIMITED = "book = 4";
/** The rows of book 5 that makeDeposits makes. */
const DEPOSIT = (seq: number): string => `book = 5 AND seq = ${String(seq)}`;
const DEPOSIT_ID = (seq: number): string => `(SELECT id FROM deposits WHERE ${DEPOSIT(seq)})`;
/** The rows of book 6 that makeDestinations makes. */
const DESTINATION = (seq: number): string => `book = 6 AND seq = ${String(seq)}`;
const HASH = `BYTES(${"00".repeat(32)})`;

const ENDPOINT_MAC = /webhook_endpoints 8 whk_7: the mac that the row gives/;

/** The proposal that waits for a second person. */
const WAITING = "id NOT IN (SELECT proposal_id FROM operator_decisions)";

/** The row of book 2 that makeOrders makes as this one. It changes an account at a rail twice. */
const ORDER = (index: number): string =>
  `book = 2 AND seq = ${String(7 + index + [10, 14, 16].filter((more) => index >= more).length)}`;
const ORDER_ID = (index: number): string => `(SELECT id FROM transactions WHERE ${ORDER(index)})`;
const PAYMENT = (index: number): string => `transaction_id = ${ORDER_ID(index)}`;
const REVEAL = "kind = 'account.revealed'";
const PROPOSAL = (key: string): string => `subject LIKE '%:${key}'`;
const KEY_PROPOSAL = (decision: string): string => `subject LIKE 'prp_%' AND decision = '${decision}'`;
const RESOLUTION = (index: number): string => `subject = ${ORDER_ID(index)}`;

// The seqs are those that fillEachTable makes.
const CHANGES: Readonly<Record<string, readonly (readonly [...Change, Answer])[]>> = {
  "organizations.id": [
    [OTHER_ORG, "id = (SELECT organization_id FROM books WHERE number = 1)", /organizations .*none/],
  ],
  "organizations.name": [["'Acme'", "name = 'first'", /organizations 1 .*another name/]],
  "organizations.is_sandbox": [["1", "name = 'first'", /organizations 1 .*another name, mode/]],
  "organizations.created_at": [["created_at + 1", "name = 'first'", /organizations 1 .*created_at/]],

  "organizations.mac": [[HASH, "name = 'first'", /organizations 1 .*the mac that the row gives/]],

  "api_keys.id": [["'key_other'", "seq = 23", /api_keys 23 key_other: the key that gives/]],
  "api_keys.organization_id": [
    [OTHER_ORG, "seq = 23", /api_keys .*organization org_01jd/],
    [SECOND_ORG, "seq = 23", /api_keys 23 : the key of key\.created \| none/],
  ],
  "api_keys.name": [["'other'", "seq = 23", /another key or content_hash/]],
  "api_keys.secret_sha256": [[`'${"0".repeat(64)}'`, "seq = 23", /another key or content_hash/]],
  "api_keys.scopes": [["'accounts:write'", "seq = 23", /another key or content_hash/]],
  "api_keys.seq": [
    ["22", "seq = 23", /api_keys 22 key_\S+: the journal row key\.created that it names \| none/],
    ["23", "seq = 24", /api_keys 23 key_\S+: the key that gives/],
  ],
  "api_keys.created_at": [["created_at + 1", "seq = 23", /api_keys 23 .*created_at/]],
  "api_keys.expires_at": [
    ["expires_at + 1", "seq = 23", /another key or content_hash/],
    ["NULL", "seq = 23", /another key or content_hash/],
  ],
  "api_keys.revoked_seq": [
    ["NULL", "seq = 24", /the journal row key\.revoked that it names \| none/],
    ["27", "seq = 24", /the journal row key\.revoked that it names \| none/],
  ],
  "api_keys.revoked_at": [
    ["revoked_at + 1", "seq = 24", /api_keys 25 .*revoked_at/],
    ["NULL", "seq = 24", /api_keys 25 .*revoked_at/],
  ],
  "api_keys.last_used_at": [["5", "seq = 23", "not covered"]],
  "api_keys.mac": [[HASH, "seq = 23", /api_keys 23 .*the mac that the row gives/]],

  "books.number": [["7", "number = 1", /journal .*the book with the number 1 \| no such book/]],
  "books.organization_id": [[OTHER_ORG, "number = 1", /organizations .*a row \| none/]],
  "books.state": [
    ["'LOST'", "number = 1", /a known state \| LOST/],
    ["'RESTORED'", "number = 1", "not covered"],
  ],
  "books.suspended_seq": [["25", "number = 1", /suspended_seq null \| suspended_seq 25/]],
  "books.receipts_required_seq": [["25", "number = 1", /receipts_required_seq null \| receipts_required_seq 25/]],
  "books.reserve_rules": [
    ["'[]'", "number = 2", /reserve_rules \[\{"kind":"cash".* \| reserve_rules \[\]/],
    ["NULL", "number = 2", /reserve_rules .* \| reserve_rules null/],
  ],
  "books.mac": [[`'${"0".repeat(32)}'`, "number = 1", /books .*the mac that the row gives/]],
  "books.last_seq": [["last_seq + 1", "number = 1", /last_seq 31 \| last_seq 32/]],
  "books.last_recorded_at": [["last_recorded_at - 1", "number = 1", /last_recorded_at/]],
  "books.reserve_cents": [["reserve_cents + 1", "number = 1", /reserve 1205\.03.*reserve 1205\.04/]],
  "books.shortfall_cents": [["1", "number = 1", /shortfall 0\.01/]],
  "books.available_cents": [["available_cents - 1", "number = 1", /available 1105\.03.*available 1105\.02/]],
  "books.held_cents": [["0", "number = 1", /held 100\.00.*held 0\.00/]],
  "books.charges_cents": [["1", "number = 1", /charges 0\.01/]],
  "books.unallocated_cents": [["1", "number = 1", /unallocated 0\.01/]],
  "books.limits": [
    ["NULL", "number = 4", /books \d+ \S+: limits \[.*\| limits null/],
    ["replace(limits, '100000', '900000')", "number = 4", /books \d+ \S+: limits \[.*100000/],
    ["'[]'", "number = 1", /limits null \| limits \[\]/],
  ],
  "books.arrived_seq": [["1", "number = 3", "not covered"]],
  "books.clock_accepted_at": [["1", "number = 3", "not covered"]],
  "books.limits_since": [["limits_since - 1", "number = 4", /limits_since \d+ \| limits_since \d+/]],
  ...usage("books", "number = 4", "number = 1"),

  "book_keys.book": [["7", "book = 1", /book_keys .*the book with the number 7/]],
  "book_keys.data_key": [["index_key", "book = 1", /book_keys .*data key/]],
  "book_keys.index_key": [["BYTES(00)", "book = 1", /book_keys .*index key/]],
  "book_keys.seal_secret": [["(SELECT seal_secret FROM book_keys WHERE book = 2)", "book = 1", /book_keys .*seal key/]],
  "book_keys.master_key_id": [["'0123456789abcdef'", "book = 1", /needs? the master key 0123456789abcdef/]],

  "accounts.book": [
    ["2", ROW(4), /accounts 21 acc_\S+: a row \| none/],
    ["7", ROW(4), /the book with the number 7/],
  ],
  "accounts.seq": [["17", ROW(4), /accounts .*seq 4 \| seq 17/]],
  "accounts.mac": [[`'${"0".repeat(32)}'`, ROW(3), /accounts .*the mac that the row gives/]],
  "accounts.last_seq": [["17", ROW(3), /last_seq 22 \| last_seq 17/]],
  "accounts.id": [["'acc_other'", ROW(4), /accounts 4 acc_other: a journal row/]],
  "accounts.status": [
    ["'FROZEN'", ROW(3), /status ACTIVE \| status FROZEN/],
    ["'ACTIVE'", ROW(28), /status FROZEN \| status ACTIVE/],
  ],
  "accounts.status_reason": [
    ["'another'", ROW(3), /another status_reason/],
    ["'another'", ROW(4), /another status_reason/],
    ["'another'", ROW(28), /none while frozen \| another status_reason/],
  ],
  "accounts.available_cents": [["1", ROW(3), /available 705\.01.*available 0\.01/]],
  "accounts.held_cents": [["0", ROW(4), /held 100\.00.*held 0\.00/]],
  "accounts.open_payments": [
    ["0", ROW(4), /open_payments 2 \| open_payments 0/],
    ["1", ROW(3), /open_payments 0 \| open_payments 1/],
  ],
  "accounts.created_at": [["created_at + 1", ROW(3), /accounts .*created_at/]],
  "accounts.updated_at": [
    ["updated_at - 1", ROW(3), /accounts .*updated_at/],
    // The last rows of Brian's account move no money, so they leave its time as it was.
    ["updated_at + 1", ROW(4), /accounts .*updated_at/],
    ["updated_at - 1", ROW(5), /accounts .*updated_at/],
  ],
  "accounts.tier": [
    ["'full'", ROW(3), /tier default \| tier full/],
    ["'default'", LIMITED, /tier small \| tier default/],
  ],
  "accounts.deposit_reference": [
    ["NULL", DEPOSIT(3), /deposit_reference \d{8} \| deposit_reference null/],
    ["'29999999'", DEPOSIT(4), /deposit_reference \d{8} \| deposit_reference 29999999/],
    ["'29999999'", ROW(3), /deposit_reference null \| deposit_reference 29999999/],
  ],
  ...usage("accounts", LIMITED, ROW(3)),

  "account_holders.account_id": [["'acc_other'", ROW(4), /account_holders 4 acc_\S+: a row \| none/]],
  "account_holders.book": [["2", ROW(4), /account_holders 4 acc_\S+: a row \| none/]],
  "account_holders.seq": [["5", ROW(4), /seq 4 \| seq 5/]],
  "account_holders.is_open": [
    ["0", ROW(4), /is_open 1 \| is_open 0/],
    ["1", ROW(5), /is_open 0 \| is_open 1/],
  ],
  "account_holders.phone_number_changed_at": [
    ["1", ROW(3), /phone_number_changed_at \d+ \| phone_number_changed_at 1/],
    ["1", ROW(4), /phone_number_changed_at/],
  ],
  "account_holders.email_changed_at": [["1", ROW(3), /email_changed_at/]],
  "account_holders.user_id": [
    ["'mallory'", ROW(3), /content_hash of the journal row/],
    ["'mallory'", ROW(4), /content_hash of the journal row/],
    ["NULL", ROW(4), /a user_id \| none/],
    ["'carol'", ROW(5), /no personal data after the erasure at seq 17 \| user_id/],
  ],
  "account_holders.phone_number": [
    [HOLDER("phone_number", 3), ROW(4), /phone_number that the book's key decrypts/],
    ["BYTES(00)", ROW(5), /no personal data after the erasure/],
  ],
  "account_holders.phone_number_index": [[HOLDER("email_index", 3), ROW(4), /the blind index of the phone_number/]],
  "account_holders.email": [[HOLDER("email", 3), ROW(4), /email that the book's key decrypts/]],
  "account_holders.email_index": [
    ["NULL", ROW(3), /the blind index of the email/],
    [HOLDER("email_index", 3), ROW(4), /the blind index of the email/],
  ],
  "account_holders.content_salt": [
    [HOLDER("content_salt", 3), ROW(4), /another content_salt/],
    ["BYTES(00)", ROW(4), /a content_salt of 16 bytes/],
  ],

  "freezes.book": [["2", ROW(12), /freezes 14 frz_\S+: a row \| none/]],
  "freezes.seq": [["5", ROW(12), /seq 12 \| seq 5/]],
  "freezes.id": [["'frz_other'", ROW(12), /freezes 12 frz_other: a journal row that began it \| none/]],
  "freezes.account_id": [[ACCOUNT(4), ROW(12), /freezes 14 .*account_id acc_/]],
  "freezes.reason_code": [["'FRAUD'", ROW(12), /another id, reason_code, reason or content_hash/]],
  "freezes.reason": [["'another'", ROW(12), /freezes 14 .*the reason of the journal row \| another reason/]],
  "freezes.created_by": [["'another'", ROW(12), /created_by .*\| created_by another/]],
  "freezes.created_at": [["created_at + 1", ROW(12), /freezes 14 .*created_at/]],
  "freezes.lifted_by": [
    ["'another'", ROW(12), /lifted_by .*\| lifted_by another/],
    ["'another'", ROW(29), /lifted_by null \| lifted_by another/],
  ],
  "freezes.lifted_at": [
    ["lifted_at + 1", ROW(12), /freezes 14 .*lifted_at/],
    ["NULL", ROW(12), /lifted_at \d+ \| lifted_at null/],
    ["5", ROW(29), /lifted_at null \| lifted_at 5/],
  ],
  "freezes.lift_reason": [
    ["'another'", ROW(12), /freezes 14 .*another lift_reason/],
    ["''", ROW(29), /freezes 29 .*another lift_reason/],
  ],

  "destinations.book": [["2", DESTINATION(5), /destinations 5 dst_\S+: a row \| none/]],
  "destinations.seq": [["9", DESTINATION(5), /seq 5 \| seq 9/]],
  "destinations.id": [
    ["'dst_other'", DESTINATION(5), /destinations 5 dst_other: a journal row that created it \| none/],
  ],
  "destinations.account_id": [
    [`(SELECT id FROM accounts WHERE ${DESTINATION(4)})`, DESTINATION(5), /account_id acc_\S+ \| account_id acc_/],
  ],
  "destinations.kind": [
    ["'PHONE'", DESTINATION(5), /destinations 5 .*another kind, label/],
    ["'PHONE'", DESTINATION(6), /destinations 7 .*another kind, label/],
  ],
  "destinations.label": [["'another'", DESTINATION(6), /destinations 7 .*another kind, label/]],
  "destinations.number": [
    ["BYTES(00)", DESTINATION(5), /a number that the book's key decrypts/],
    ["NULL", DESTINATION(5), /a number that the book's key decrypts/],
    ["BYTES(00)", DESTINATION(6), /no number and no content_salt after its removal/],
  ],
  "destinations.masked_number": [["'*****99'", DESTINATION(5), /destinations 5 .*another kind, label/]],
  "destinations.content_salt": [
    ["BYTES(00)", DESTINATION(5), /a content_salt of 16 bytes/],
    ["BYTES(00)", DESTINATION(6), /no number and no content_salt after its removal/],
  ],
  "destinations.usable_at": [
    ["created_at", DESTINATION(5), /destinations 5 .*another kind, label/],
    ["usable_at + 1", DESTINATION(6), /destinations 7 .*another kind, label/],
  ],
  "destinations.created_at": [["created_at - 1", DESTINATION(5), /created_at \d+ \| created_at \d+/]],
  "destinations.removed_at": [
    ["NULL", DESTINATION(6), /removed_at \d+ \| removed_at null/],
    ["5", DESTINATION(5), /removed_at null \| removed_at 5/],
  ],

  "transactions.book": [["2", "book = 1 AND seq = 20", /transactions 20 txn_\S+: a row \| none/]],
  "transactions.seq": [["4", ROW(6), /seq 6 \| seq 4/]],
  "transactions.id": [["'txn_other'", ROW(6), /transactions 6 txn_other: a journal row/]],
  "transactions.account_id": [[ACCOUNT(4), ROW(6), /journal 6 .*acc_/]],
  "transactions.destination_id": [["'dst_other'", ROW(6), /transactions 6 .*another content/]],
  "transactions.type": [["'REDEEM'", ROW(6), /debit available/]],
  "transactions.status": [["'CANCELED'", ROW(10), /status PENDING \| status CANCELED/]],
  "transactions.status_reason": [
    ["'another'", ROW(9), /another status_reason/],
    ["'another'", ROW(6), /another status_reason/],
  ],
  "transactions.amount_cents": [["7", ROW(11), /another content or content_hash/]],
  "transactions.reference": [["'other'", ROW(6), /another content or content_hash/]],
  "transactions.description": [["'other'", ROW(6), /another content or content_hash/]],
  "transactions.metadata": [[`'[["till","5"]]'`, ROW(6), /another content or content_hash/]],
  "transactions.rail": [["'other'", ROW(10), /another content or content_hash/]],
  "transactions.rail_movement": [
    ["'m9'", ORDER(1), /another content or content_hash/],
    ["NULL", ORDER(1), /another content or content_hash/],
    ["'m9'", ORDER(16), /no rail_movement \| a rail_movement/],
    ["'m9'", ROW(6), /no rail_movement \| a rail_movement/],
  ],
  "transactions.rail_receipt": [
    ["NULL", ORDER(1), /rail_receipt r1 \| rail_receipt null/],
    ["'r9'", ROW(6), /rail_receipt null \| rail_receipt r9/],
    ["'r9'", DEPOSIT(7), /transactions 7 txn_\S+: rail_receipt d1 \| rail_receipt r9/],
    ["NULL", DEPOSIT(13), /rail_receipt b3 \| rail_receipt null/],
  ],
  "transactions.failure": [
    ["'EXPIRED'", ORDER(5), /failure RESOLVED_BY_OPERATOR \| failure EXPIRED/],
    ["'EXPIRED'", ORDER(1), /failure null \| failure EXPIRED/],
  ],
  "transactions.open_flags": [
    ["NULL", ORDER(19), /open_flags OUTCOME_UNKNOWN \| open_flags null/],
    ["'OUTCOME_UNKNOWN'", ORDER(16), /open_flags null \| open_flags OUTCOME_UNKNOWN/],
    ["'OUTCOME_UNKNOWN'", ORDER(5), /open_flags null \| open_flags OUTCOME_UNKNOWN/],
  ],
  "transactions.held_for": [["'AMOUNT'", ORDER(19), /held_for null \| held_for AMOUNT/]],
  "transactions.later_failure": [
    ["NULL", "later_failure IS NOT NULL", /failure REFUSED_BY_OPERATOR \| failure RESOLVED_BY_OPERATOR/],
    ["'REFUSED_BY_OPERATOR'", ORDER(5), /failure RESOLVED_BY_OPERATOR \| failure REFUSED_BY_OPERATOR/],
  ],
  "transactions.corrects_id": [
    [ORDER_ID(16), ORDER(10), /an original that has ended at the rail \| PENDING/],
    [TRANSACTION(6), ORDER(10), /a transaction of the book that it corrects/],
    ["'txn_other'", REVERSAL, /a transaction of the book that it corrects \| txn_other/],
    [TRANSACTION(18), REVERSAL, /a transaction of the book that it corrects \| txn_/],
    ["id", REVERSAL, /correction of its original null \| correction of its original REVERSAL/],
    ["NULL", REVERSAL, /another content or content_hash/],
    [
      "NULL",
      REVERSAL,
      /transactions 4 txn_\S+: corrects_id of its reversal txn_\S+ \| corrects_id of its reversal null/,
    ],
    [TRANSACTION(6), ROW(18), /reversed_by_id of its original txn_\S+ \| reversed_by_id of its original null/],
  ],
  "transactions.correction": [
    ["'REVERSAL'", ORDER(10), /type MINT \| type REDEEM/],
    ["'LATE'", REVERSAL, /a reference with its movement or its receipt/],
    ["NULL", REVERSAL, /correction REVERSAL \| correction null/],
    ["'REFUND'", REVERSAL, /correction REVERSAL \| correction REFUND/],
    ["'REVERSAL'", ROW(18), /a transaction of the book that it corrects \| null/],
  ],
  "transactions.deposit_id": [
    ["NULL", DEPOSIT(7), /journal 7 txn_\S+: transaction\.pending first \| transaction\.completed/],
    ["'dep_other'", DEPOSIT(7), /another content or content_hash[^]*deposits 7 dep_other: a row \| none/],
    ["'dep_other'", ROW(6), /journal 6 txn_\S+: transaction\.completed with debit unallocated/],
    [DEPOSIT_ID(8), DEPOSIT(13), /deposit_id dep_\S+ \| deposit_id dep_/],
  ],
  "transactions.reversed_by_id": [
    ["NULL", REVERSED, /transactions 5 txn_\S+: reversed_by_id of its original txn_\S+ \| .* null/],
    ["'txn_other'", ROW(6), /corrects_id of its reversal txn_\S+ \| corrects_id of its reversal null/],
    [TRANSACTION(18), ROW(6), /corrects_id of its reversal txn_\S+ \| corrects_id of its reversal null/],
    [
      "(SELECT reversed_by_id FROM transactions WHERE reversed_by_id IS NOT NULL AND book = 2)",
      ROW(6),
      /corrects_id of its reversal/,
    ],
  ],
  "transactions.created_at": [["created_at + 1", ROW(6), /created_at/]],
  "transactions.updated_at": [["updated_at + 1", ROW(9), /updated_at/]],
  "transactions.completed_at": [["5", ROW(6), /completed_at \d+ \| completed_at 5/]],

  "payments.transaction_id": [
    ["'txn_other'", PAYMENT(1), /payments \S+ txn_\S+: a row \| none/],
    [TRANSACTION(6), PAYMENT(1), /payments 6 txn_\S+: no payment without an order \| a row|a row \| none/],
  ],
  "payments.book": [["1", PAYMENT(1), /payments \S+ txn_\S+: a row \| none/]],
  "payments.rail_account_id": [["'another'", PAYMENT(1), "not covered"]],
  "payments.direction": [
    ["CASE direction WHEN 'MINT' THEN 'REDEEM' ELSE 'MINT' END", PAYMENT(16), /direction \S+ \| direction \S+/],
  ],
  "payments.state": [
    ["'READY'", PAYMENT(1), /ENDED while COMPLETED \| READY/],
    ["'SENDING'", PAYMENT(16), /READY while PENDING \| SENDING/],
    ["'ENDED'", PAYMENT(19), /READY or SENDING or ACCEPTED while PROCESSING \| ENDED/],
    ["'ACCEPTED'", PAYMENT(19), "not covered"],
  ],
  "payments.number_kind": [["'TILL'", PAYMENT(16), /number_kind PHONE \| number_kind TILL/]],
  "payments.phone_number": [
    ["NULL", PAYMENT(16), /a number until the payment has ended/],
    ["BYTES(00)", PAYMENT(1), /a number until the payment has ended/],
    [`(SELECT phone_number FROM payments WHERE ${PAYMENT(19)})`, PAYMENT(16), /that the book's key decrypts/],
  ],
  "payments.masked_phone": [
    ["'254******222'", PAYMENT(16), /another masked_phone/],
    ["'254******222'", PAYMENT(1), "not covered"],
  ],
  "payments.rail_reference": [["'another'", PAYMENT(1), "not covered"]],
  "payments.begun_at": [
    ["begun_at + 1", PAYMENT(1), /begun_at/],
    ["NULL", PAYMENT(19), /begun_at \d+ \| begun_at null/],
    ["5", PAYMENT(16), /begun_at null \| begun_at 5/],
  ],
  "payments.ahead_millis": [["5", PAYMENT(16), "not covered"]],
  "payments.due_at": [
    ["due_at + 1", PAYMENT(16), "not covered"],
    ["5", PAYMENT(16), "not covered"],
  ],
  "payments.sends": [
    ["0", PAYMENT(19), /at least 1 send \| 0 sends/],
    ["1", PAYMENT(16), /0 sends \| 1 sends/],
    ["-1", PAYMENT(16), /0 sends \| -1 sends/],
    ["sends + 1", PAYMENT(19), "not covered"],
  ],
  "payments.checks": [["5", PAYMENT(19), "not covered"]],
  "payments.advances": [["5", PAYMENT(19), "not covered"]],
  "payments.last_code": [["'another'", PAYMENT(19), "not covered"]],
  "payments.status_question": [["'another'", PAYMENT(19), "not covered"]],
  "payments.turned_away": [["5", PAYMENT(19), "not covered"]],
  "payments.updated_at": [
    ["updated_at + 1", PAYMENT(16), "not covered"],
    ["5", PAYMENT(16), /a time after the transaction was accepted/],
  ],

  "deposits.book": [["2", DEPOSIT(8), /deposits 8 dep_\S+: a row \| none/]],
  "deposits.seq": [
    ["seq + 2", DEPOSIT(8), /deposits 8 dep_\S+: seq 8 \| seq 10/],
    ["99", DEPOSIT(8), /deposits 8 dep_\S+: seq 8 \| seq 99/],
  ],
  "deposits.id": [["'dep_other'", DEPOSIT(8), /deposits 8 dep_other: a journal row that received it \| none/]],
  "deposits.rail": [["'other'", DEPOSIT(6), /deposits 6 dep_\S+: the deposit that gives the content_hash/]],
  "deposits.rail_account_id": [["NULL", DEPOSIT(8), /the deposit that gives the content_hash/]],
  "deposits.receipt": [["'d99'", DEPOSIT(8), /receipt d2 \| receipt d99/]],
  "deposits.amount_cents": [["501", DEPOSIT(8), /deposit\.received with debit reserve, credit unallocated, 5\.01/]],
  "deposits.status": [
    ["'UNALLOCATED'", DEPOSIT(6), /status CREDITED \| status UNALLOCATED/],
    ["'CREDITED'", DEPOSIT(8), /status UNALLOCATED \| status CREDITED/],
    ["'REVERSED'", DEPOSIT(14), /status RETURNED \| status REVERSED/],
    ["'UNALLOCATED'", DEPOSIT(30), /status RETURNING \| status UNALLOCATED/],
    ["'CREDITED'", DEPOSIT(9), /status REVERSED \| status CREDITED|no row of it once it is CREDITED/],
  ],
  "deposits.reason": [
    ["'NO_REFERENCE'", DEPOSIT(8), /reason UNKNOWN_REFERENCE \| reason NO_REFERENCE/],
    ["'UNASSIGNED'", DEPOSIT(6), /reason null \| reason UNASSIGNED/],
  ],
  "deposits.account_id": [
    ["(SELECT id FROM accounts WHERE book = 5 AND seq = 4)", DEPOSIT(6), /account_id acc_\S+ \| account_id acc_/],
    ["(SELECT id FROM accounts WHERE book = 5 AND seq = 4)", DEPOSIT(8), /account_id null \| account_id acc_/],
  ],
  "deposits.transaction_id": [["'txn_other'", DEPOSIT(6), /transaction_id txn_\S+ \| transaction_id txn_other/]],
  "deposits.credits": [
    ["0", DEPOSIT(6), /credits 1 \| credits 0/],
    ["1", DEPOSIT(9), /no row of it once it is REVERSED|credits 2 \| credits 1/],
  ],
  "deposits.typed_reference": [
    ["BYTES(00)", DEPOSIT(8), /typed_reference that the book's key decrypts \| another value/],
    [`(SELECT typed_reference FROM deposits WHERE ${DEPOSIT(6)})`, DEPOSIT(8), /typed_reference that the book's key/],
    ["NULL", DEPOSIT(8), "not covered"],
    ["NULL", DEPOSIT(6), /deposits \d+ dep_\S+: a typed_reference \| none/],
  ],
  "deposits.masked_phone": [["'254******222'", DEPOSIT(8), "not covered"]],
  "deposits.return_due_at": [["0", DEPOSIT(29), "not covered"]],
  "deposits.return_requests": [["'[]'", DEPOSIT(29), "not covered"]],
  "deposits.paid_at": [["paid_at + 1", DEPOSIT(8), /the deposit that gives the content_hash/]],
  "deposits.created_at": [["created_at + 1", DEPOSIT(8), /deposits 8 dep_\S+: created_at/]],
  "deposits.updated_at": [["updated_at + 1", DEPOSIT(6), /deposits 7 dep_\S+: updated_at/]],

  "proposals.subject": [["'another'", PROPOSAL("cover"), /proposals \S+ \S+:cover: a row \| none/]],
  "proposals.book": [["1", PROPOSAL("cover"), /a journal row that proposes it \| none/]],
  "proposals.content": [
    ["'another'", PROPOSAL("cover"), /content \{"format":"kesc-act-2","amountCents":500,.* \| content another/],
    ["'another'", RESOLUTION(19), /content .*\| content another/],
  ],
  "proposals.person": [
    ["'brian'", PROPOSAL("return"), /person amina \| person brian/],
    ["'brian'", RESOLUTION(19), /person amina \| person brian/],
  ],
  "proposals.id": [["'prp_other'", PROPOSAL("cover"), /proposals \S+ \S+:cover: the mac of the proposal/]],
  "proposals.seq": [
    ["1", KEY_PROPOSAL("APPROVED"), /key\.created by \S+ \| no row/],
    ["seq + 1", PROPOSAL("cover"), /:cover: seq \d+ \| seq \d+/],
    ["seq + 1", RESOLUTION(19), /txn_\S+: seq \d+ \| seq \d+/],
    ["seq - 1", KEY_PROPOSAL("REJECTED"), /prp_\S+: seq \d+ \| seq \d+/],
    ["seq + 1", "decision IS NULL AND subject LIKE 'prp_%'", /prp_\S+: seq \d+ \| seq \d+/],
    ["seq + 1", KEY_PROPOSAL("APPROVED"), /key\.created by \S+ \| no row/],
  ],
  "proposals.expires_at": [
    ["expires_at - 1", KEY_PROPOSAL("APPROVED"), /the mac of the proposal/],
    ["proposed_at + 1", "decision = 'REJECTED'", /the mac of the proposal/],
  ],
  "proposals.decision": [
    ["'APPROVED'", KEY_PROPOSAL("REJECTED"), /the mac of the proposal[^]*key\.created by \S+ \| no row/],
    ["'LAPSED'", KEY_PROPOSAL("REJECTED"), /no end before it lapses/],
  ],
  "proposals.decided_by": [
    ["'opr_other'", KEY_PROPOSAL("REJECTED"), /the mac of the proposal[^]*decided_by/],
    ["'opr_other'", KEY_PROPOSAL("APPROVED"), /by \S+,opr_other \| key\.created/],
  ],
  "proposals.sealed": [["BYTES(00)", "decision IS NULL", "not covered"]],
  "proposals.mac": [[HASH, KEY_PROPOSAL("APPROVED"), /the mac of the proposal/]],
  "proposals.proposed_at": [["proposed_at - 1", PROPOSAL("return"), /proposed_at/]],
  "proposals.done_at": [
    ["NULL", PROPOSAL("return"), /done_at \d+ \| done_at null/],
    ["proposed_at", RESOLUTION(5), /done_at (null|\d+) \| done_at \d+/],
  ],

  "idempotency_keys.book": [["7", "book = 1", /idempotency_keys .*the book with the number 7/]],
  "idempotency_keys.key": [["'another'", "book = 1 AND key = 'first-mint'", "not covered"]],
  "idempotency_keys.resource_id": [
    [
      "'txn_other'",
      "book = 1",
      /idempotency_keys .*an account, a freeze, a transaction, a destination or a deposit of the book/,
    ],
    [
      "(SELECT id FROM accounts WHERE book = 2 AND seq = 3)",
      "book = 1",
      /an account, a freeze, a transaction, a destination or a deposit of the book/,
    ],
    [ACCOUNT(3), "book = 1", "not covered"],
  ],
  "idempotency_keys.created_at": [
    ["created_at - 1", "book = 1", /created_at \d+ or later/],
    ["created_at + 1", "book = 1", "not covered"],
  ],

  "journal.book": [["7", ROW(7), /journal 7 : a row \| no row: the next row has seq 8/]],
  "journal.seq": [
    ["99", ROW(7), /journal 7 : a row \| no row: the next row has seq 8/],
    ["99", ROW(20), /journal 20 : a row/],
    ["99", ROW(25), /api_keys 25 .*key\.revoked that it names \| none/],
  ],
  "journal.previous_seq": [
    ["5", ROW(9), /previous_seq 8 \| previous_seq 5/],
    ["NULL", ROW(9), /previous_seq 8 \| no previous_seq/],
    ["0", ROW(1), /journal 1 : no link/],
  ],
  "journal.account_id": [
    [ACCOUNT(4), ROW(8), /journal 8 txn_\S+: acc_/],
    [ACCOUNT(4), ROW(12), /account\.frozen|content_hash/],
    ["NULL", ROW(8), /an account_id, except on rows about/],
    [ACCOUNT(4), ROW(1), /organization\.created with one/],
  ],
  "journal.transaction_id": [
    [TRANSACTION(10), ROW(9), /journal 9 txn_/],
    ["NULL", ROW(8), /transaction\.completed without one/],
    [TRANSACTION(6), ROW(12), /account\.frozen with one/],
  ],
  "journal.freeze_id": [
    ["'frz_other'", ROW(12), /freezes 12 frz_other: a row \| none/],
    [FREEZE(29), ROW(31), /journal 31 frz_\S+: account_id|another id, reason_code/],
    ["NULL", ROW(12), /account\.frozen without one/],
    [FREEZE(29), ROW(8), /transaction\.completed with one/],
  ],
  "journal.kind": [
    ["'transaction.failed'", ORDER(3), /debit reserve|detail that fits/],
    ["'transaction.receipted'", ORDER(7), /transaction\.failed or .* after PROCESSING \| transaction\.receipted/],
    ["'book.covered'", ORDER(12), /book\.covered with debit reserve, credit shortfall/],
    ["'book.received'", ORDER(14), /book\.received with debit reserve, credit unallocated/],
    ["'book.transferred'", ORDER(23), /an account_id, except on rows about the organization or its book/],
    ["'book.paid'", ORDER(25), /book\.paid with debit shortfall, credit reserve/],
    ["'account.unfrozen'", ROW(29), /account\.unfrozen only when FROZEN \| ACTIVE/],
    ["'account.closed'", ROW(14), /journal 14 frz_\S+: account\.unfrozen \| account\.closed/],
    ["'account.frozen'", ROW(22), /account\.frozen without one/],
    ["'transaction.completed'", ROW(13), /transaction\.processing or .* after PENDING \| transaction\.completed/],
    ["'transaction.vanished'", ROW(11), /a known kind \| transaction\.vanished/],
    ["'account.created'", ROW(1), /organization\.created as seq 1/],
    ["'organization.created'", ROW(12), /organization\.created as seq 1/],
    ["'account.updated'", REVEAL, /the names of the changed fields as the reason/],
    ["'account.revealed'", "kind = 'account.tiered'", /why somebody looked as the reason/],
    ["'account.closed'", ROW(17), /account\.closed only when ACTIVE/],
    ["'deposit.reversed'", DEPOSIT(15), /the row that gives the content_hash/],
    ["'deposit.returned'", DEPOSIT(8), /deposit\.returned with debit unallocated, credit reserve/],
    ["'deposit.return_failed'", DEPOSIT(30), /deposit\.return_failed only when RETURNING/],
    ["'deposit.returning'", DEPOSIT(36), /no receipt on deposit\.returning[^]*deposit\.returning without a posting/],
    ["'book.returned'", DEPOSIT(15), /deposits 14 dep_\S+: status UNALLOCATED \| status RETURNED/],
    ["'organization.resumed'", ROW(26), /journal 26 : organization\.resumed only when suspended/],
    ["'organization.suspended'", ROW(27), /journal 27 : organization\.suspended only when not suspended/],
    ["'key.revoked'", ROW(23), /journal row key\.created that it names \| key\.revoked/],
  ],
  "journal.debit": [["'shortfall'", ROW(6), /debit reserve.*\| debit shortfall/]],
  "journal.credit": [
    ["'available'", DEPOSIT(8), /deposit\.received with debit reserve, credit unallocated/],
    ["'reserve'", DEPOSIT(11), /sums|reserve|unallocated/],
    ["'held'", ROW(6), /credit available.*\| debit reserve, credit held/],
    ["debit", ROW(6), /two of the book accounts/],
  ],
  "journal.amount_cents": [
    ["99999", ROW(6), /available 999\.99/],
    ["NULL", ROW(6), /two of the book accounts/],
  ],
  "journal.available_after_cents": [
    ["5", ROW(9), /available 0\.05/],
    ["5", ROW(1), /journal 1 : no link and no balance/],
  ],
  "journal.held_after_cents": [["5", ROW(11), /held 0\.05/]],
  "journal.detail": [
    ["'EXPIRED'", ORDER(9), /another content or content_hash/],
    ["'LOST'", ORDER(9), /transaction\.failed with a detail that fits \| the detail LOST/],
    [`'["RESOLVED_BY_OPERATOR","zoe","brian"]'`, ORDER(9), /transaction\.failed by amina first/],
    [`'["RESOLVED_BY_OPERATOR","amina","zoe"]'`, ORDER(9), /another content or content_hash/],
    ["NULL", ORDER(10), /transaction\.completed with a detail that fits/],
    ["'LATE'", ROW(6), /transaction\.completed with a detail that fits \| the detail LATE/],
    ["'OUTCOME_UNKNOWN'", ORDER(1), /transaction\.pending with a detail that fits/],
    ["'REPORT_DIFFERS'", ORDER(18), /transaction\.attended with a detail that fits/],
    ["'else'", ORDER(11), /a subject, a person and a content in the detail \| else/],
    [`'["a","b","c"]'`, ORDER(11), /the content \["coverShortfall",500\] \| c/],
    [`'["a","b","c"]'`, ORDER(23), /the content \["bookPayment",10,"r6","acc_\w+"\] \| c/],
    [`'["a","b","c"]'`, ORDER(24), /the content \["adjustMovement",10,/],
    [`'["a","b","c"]'`, ORDER(25), /the content \["explainTransfer",/],
    [`'["a","b","c"]'`, ORDER(14), /journal \d+ : the content_hash of the row/],
    [`'["KCB",1,"2026-11-21","a"]'`, "kind = 'reserve.recorded'", /journal \d+ : the content_hash of the row/],
    [`'["amina","[]"]'`, "kind = 'limits.set'", /journal \d+ : the content_hash of the row/],
    ["NULL", "kind = 'key.revoked'", /journal \d+ key_\w+: detail key_\w+ \| detail null/],
    ["'{}'", "kind = 'rail.changed'", /an account at a rail in the detail \| none/],
    [
      `replace(detail, '"payouts":"auto"', '"payouts":"open"')`,
      "kind = 'rail.changed'",
      /journal \d+ : the content_hash of the row[^]*rac_1: payouts open \| payouts auto/,
    ],
    ["'[5]'", "kind = 'limits.set'", /a person and the limits in the detail \| \[5\]/],
    ["'full'", "kind = 'account.tiered'", /the content_hash of the row/],
    ["'Not a tier'", "kind = 'account.tiered'", /the name of a tier as the detail \| Not a tier/],
    ["'default'", "kind = 'account.tiered'", /another tier than before \| default/],
    ["'20000007'", DEPOSIT(3), /8 digits with a right check digit as the detail \| 20000007/],
    ["NULL", DEPOSIT(3), /deposit_reference null \| deposit_reference \d{8}/],
    ["'dst_other'", DESTINATION(5), /destinations 5 dst_other: a row \| none/],
    ["'dep_other'", DEPOSIT(15), /deposits 15 dep_other: a row \| none/],
    ["detail || ' LOST'", DEPOSIT(6), /why it is not credited in the detail \| LOST/],
    ["detail || ' LOST'", DEPOSIT(31), /the detail dep_\S+ \| dep_\S+ LOST/],
    ["detail || ' LOST'", DEPOSIT(15), /its id alone as the detail \| dep_\S+ LOST/],
  ],
  "journal.rail_receipt": [
    ["'r9'", ORDER(4), /another content or content_hash/],
    ["NULL", ORDER(4), /journal \d+ txn_\S+: a receipt \| none/],
    ["'r9'", ROW(6), /rail_receipt r9 \| rail_receipt null/],
    ["'r9'", ORDER(3), /one receipt \| a second one/],
    ["'r9'", ROW(12), /no receipt on account\.frozen \| a receipt/],
    ["'r9'", ROW(3), /no receipt on account\.created \| a receipt/],
    ["'r9'", ROW(23), /no receipt on key\.created \| a receipt/],
    ["'r9'", ORDER(11), /no receipt \| a receipt/],
    ["'r9'", DEPOSIT(7), /transaction\.completed without a receipt \| a receipt/],
    ["NULL", DEPOSIT(13), /a receipt \| none/],
    ["'r9'", DEPOSIT(11), /no receipt \| a receipt/],
    ["NULL", DEPOSIT(15), /journal 15 dep_\S+: a receipt \| none/],
    ["'r9'", ORDER(12), /the content \["bookReceipt",400,"r9"\]/],
  ],
  "journal.actor": [
    ["'another'", ROW(6), /journal 6 : a key as the actor of transaction\.completed \| another/],
    ["'key_other'", ROW(6), /journal 6 : a key of the book that was created before, as the actor \| key_other/],
    ["(SELECT id FROM api_keys WHERE seq = 23)", ROW(6), /a key of the book that was created before, as the actor/],
    ["(SELECT id FROM api_keys WHERE seq = 23)", ROW(30), /a key with the scope accounts:write as the actor/],
    ["(SELECT id FROM api_keys WHERE seq = 24)", ROW(30), /a key with the scope accounts:write as the actor/],
    ["'opr_other'", ROW(14), /one operator, or two different ones, as the actor \| opr_other/],
    ["'another'", ORDER(2), "not covered"],
    ["'another'", ROW(12), /created_by another \| created_by key_\S+/],
    ["'another'", ROW(14), /lifted_by another \| lifted_by key_\S+/],
    ["'opr_other'", REVEAL, /the content_hash of the row/],
  ],
  "journal.reason": [
    ["'another'", ROW(1), /journal 1 : no reason/],
    ["'another'", ROW(3), /account\.created without a reason/],
    ["'another'", ROW(23), /journal 23 : no reason/],
    ["'another'", ROW(26), /journal 26 : the content_hash of the row/],
    ["'another'", ROW(6), /a first row without a reason/],
    ["'another'", ROW(13), /transactions 13 .*another status_reason/],
    ["'another'", ROW(14), /accounts 22 .*another status_reason/],
    ["'another'", ROW(12), /freezes 14 .*another reason/],
    ["'another'", ROW(31), /freezes 31 .*another lift_reason/],
    ["'another'", ROW(17), "not covered"],
    ["'other: a case'", REVEAL, /the content_hash of the row/],
    ["'another'", REVEAL, /why somebody looked as the reason/],
    ["'another'", ORDER(2), /transaction\.processing without a reason/],
    ["'another'", ORDER(7), "not covered"],
    ["'another'", ORDER(11), "not covered"],
    ["'another'", "kind = 'reserve.recorded'", "not covered"],
    ["'another'", "kind = 'limits.set'", "not covered"],
  ],
  "journal.recorded_at": [
    ["recorded_at + 1", ROW(6), /another content or content_hash/],
    ["recorded_at + 1", ROW(12), /freezes 12 .*content_hash/],
    ["recorded_at - 5000", ROW(20), /journal 20 : recorded_at \d+ or later/],
  ],
  "journal.content_hash": [
    [HASH, ROW(1), /another name, mode or content_hash/],
    [HASH, ROW(4), /another content_salt or another content_hash/],
    [HASH, ROW(6), /another content or content_hash/],
    [HASH, ROW(12), /freezes 12 .*content_hash/],
    [HASH, ROW(14), /freezes 14 .*content_hash/],
    [HASH, ROW(13), /journal 13 .*content_hash/],
    [HASH, ROW(17), /journal 17 .*content_hash/],
    [HASH, ROW(23), /api_keys 23 .*another key or content_hash/],
    [HASH, ROW(26), /journal 26 : the content_hash of the row/],
    [HASH, ROW(25), /api_keys 25 .*another key or content_hash/],
    [HASH, DESTINATION(5), /destinations 5 .*another kind, label/],
    [HASH, DESTINATION(7), /destinations 7 .*another kind, label/],
    [HASH, ROW(5), "not covered"],
  ],
  "journal.alone_by": [
    ["'another'", ORDER(12), /alone_by amina \| alone_by another/],
    ["NULL", ORDER(12), /alone_by amina \| alone_by null/],
    ["'amina'", ROW(6), /no sum of a person on a row that counts for nobody \| amina/],
  ],
  "journal.alone_cents": [["1", ORDER(12), /alone_cents 900 \| alone_cents 1/]],

  "rail_accounts.id": [
    ["'another'", "id = 'rac_1'", /rail_accounts \d+ rac_1: the account of rail\.changed \| none/],
    ["'another'", "id = 'rac_1'", /rail_accounts .*another: a journal row that records it \| none/],
  ],
  "rail_accounts.organization_id": [
    [OTHER_ORG, "id = 'rac_1'", /rail_accounts .*rac_1: the organization org_01jd\S+ \| none/],
    [
      "(SELECT organization_id FROM books WHERE number = 1)",
      "id = 'rac_1'",
      /rac_1: the account of rail\.changed \| none[^]*rac_1: a journal row that records it \| none/,
    ],
  ],
  "rail_accounts.rail": [["'sandbox'", "id = 'rac_1'", /rail_accounts \d+ rac_1: rail other \| rail sandbox/]],
  "rail_accounts.settings": [
    ['\'{"baseUrl":"https://evil.example"}\'', "id = 'rac_1'", /rac_1: settings with the SHA-256 \S+ \| settings with/],
  ],
  "rail_accounts.credentials": [
    ["BYTES(00)", "id = 'rac_1'", /rac_1: credentials with the SHA-256 \S{64} \| credentials with/],
    ["NULL", "id = 'rac_1'", /rac_1: credentials with the SHA-256 \S{64} \| .* null/],
  ],
  "rail_accounts.credentials_expire_at": [["5", "id = 'rac_1'", /rac_1: credentials_expire_at null \| .* 5/]],
  "rail_accounts.payouts": [["'open'", "id = 'rac_1'", /rac_1: payouts auto \| payouts open/]],
  "rail_accounts.payouts_reason": [["'another'", "id = 'rac_1'", /rac_1: payouts_reason {2}\| payouts_reason another/]],
  "rail_accounts.is_usual": [["0", "id = 'rac_1'", /rac_1: is_usual 1 \| is_usual 0/]],
  "rail_accounts.begin_within_millis": [["5", "id = 'rac_1'", /rac_1: begin_within_millis 120000 \| .* 5/]],
  "rail_accounts.confirm_above_cents": [["5", "id = 'rac_1'", /rac_1: confirm_above_cents 0 \| .* 5/]],
  "rail_accounts.resolve_alone_max_cents": [["5", "id = 'rac_1'", /rac_1: resolve_alone_max_cents 0 \| .* 5/]],
  "rail_accounts.float_min_cents": [["5", "id = 'rac_1'", /rac_1: float_min_cents 100 \| .* 5/]],
  "rail_accounts.warnings": [["'{}'", "id = 'rac_1'", /rac_1: warnings .*FLOAT_LOW.* \| warnings \[\]/]],
  "rail_accounts.revision": [["9", "id = 'rac_1'", /rac_1: revision 1 \| revision 9/]],
  "rail_accounts.mac": [[HASH, "id = 'rac_1'", /rac_1: the mac that the row gives/]],
  "rail_accounts.created_at": [["5", "id = 'rac_1'", /rac_1: created_at \d+ \| created_at 5/]],
  "rail_accounts.updated_at": [["updated_at + 1", "id = 'rac_1'", /rac_1: updated_at \d+ \| updated_at \d+/]],
  ...uncovered("rail_accounts", {
    balance: "'{}'",
    balance_at: "5",
    balance_question: "id",
    balance_asked_at: "5",
    balance_asked_with: "id",
    deposits_since: "5",
    deposits_due_at: "5",
    deposits_read_at: "5",
  }),
  ...uncovered("rail_messages", {
    id: "5",
    transaction_id: "'another'",
    purpose: "'status'",
    sha256: "'another'",
    body_masked: "'another'",
    received_at: "5",
    due_at: "5",
    tries: "5",
  }),
  ...uncovered("leases", { name: "'another'", holder: "'another'", until: "5", fence: "5" }),

  // Book 3 has 303 rows and one seal.
  "seals.book": [
    ["2", "book = 3", /seals 303 : the root of the rows|seal_tiles/],
    ["99", "book = 3", /seals .*the book with the number 99/],
  ],
  "seals.size": [["301", "book = 3", /seals 301 : the root of the rows up to it \| another root/]],
  "seals.root": [[HASH, "book = 3", /seals 303 : the root of the rows up to it \| another root/]],
  "seals.note": [
    ["'another'", "book = 3", /a note of this book .* \| another note/],
    ["replace(note, 'kesc.example', 'kesc.another')", "book = 3", /a key of the seal key file signed \| another note/],
  ],
  "seals.reserve_cents": [["5", "book = 3", /the sums 30000 0 0 30000 0 0 \| the sums 5 0 0 30000 0 0/]],
  "seals.shortfall_cents": [["5", "book = 3", /the sums 30000 5 0 30000/]],
  "seals.charges_cents": [["5", "book = 3", /the sums 30000 0 5 30000/]],
  "seals.available_cents": [["5", "book = 3", /the sums 30000 0 0 5 /]],
  "seals.held_cents": [["5", "book = 3", /the sums 30000 0 0 30000 5 0/]],
  "seals.unallocated_cents": [["5", "book = 3", /the sums 30000 0 0 30000 0 5/]],
  "seals.sealed_at": [["5", "book = 3", "not covered"]],

  "seal_tiles.book": [
    ["99", "book = 3", /seal_tiles .*the book with the number 99/],
    ["2", "book = 3", /seal_tiles 1 : the tile 0 of level 1 .* \| no tile/],
  ],
  "seal_tiles.level": [["7", "book = 3", /tiles over sealed rows \| 1 tiles of level 0/]],
  "seal_tiles.number": [["1", "book = 3", /tiles over sealed rows \| 1 tiles of level 1/]],
  "seal_tiles.hashes": [
    [`BYTES(${"00".repeat(64)})`, "book = 3", /seal_tiles 1 : the tile 0 of level 1 .* \| other hashes/],
    [`BYTES(${"00".repeat(32)})`, "book = 3", /other hashes/],
  ],

  "seal_alarms.cleared_at": [["NULL", "1 = 1", /seal_alarms 1 : no alarm .* \| a test of the alarm/]],
  ...uncovered("seal_alarms", {
    book: "3",
    raised_at: "3",
    size: "3",
    first_seq: "3",
    last_seq: "9",
    problem: "'another'",
    cleared_by: "'another'",
    clear_reason: "'another'",
  }),
  "webhook_endpoints.id": [
    ["'another'", "1 = 1", /webhook_endpoints 8 whk_7: the endpoint of its journal row \| none/],
    ["'another'", "1 = 1", /webhook_endpoints .*another: a journal row that records it \| none/],
  ],
  "webhook_endpoints.organization_id": [
    [OTHER_ORG, "1 = 1", /webhook_endpoints .*organization org_01jd/],
    [SECOND_ORG, "1 = 1", /webhook_endpoints .*whk_7: a journal row that records it \| none/],
  ],
  "webhook_endpoints.url": [["BYTES(00)", "1 = 1", ENDPOINT_MAC]],
  "webhook_endpoints.secrets": [["url", "1 = 1", ENDPOINT_MAC]],
  "webhook_endpoints.description": [["'another'", "1 = 1", ENDPOINT_MAC]],
  "webhook_endpoints.types": [["'[]'", "1 = 1", ENDPOINT_MAC]],
  "webhook_endpoints.status": [["'PAUSED'", "1 = 1", ENDPOINT_MAC]],
  "webhook_endpoints.disabled_reason": [["'GONE'", "1 = 1", ENDPOINT_MAC]],
  "webhook_endpoints.changed_seq": [
    ["changed_seq - 1", "1 = 1", /webhook_endpoints 8 whk_7: changed_seq 8 \| changed_seq 7/],
    ["changed_seq + 1", "1 = 1", /webhook_endpoints 8 whk_7: changed_seq 8 \| changed_seq 9/],
  ],
  "webhook_endpoints.created_at": [["created_at - 1", "1 = 1", /webhook_endpoints 8 whk_7: created_at/]],
  "webhook_endpoints.updated_at": [["updated_at + 1", "1 = 1", /webhook_endpoints 8 whk_7: updated_at/]],
  "webhook_endpoints.mac": [[HASH, "1 = 1", ENDPOINT_MAC]],
  ...uncovered("webhook_endpoints", {
    revision: "5",
    settled_seq: "5",
    replay_seq: "5",
    replay_until_seq: "5",
    failures: "5",
    failing_since: "5",
    probe_at: "5",
    retry_at: "5",
    logged: "5",
  }),
  "books.payout_list": [
    ["'[]'", "payout_list IS NOT NULL", /payout_list \["[0-9a-f]{64}",0,2,1,.* \| payout_list \[\]/],
    ["NULL", "payout_list IS NOT NULL", /payout_list .* \| payout_list null/],
  ],
  "payout_lists.book": [["1", "1 = 1", /payout_lists .*3 entries with the hash .* \| no row/]],
  "payout_lists.list": [[`'${"0".repeat(64)}'`, "1 = 1", /payout_lists .*3 entries with the hash .* \| no row/]],
  "payout_lists.entries": [["substr(entries, 17)", "1 = 1", /payout_lists .*3 entries .* \| 2 entries/]],
  "payout_lists.stored_at": [["5", "1 = 1", "not covered"]],
  "payout_files.book": [["1", "1 = 1", /payout_files \d+ a{64}: a journal row that approves it/]],
  "payout_files.sha256": [["'another'", "1 = 1", /payout_files \d+ another: a journal row that approves it/]],
  "payout_files.rows_sha256": [["'another'", "1 = 1", /payout_files .*as b{64}.*as another/]],
  "payout_files.rail": [["'another'", "1 = 1", /payout_files .*over mpesa.*over another/]],
  "payout_files.row_count": [["7", "1 = 1", /payout_files .*2 rows.*7 rows/]],
  "payout_files.amount_cents": [["5", "1 = 1", /payout_files .*41050100 cents.* 5 cents/]],
  "payout_files.left_out": [["5", "1 = 1", /payout_files .*without 1.*without 5/]],
  "payout_files.seq": [["seq - 1", "1 = 1", /payout_files .*approved in row/]],
  "payout_files.approved_at": [["5", "1 = 1", /payout_files .* at 5/]],
  "payout_files.stopped_at": [["5", "1 = 1", /payout_files .*, stopped at 5/]],
  "payout_files.mac": [[HASH, "1 = 1", /payout_files \d+ a{64}: the mac that the row gives/]],
  ...uncovered("payout_parts", {
    book: "1",
    rows_sha256: "'another'",
    part: "part + 5",
    file_sha256: "'another'",
    sealed: HASH,
    stored_at: "5",
    outcomes: "'another'",
  }),
  ...uncovered("webhook_retries", {
    endpoint_id: "'another'",
    seq: "5",
    tries: "5",
    next_at: "5",
    last_code: "5",
    last_problem: "'another'",
    last_at: "5",
    last_millis: "5",
  }),
  ...uncovered("webhook_log", {
    endpoint_id: "'another'",
    number: "5",
    seq: "5",
    tries: "5",
    code: "5",
    problem: "'another'",
    at: "5",
    millis: "5",
  }),

  "account_marks.book": [["1", "book = 2", /account_marks 4 : acc_\S+ \| acc_/]],
  "account_marks.seq": [
    ["0", "book = 2", /account_marks 0 : a row of the journal \| none/],
    ["1", "book = 2", /account_marks 1 : no account \| acc_/],
    ["9999", "book = 2", /account_marks 9999 : a row of the journal \| none/],
  ],
  "account_marks.account_id": [["'acc_other'", "book = 2", /account_marks 4 : acc_\S+ \| acc_other/]],
  "book_marks.book": [["1", "book = 2", /book_marks 4 : reserve 0\.00.*reserve 1\.00/]],
  "book_marks.seq": [["5", "book = 2", /book_marks 5 : reserve 0\.00.*reserve 1\.00/]],
  "book_marks.reserve_cents": [["101", "book = 2", /book_marks 4 : reserve 1\.00.*reserve 1\.01/]],
  "book_marks.shortfall_cents": [["1", "book = 2", /book_marks 4 .*shortfall 0\.01/]],
  "book_marks.available_cents": [["99", "book = 2", /book_marks 4 .*available 0\.99/]],
  "book_marks.held_cents": [["1", "book = 2", /book_marks 4 .*held 0\.01/]],
  "book_marks.charges_cents": [["1", "book = 2", /book_marks 4 .*charges 0\.01/]],
  "book_marks.minted_cents": [["101", "book = 2", /book_marks 4 : .*minted 1\.00.*minted 1\.01/]],
  "book_marks.redeemed_cents": [["1", "book = 2", /book_marks 4 .*redeemed 0\.01/]],
  "book_marks.unallocated_cents": [["1", "book = 2", /book_marks 4 .*unallocated 0\.01/]],
  "reserve_places.book": [["1", "book = 2", /reserve_places \d+ : a journal row that records it \| "KCB"/]],
  "reserve_places.place": [["'Equity'", "book = 2", /a journal row that records it \| "Equity"/]],
  "reserve_places.seq": [["seq - 1", "book = 2", /reserve_places .*recorded in row/]],
  "reserve_places.amount_cents": [["5", "book = 2", /"KCB" with 70\.00.*"KCB" with 0\.05/]],
  "reserve_places.as_of_day": [["'2026-11-20'", "book = 2", /on 2026-11-21.*on 2026-11-20/]],
  "reserve_places.evidence": [["'another'", "book = 2", /by "statement 2".*by "another"/]],
  "operator_acts.seq": [["seq + 10", "seq = 6", /operator_acts 16 .*seq 6 \| seq 16/]],
  "operator_acts.kind": [["'operator.revoked'", "seq = 4", /operator_acts 4 .*the row that the chain has/]],
  "operator_acts.operator_id": [["'opr_other'", "seq = 2", /operator_acts 2 opr_other: the row that the chain has/]],
  "operator_acts.name": [["'Bob'", "seq = 2", /operator_acts 2 .*the row that the chain has/]],
  "operator_acts.roles": [["'admin'", "seq = 2", /operator_acts 2 .*the row that the chain has/]],
  "operator_acts.key_sha256": [[`'${"0".repeat(64)}'`, "seq = 2", /operator_acts 2 .*the row that the chain has/]],
  "operator_acts.actor": [
    ["'operator'", "seq = 5", /operator_acts 5 .*the row that the chain has/],
    ["operator_id", "seq = 4", /operator_acts 4 .*an actor who had the right/],
  ],
  "operator_acts.recorded_at": [
    [
      "recorded_at + 100000",
      "seq = 2",
      /operator_acts 2 .*the row that the chain has[^]*operator_acts 3 .*recorded_at \d+ or later/,
    ],
  ],
  "operator_acts.passkey_sha256": [
    [`'${"0".repeat(64)}'`, "seq = 6", /operator_acts 6 .*the row that the chain has[^]*the passkey of an act \| none/],
  ],
  "passkeys.sha256": [
    [`'${"0".repeat(64)}'`, "1 = 1", /the passkey with this SHA-256 \| another one[^]*of an act \| none/],
  ],
  "passkeys.credential_id": [["'AAAA'", "1 = 1", /passkeys .*the passkey with this SHA-256 \| another one/]],
  "passkeys.public_key": [["BYTES(00)", "1 = 1", /passkeys .*the passkey with this SHA-256 \| another one/]],
  "passkeys.created_at": [["5", "1 = 1", "not covered"]],
  ...uncovered("sessions", {
    id: "'ses_other'",
    token_sha256: `'${"0".repeat(64)}'`,
    operator_id: "'opr_other'",
    began_with: `'${"0".repeat(64)}'`,
    created_at: "created_at - 1",
    used_at: "used_at + 1",
    verified_at: "NULL",
    mac: HASH,
  }),
  "sign_in_tokens.token_sha256": [[`'${"0".repeat(64)}'`, "kind = 'challenge'", "not covered"]],
  ...uncovered("sign_in_tokens", {
    kind: "'code'",
    content: "'{}'",
    created_at: "created_at - 1",
    expires_at: "expires_at + 1",
    mac: HASH,
  }),
  ...uncovered("restores", { restored_at: "4", confirmed_at: "NULL" }),
  "operator_proposals.id": [["'prp_other'", WAITING, /operator_proposals .*prp_other: a row of the chain for it/]],
  "operator_proposals.content": [
    ["replace(content, '333', '444')", WAITING, /operator_proposals .*the row that the chain has/],
  ],
  "operator_proposals.proposed_by": [
    ["'opr_other'", WAITING, /a known operator \| opr_other[^]*the row that the chain has/],
  ],
  "operator_proposals.proposed_at": [["proposed_at - 1", WAITING, /operator_proposals .*the row that the chain has/]],
  "operator_proposals.expires_at": [["expires_at + 1", WAITING, /operator_proposals .*the row that the chain has/]],
  "operator_decisions.proposal_id": [["'prp_other'", "decision = 'APPROVED'", /prp_other: its proposal \| none/]],
  "operator_decisions.decision": [
    ["'APPROVED'", "decision = 'REJECTED'", /the key of the approved act \| none[^]*the row that the chain has/],
  ],
  "operator_decisions.decided_by": [
    [
      "(SELECT proposed_by FROM operator_proposals LIMIT 1)",
      "decision = 'APPROVED'",
      /the approval of a second person[^]*the row that the chain has/,
    ],
    ["'opr_other'", "decision = 'REJECTED'", /a known operator \| opr_other/],
  ],
  "operator_decisions.decided_at": [
    ["decided_at + 1", "decision = 'APPROVED'", /operator_decisions .*the row that the chain has/],
    ["decided_at + 300000000", "decision = 'APPROVED'", /a decision before the proposal lapsed/],
  ],
  "operator_keys.id": [["2", "1 = 1", /operator_keys .*the key of the chain \| none/]],
  "operator_keys.chain_key": [["BYTES(00)", "1 = 1", /operator_keys .*a key that the master key decrypts/]],
  "operator_keys.master_key_id": [["'another'", "1 = 1", /operator_keys .*needs the master key another/]],
  "operator_chain.seq": [["seq + 100", "seq = 11", /operator_chain 111 .*seq \d+ \| seq 111/]],
  "operator_chain.subject": [
    [
      "'act:99'",
      "subject = 'act:2'",
      /operator_acts 2 .*a row of the chain for it \| none[^]*the row that it names \| none/,
    ],
  ],
  "operator_chain.mac": [[HASH, "subject = 'act:2'", /operator_acts 2 .*the row that the chain has \| another row/]],
  "reserve_places.kind": [["'cash'", "book = 2", /bank_kenya, document \S+, matures 2026-12-31.*: cash/]],
  "reserve_places.document_sha256": [["NULL", "book = 2", /document a{64}.*document none/]],
  "reserve_places.matures_on": [["'2027-01-01'", "book = 2", /matures 2026-12-31.*matures 2027-01-01/]],
  "reserve_places.statement_form": [
    ["NULL", "book = 2", /statements \{"source":"kcb","account":"1"\}.*statements of no form/],
  ],
  "reserve_places.recorded_at": [["5", "book = 2", /recorded in row \d+ at \d+.* at 5,/]],

  ...uncovered("book_moves", {
    book: "1",
    move_id: "'other'",
    phase: "'COPYING'",
    root: "NULL",
    file_sha256: "NULL",
    arrival_id: "NULL",
    rows_done: "9",
    moved_to: "'other'",
    changed_at: "5",
  }),
  "seal_alarms.book": [
    ["3", "1 = 1", "not covered"],
    ["99", "1 = 1", /seal_alarms .*the book with the number 99 \| no such book/],
  ],
  "knex_migrations.id": [["id + 100", "1 = 1", "not covered"]],
  "knex_migrations.name": [["'another'", "1 = 1", "not covered"]],
  "knex_migrations.batch": [["9", "1 = 1", "not covered"]],
  "knex_migrations.migration_time": [["NULL", "1 = 1", "not covered"]],
  "knex_migrations_lock.index": [["9", "1 = 1", "not covered"]],
  "knex_migrations_lock.is_locked": [["1", "1 = 1", "not covered"]],
};

/** Settings, evidence and leases: no row of the journal says what they must be. */
function uncovered(
  table: string,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, readonly (readonly [...Change, Answer])[]>> {
  return Object.fromEntries(
    Object.entries(values).map(([column, value]) => [`${table}.${column}`, [[value, "1 = 1", "not covered"]]]),
  );
}

/** What limits have counted: in a row that has some, and in one that has none. */
function usage(
  table: "accounts" | "books",
  limited: string,
  unlimited: string,
): Readonly<Record<string, readonly (readonly [...Change, Answer])[]>> {
  const beyond = /a day of the past and its month/;
  const ofDay = /in the day minted 5\.00, redeemed 1\.00 \|/;
  const ofMonth = /in the month minted 5\.00, redeemed 1\.00 \|/;
  return {
    [`${table}.day_from`]: [
      [
        "day_from - 86400000",
        limited,
        new RegExp(`${table} \\d+ \\S+: the day of the last transaction that counts|${beyond.source}`),
      ],
      ["day_from + 86400000", limited, beyond],
      ["NULL", limited, beyond],
      ["5", unlimited, beyond],
    ],
    [`${table}.day_minted_cents`]: [
      ["0", limited, /in the day minted 5\.00, redeemed 1\.00 \| in the day minted 0\.00/],
      ["5", unlimited, /in the day minted 0\.00, redeemed 0\.00 \| in the day minted 0\.05/],
    ],
    [`${table}.day_redeemed_cents`]: [["0", limited, ofDay]],
    [`${table}.month_from`]: [
      ["month_from - 86400000", limited, beyond],
      ["NULL", limited, beyond],
    ],
    [`${table}.month_minted_cents`]: [["0", limited, ofMonth]],
    [`${table}.month_redeemed_cents`]: [["5", limited, /in the month .* redeemed 0\.05/]],
  };
}

for (const engine of ENGINES) {
  describe(`verify on ${engine}, after somebody changed one column past every guard`, () => {
    let unguarded: Unguarded;
    before(async () => {
      unguarded = await openUnguarded(engine, fillEachTable);
    });
    after(() => unguarded.dispose());

    it("finds nothing when nobody changed anything", async () => {
      expect(findingsOnRows(await unguarded.verifyAfter([]))).to.deep.equal([]);
    });

    it("has an entry for each column of each table", () => {
      expect(Object.keys(CHANGES)).to.have.members(unguarded.columns);
    });

    it("names no column as not covered that it covers", () => {
      const entries = Object.entries(CHANGES).flatMap(([column, changes]) =>
        changes.some(([, , answer]) => answer === "not covered") ? [entryOf(column)] : [],
      );
      expect(Object.keys(NOT_COVERED)).to.have.members([...new Set(entries)]);
    });

    let index = 0;
    for (const [column, changes] of Object.entries(CHANGES)) {
      for (const [value, rows, answer] of changes) {
        if (index++ % ONE_OF[engine] !== 0) continue;
        const is = answer === "not covered" ? "does not cover" : "finds";
        it(`${is} ${column} = ${value} where ${rows}`, async () => {
          const [table = "", name = ""] = column.split(".");
          const findings = findingsOnRows(
            await unguarded.verifyAfter([`UPDATE ${table} SET "${name}" = ${value} WHERE ${rows}`]),
          );
          if (answer === "not covered") expect(findings).to.deep.equal([]);
          else expect(findings.join("\n")).to.match(answer);
        });
      }
    }
  });
}
