import type { LedgerEvent } from "./event.js";
import type { EncodedEvent, EventCodec, EventFilter } from "./ports.js";
import type { EventBlock } from "./tail.js";

/** What a message has at most, unless one event alone has more. A client takes 4 MiB at a time. */
const MESSAGE_BYTES_MAX = 262_144;

/** Encodes events into blocks. Together they cover the range, also where it has no event. */
export function blocksOf(
  codec: EventCodec,
  events: readonly LedgerEvent[],
  { after, upTo }: Pick<EventBlock, "after" | "upTo">,
): readonly EventBlock[] {
  const parts: EncodedEvent[][] = [[]];
  let bytes = 0;
  for (const event of events) {
    const { sequence, type, accountId } = event;
    const entry = codec.entry(event);
    if (bytes > 0 && bytes + entry.length > MESSAGE_BYTES_MAX) {
      parts.push([]);
      bytes = 0;
    }
    bytes += entry.length;
    parts.at(-1)?.push({ sequence, type, accountId, entry });
  }
  let from = after;
  return parts.map((part, index) => {
    const end = index === parts.length - 1 ? upTo : (part.at(-1)?.sequence ?? upTo);
    const message = codec.message(
      part.map(({ entry }) => entry),
      end,
    );
    const block = { after: from, upTo: end, events: part, message };
    from = end;
    return block;
  });
}

export function matches({ type, accountId }: EncodedEvent, filter: EventFilter): boolean {
  if (filter.types?.includes(type) === false) return false;
  return filter.accountId === undefined || filter.accountId === accountId;
}
