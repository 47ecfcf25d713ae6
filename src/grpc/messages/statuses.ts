import { type Parsed, parsed, unparsed } from "../../domain/values/parsed.js";

/**
 * Parses the statuses of a filter, in any order. Returns each once, in the order of `statuses`. No
 * status means any status, and so do all of them.
 */
export function parseStatuses<Status extends string>(
  unchecked: readonly number[],
  statuses: readonly Status[],
  numberOf: Readonly<Record<Status, number>>,
): Parsed<readonly Status[] | undefined> {
  const asked = new Set(unchecked);
  const found = statuses.filter((status) => asked.has(numberOf[status]));
  if (found.length < asked.size) return unparsed(`must be one of ${statuses.join(", ")}`, "UNKNOWN_VALUE");
  return parsed(found.length === 0 || found.length === statuses.length ? undefined : found);
}
