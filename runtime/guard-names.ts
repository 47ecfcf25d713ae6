/** The headers that guard a request against its repetition, or against a change in between. */
export type GuardName = "idempotency-key" | "if-match" | "if-none-match";

const SHORTEST = "if-match".length;

/**
 * Returns the guard that a header's name means in another spelling, such as `x-idempotency-key` or
 * `grpc-metadata-if-match`. A header that looks like a guard and is none would let a caller repeat
 * in good faith. `name` is in small letters. Undefined for the guards themselves.
 */
export function guardMeantBy(name: string): GuardName | undefined {
  // Most names end here: this runs for each header of each call.
  if (name.length < SHORTEST || !(name.includes("idempot") || name.includes("match"))) return undefined;
  const guard = name.includes("idempot") ? "idempotency-key" : matchMeantBy(name);
  return guard === name ? undefined : guard;
}

function matchMeantBy(name: string): GuardName | undefined {
  if (/if[-_]?none[-_]?match/.test(name)) return "if-none-match";
  return /if[-_]?match/.test(name) ? "if-match" : undefined;
}
