/** A moment, in milliseconds since 1970-01-01T00:00:00Z. */
export type UnixMillis = number & { readonly brand: unique symbol };

/** Brands a number of milliseconds from a clock or from the database. */
export function toUnixMillis(count: number): UnixMillis {
  return count as UnixMillis;
}
