/** A moment, in milliseconds since 1970-01-01T00:00:00Z. */
export type UnixMillis = number & { readonly brand: unique symbol };

/** The clocks of two servers differ by less. A wrong clock gave a moment further ahead. */
const CLOCKS_MILLIS_MAX = 60_000;

/**
 * Returns how long ago a moment was. Infinity for a moment that a wrong clock has given: nobody
 * knows how long ago it was.
 */
export function millisSince(moment: UnixMillis, clock: UnixMillis): number {
  return moment - clock > CLOCKS_MILLIS_MAX ? Infinity : clock - moment;
}

/** Brands a number of milliseconds from a clock or from the database. */
export function toUnixMillis(count: number): UnixMillis {
  return count as UnixMillis;
}
