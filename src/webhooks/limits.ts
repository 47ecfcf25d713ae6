// The times and numbers of webhooks but those that commands need, which are in
// src/domain/. docs/adr/0043-webhooks.md says why.

const SECOND_MILLIS = 1_000;
const MINUTE_MILLIS = 60 * SECOND_MILLIS;
const HOUR_MILLIS = 60 * MINUTE_MILLIS;
const DAY_MILLIS = 24 * HOUR_MILLIS;

/** How often the database is asked for endpoints that have something to do. */
export const LOOK_MILLIS = 500;
/** After a look, the next one waits for this multiple of the time that the look took. */
export const RESTS_PER_LOOK = 4;
/** While there is something to send, deliveries begin this often. */
export const TICK_MILLIS = 50;
/** The deliveries that one endpoint may begin in a tick: 200 in a second. */
export const STARTS_PER_TICK_MAX = 10;
/** The deliveries of all endpoints of a cell in a tick: 500 in a second. */
export const CELL_STARTS_PER_TICK_MAX = 25;
/** The deliveries under way at one endpoint. */
export const UNDER_WAY_MAX = 64;
/** The deliveries under way at all endpoints of a cell. */
export const CELL_UNDER_WAY_MAX = 512;
/** The endpoints with something to do that one look takes. */
export const DUE_MAX = 1_000;
/** The endpoints that are kept in memory. Above half of them, those without work go. */
export const WINDOWS_MAX = 1_000;
/** The events that one read of a book returns. */
export const PAGE_EVENTS = 64;
/** The reads of books under way. */
export const READS_MAX = 2;
/** What came of the deliveries is stored this often. */
export const SAVE_MILLIS = SECOND_MILLIS;
/** A delivery begins only if this much of the lease is left. It is more than a delivery takes. */
export const LEASE_LEFT_MILLIS_MIN = 20 * SECOND_MILLIS;

/** A delivery in all: name, connection, request and the whole response. */
export const DELIVERY_MILLIS_MAX = 15 * SECOND_MILLIS;
/** The bytes of a response that are read. The rest is cut off. */
export const RESPONSE_BYTES_MAX = 16_384;
/** The test events of one organization that may be under way at one server. */
export const TESTS_MAX = 2;

/** The waits before an event is tried again. After the last one it is given up. */
export const RETRY_MILLIS: readonly number[] = [
  5 * SECOND_MILLIS,
  MINUTE_MILLIS,
  5 * MINUTE_MILLIS,
  30 * MINUTE_MILLIS,
  2 * HOUR_MILLIS,
  5 * HOUR_MILLIS,
  10 * HOUR_MILLIS,
];
/** A wait is longer by a random part, up to this share: all waits make 24 hours at most. */
export const JITTER_SHARE = 0.35;
/** The longest wait that a Retry-After can ask for. */
export const RETRY_AFTER_MILLIS_MAX = 10 * HOUR_MILLIS;

/** With this many failures in a row, an endpoint gets only probes. */
export const FAILURES_MAX = 20;
/** The waits between the probes. The last one holds for all others. */
export const PROBE_MILLIS: readonly number[] = [MINUTE_MILLIS, 5 * MINUTE_MILLIS, 15 * MINUTE_MILLIS, HOUR_MILLIS];
/** An endpoint that fails for so long is disabled. */
export const FAILING_MILLIS_MAX = 5 * DAY_MILLIS;

export const URL_CHARACTERS_MAX = 2_048;
export const LOG_ROWS_MAX = 1_000;
export const SECRET_BYTES = 32;
