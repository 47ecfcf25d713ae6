import { readFigure } from "../domain/reserve.js";
import { endOfDay } from "../domain/values/nairobi-day.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { History } from "./as-of.js";
import type { JournalListRow, JournalPage, RecordedFigure } from "./ports.js";

const PAGE_ROWS = 500;
/** The rows of a book that record a figure. */
export const FIGURE_ROWS = { filter: {}, types: ["reserve.recorded"] } as const;
/** All rows of a book. */
export const WHOLE_BOOK = { startSeq: 1, endSeq: Number.MAX_SAFE_INTEGER } as const;

/** Returns the figure that a row of `FIGURE_ROWS` records. */
export function figureOf({ seq, recordedAt, detail = "" }: JournalListRow): RecordedFigure {
  return { ...readFigure(detail), statementForm: undefined, seq, recordedAt };
}

/**
 * Resolves with the figures that hold for a moment: of each place the one for the last day that had
 * ended by then. It is the newest one for that day, whenever somebody recorded it.
 */
export async function reserveAsOf(
  { organizationId, reads, inTurn }: History,
  moment: UnixMillis,
): Promise<readonly RecordedFigure[]> {
  const places = await reads.reserveHoldings(organizationId);
  if (places.length === 0) return [];
  const found = new Map<string, RecordedFigure>();
  // Nobody records a day before it has begun, so no earlier row has a later day of any place.
  const isWhole = (recordedAt: UnixMillis): boolean =>
    places.every(({ place }) => {
      const figure = found.get(place);
      return figure !== undefined && recordedAt < endOfDay(figure.asOfDay);
    });
  let beforeSeq: number | undefined;
  do {
    const request = { ...FIGURE_ROWS, ...WHOLE_BOOK, size: PAGE_ROWS, beforeSeq };
    const page: JournalPage = await inTurn(() => reads.journal(organizationId, request));
    for (const figure of page.rows.map(figureOf)) {
      if (isWhole(figure.recordedAt)) return sorted(found);
      const { place, asOfDay } = figure;
      const known = found.get(place);
      if (endOfDay(asOfDay) <= moment && (known === undefined || known.asOfDay < asOfDay)) found.set(place, figure);
    }
    beforeSeq = page.nextBeforeSeq;
  } while (beforeSeq !== undefined);
  return sorted(found);
}

function sorted(found: ReadonlyMap<string, RecordedFigure>): readonly RecordedFigure[] {
  return [...found.values()].sort((left, right) => (left.place < right.place ? -1 : 1));
}
