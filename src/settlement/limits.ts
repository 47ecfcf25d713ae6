// The times and numbers of the settlement, all in one place. docs/adr/0039-settlement.md says why.

const SECOND_MILLIS = 1_000;
const MINUTE_MILLIS = 60 * SECOND_MILLIS;
const HOUR_MILLIS = 60 * MINUTE_MILLIS;
const DAY_MILLIS = 24 * HOUR_MILLIS;

/** The loop looks for due work this often, and at once when it is woken. */
export const LOOP_MILLIS = 500;
/** After a look, the loop rests for this multiple of the time that the look took. */
export const RESTS_PER_LOOK = 4;

/** The calls under way at one rail account. */
export const CALLS_MAX = 32;
export const CALL_MILLIS_MAX = 20 * SECOND_MILLIS;
/** A call starts only if this much of the lease is left. It is more than a call takes. */
export const LEASE_LEFT_MILLIS_MIN = 25 * SECOND_MILLIS;

/** A fault that stays is logged this often. */
export const FAULT_LOGGED_MILLIS = HOUR_MILLIS;
/** The warning of refused requests ends at the first look after this time without one. */
export const QUIET_MILLIS = HOUR_MILLIS;
/**
 * The result of a status query may be late by this: after a change of the account it may tell of
 * the credential before. Results were seen 85 seconds late.
 */
export const STATUS_LATE_MILLIS_MAX = 2 * MINUTE_MILLIS;
/** An order that was begun so soon after a change of the account may be older: clocks differ. */
export const CHANGED_MILLIS_MIN = 5 * SECOND_MILLIS;

/** The questions for names of new destinations that are under way at one rail account. */
export const NAME_CALLS_MAX = 2;
/** The length of the line for a turn, of which one account gets half: 100. More are not asked. */
export const NAMES_WAITING_MAX = 200;
/** A new destination waits for its name so long, its turn included. */
export const NAME_MILLIS_MAX = 5 * SECOND_MILLIS;
/** Nothing is asked for so long after a question without an answer. */
export const NAME_UNANSWERED_MILLIS = MINUTE_MILLIS;
/** The same where the account lacks the product, unless somebody sets the account. */
export const NAME_LACKING_MILLIS = HOUR_MILLIS;

/** How often each rail account is asked for its balance. */
export const BALANCE_MILLIS = HOUR_MILLIS;
/** An account that was set or changed is asked after this time at the latest. */
export const NEW_ACCOUNT_MILLIS = MINUTE_MILLIS;

/** The messages of all rail accounts that one look takes. */
export const MESSAGES_MAX = 100;
/** When an unconfirmed message is looked at again, by its tries. After the last it is given up. */
export const MESSAGE_WAITS_MILLIS: readonly number[] = [
  5 * SECOND_MILLIS,
  30 * SECOND_MILLIS,
  2 * MINUTE_MILLIS,
  10 * MINUTE_MILLIS,
  30 * MINUTE_MILLIS,
  HOUR_MILLIS,
  3 * HOUR_MILLIS,
  12 * HOUR_MILLIS,
  DAY_MILLIS,
];
/**
 * After so many tries, about 3 minutes, a person learns of an outcome that the rail has called, and
 * that no query confirms.
 */
export const UNCONFIRMED_TRIES = 3;
/** The messages that wait in memory for room at their rail account. */
export const MESSAGES_WAITING_MAX = 200;
/** A message is postponed by this time when that many wait already. */
export const BUSY_MILLIS = 2 * SECOND_MILLIS;

/** A payment that must not begin yet, or whose rail account cannot be read, is due again then. */
export const BLOCKED_MILLIS = 5 * MINUTE_MILLIS;
/** Work that failed in our own storage rests for this time. */
export const REST_MILLIS = 5 * SECOND_MILLIS;
/** The longest wait before an order is sent again that did not reach the rail. */
export const UNREACHED_MILLIS_MAX = 5 * MINUTE_MILLIS;

/** A payout is sent again, with the same id, only within this time of the first request. */
export const SEND_AGAIN_MILLIS_MAX = 10 * MINUTE_MILLIS;
/** After this time a person must look at an order whose outcome is not known. */
export const UNKNOWN_MILLIS_MAX = 48 * HOUR_MILLIS;
/** After that, the rail is still asked, in case it knows. */
export const FLAGGED_CHECK_MILLIS = DAY_MILLIS;

/** With this many payouts of unknown outcome, or one this old, no new payout begins. */
export const UNKNOWN_PAYOUTS_MAX = 20;
export const UNKNOWN_PAYOUT_MILLIS_MAX = 15 * MINUTE_MILLIS;
/** Maximum number of unknown payouts that are flagged and named at a time. */
export const UNKNOWN_PAYOUTS_NAMED_MAX = 100;
export const BREAKER_READ_MILLIS = 5 * SECOND_MILLIS;

/** A begin that waits longer in the queue is dropped, and tried again later. */
export const BEGIN_MILLIS_MAX = 15 * SECOND_MILLIS;
/**
 * For so long after a begin the server may call the rail that it was granted to. It is less than
 * the first wait for a query, so no other server has looked at the payment since.
 */
export const GRANT_MILLIS_MAX = 45 * SECOND_MILLIS;
export const RESULT_MILLIS_MAX = 60 * SECOND_MILLIS;
/** The waits between the tries to store what a rail said. */
export const RESULT_WAITS_MILLIS: readonly number[] = [SECOND_MILLIS, 5 * SECOND_MILLIS, 15 * SECOND_MILLIS];

// Of the lists of received payments, from which deposits come (docs/adr/0064).

/** The lists that are read at once. Each rail account has one at most. */
export const LISTS_MAX = 8;
/** A list that takes longer is given up, and read again. */
export const LIST_MILLIS_MAX = 2 * MINUTE_MILLIS;
/** A list that nobody asks for is read this often. */
export const LIST_MILLIS = 10 * MINUTE_MILLIS;
/**
 * A list may show a payment later than the rail confirms it. After a reading that a confirmation
 * asked for, and that found nothing new, these are the waits before the next readings.
 */
export const LIST_LAG_MILLIS: readonly number[] = [5 * SECOND_MILLIS, 30 * SECOND_MILLIS, 2 * MINUTE_MILLIS];
/** After a list that could not be read, or not be booked. */
export const LIST_AGAIN_MILLIS = MINUTE_MILLIS;
/** Maximum number of readings in a row that a confirmation caused and that found nothing new. */
export const FRUITLESS_READINGS_MAX = 3;
/** After them, confirmations cause at most one reading in this time: anybody may forge them. */
export const FRUITLESS_MILLIS = MINUTE_MILLIS;
/**
 * How far back a list goes. It is longer than the offset of Nairobi from UTC: nobody knows in which
 * time zone M-Pesa reads the period.
 */
export const LIST_BACK_MILLIS = 4 * HOUR_MILLIS;
/** How far back the first list of a day goes: as far as M-Pesa's do. */
export const LIST_BACK_MILLIS_MAX = 48 * HOUR_MILLIS;
/** The receipts that one statement looks up. */
export const RECEIPTS_AT_ONCE = 1_000;
/** Maximum number of rows of a list that credit nobody that one line of the log names. */
export const UNREADABLE_NAMED_MAX = 100;
/** The payments of one list that the ledger books at once. */
export const PAYMENTS_AT_ONCE = 32;
/** A payment that may belong to an order is booked as a deposit after this time. */
export const HELD_BACK_MILLIS_MAX = DAY_MILLIS;
/** A payment that seems so much older than the registration counts: see `CLOCKS_MILLIS`. */
export const SINCE_GRACE_MILLIS = 10 * SECOND_MILLIS;
/** The clock of the rail may be behind ours: an order may seem to be newer than its payment. */
export const CLOCKS_MILLIS = 5 * MINUTE_MILLIS;

// Of deposits that a rail is asked to return (docs/adr/0064).

/** The returns that are under way at once. */
export const RETURNS_MAX = 32;
/** How long after each request the next one follows, if the rail says nothing. */
export const RETURN_WAITS_MILLIS: readonly number[] = [2 * MINUTE_MILLIS, 10 * MINUTE_MILLIS, HOUR_MILLIS];
/** How long after all later ones. */
export const RETURN_WAIT_MILLIS_MAX = 6 * HOUR_MILLIS;

/** How often the settlement looks for texts of payers to remove. */
export const CHORES_MILLIS = MINUTE_MILLIS;
/** The texts of payers that one statement looks at. */
export const TYPED_AT_ONCE = 5_000;
