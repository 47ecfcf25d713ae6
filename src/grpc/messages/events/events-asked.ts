import { parseEventTypes, typesOf } from "../../../domain/event-types.js";
import { parseAccountId } from "../../../domain/values/ids.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { EventFilter } from "../../../events/ports.js";
import type { ListEventsRequest } from "../../../gen/kesc/v1/event_service.js";
import { ifGiven, type ParsedFields, parseFields } from "../fields.js";

/** Where a caller begins, and what it wants. */
export interface EventsAsked {
  readonly afterSequence: number;
  readonly filter: EventFilter;
}

/** Parses the fields that both rpcs have. */
export function parseEventsAsked(
  request: Pick<ListEventsRequest, "after_sequence" | "types" | "account_id">,
): ParsedFields<EventsAsked> {
  const fields = parseFields({
    after_sequence: parseAfterSequence(request.after_sequence),
    types: parseEventTypes(request.types),
    account_id: ifGiven(request.account_id, parseAccountId),
  });
  if (!fields.ok) return fields;
  const { after_sequence: afterSequence, types, account_id: accountId } = fields.value;
  return { ok: true, value: { afterSequence, filter: { types: types && typesOf(types), accountId } } };
}

/** Parses the sequence after which the events begin. */
function parseAfterSequence(unchecked: bigint): Parsed<number> {
  return unchecked >= 0n && unchecked <= BigInt(Number.MAX_SAFE_INTEGER)
    ? parsed(Number(unchecked))
    : unparsed("must be 0 or the next_sequence of an earlier response", "OUT_OF_RANGE");
}
