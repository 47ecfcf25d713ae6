// The times and numbers of checks but those that commands need, which are in src/domain/.
// docs/adr/0083-checks-of-payouts.md says why.

/** How often the database is asked for organizations with payouts that wait for an answer. */
export const LOOK_MILLIS = 500;
/** After a look, the next one waits for this multiple of the time that the look took. */
export const RESTS_PER_LOOK = 4;
/** One request in all: name, connection, and the whole answer. */
export const TRY_MILLIS_MAX = 5_000;
/** How often a service is asked about one payout. */
export const TRIES_MAX = 3;
/** The requests under way at one service. A service that fails gets one. */
export const UNDER_WAY_MAX = 4;
/** The services of a cell that are asked at the same time. */
export const RUNS_MAX = 16;
/** Those of them that failed last: the others always find room. */
export const FAILING_RUNS_MAX = 4;
/** The payouts of an organization that one look takes, oldest first. */
export const PAGE_PAYOUTS = 256;
/** A request begins only if this much of the lease is left. It is more than a request takes. */
export const LEASE_LEFT_MILLIS_MIN = 20_000;
