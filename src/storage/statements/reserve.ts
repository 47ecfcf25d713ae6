import { toCents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { NairobiDay } from "../../domain/values/nairobi-day.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RecordedFigure, ReserveFigure } from "../../statements/ports.js";
import type { Cell } from "../database.js";
import type { ListReader } from "../lists/page.js";
import { bookRowWrites, lockBook } from "../organizations/book-rows.js";
import type { Engine } from "../sql/engine.js";
import { orStoreError, RefusedWriteError } from "../sql/store-error.js";

/** The maximum number of places of one organization. */
const PLACES_MAX = 50;

interface PlaceRow {
  readonly place: string;
  readonly seq: number;
  readonly amount_cents: number;
  readonly as_of_day: string;
  readonly evidence: string;
  readonly recorded_at: number;
}

/** The organization has as many places as it may have. */
class TooManyPlacesError extends RefusedWriteError {
  constructor() {
    super(`An organization has at most ${String(PLACES_MAX)} places. Record the figure for one of them.`);
    this.name = "TooManyPlacesError";
  }
}

/**
 * Records what lies in one place, with a row in the organization's book. Resolves with the row's
 * `seq`. Rejects with a TooManyPlacesError, and with the errors of `lockBook`.
 */
export function recordReserve(
  cell: Cell,
  { organizationId, figure, now }: { organizationId: OrganizationId; figure: ReserveFigure; now: UnixMillis },
): Promise<number> {
  const { engine } = cell;
  const { place, amountCents, asOfDay, evidence } = figure;
  const detail = JSON.stringify([place, amountCents, asOfDay, evidence]);
  return orStoreError(
    engine,
    cell.transact(async (session) => {
      const book = await lockBook(cell, session, { organizationId, now });
      const places = await session.read({ sql: placesSql(engine), bindings: [book.number] });
      const isKnown = (places as readonly PlaceRow[]).some((row) => row.place === place);
      if (!isKnown && places.length >= PLACES_MAX) throw new TooManyPlacesError();
      await session.write(bookRowWrites(cell, book, { kind: "reserve.recorded", detail, created: [detail, "", ""] }));
      await session.read({
        sql: `
          INSERT INTO ${engine.table("reserve_places")}
            (book, place, seq, amount_cents, as_of_day, evidence, recorded_at) VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT (book, place) DO UPDATE SET seq = excluded.seq, amount_cents = excluded.amount_cents,
            as_of_day = excluded.as_of_day, evidence = excluded.evidence, recorded_at = excluded.recorded_at
          RETURNING seq`,
        bindings: [book.number, place, book.nextSeq, amountCents, asOfDay, evidence, book.recordedAt],
      });
      return book.nextSeq;
    }),
  );
}

/** Reads the last figure of each place. */
export async function reserveHoldings(
  reader: ListReader,
  engine: Engine,
  book: number,
): Promise<readonly RecordedFigure[]> {
  const rows = await reader.rows<PlaceRow>(placesSql(engine), [book]);
  return rows.map((row) => ({
    place: row.place,
    amountCents: toCents(row.amount_cents),
    asOfDay: row.as_of_day as NairobiDay,
    evidence: row.evidence,
    recordedAt: toUnixMillis(row.recorded_at),
    seq: row.seq,
  }));
}

function placesSql({ table }: Pick<Engine, "table">): string {
  return `
    SELECT place, seq, amount_cents, as_of_day, evidence, recorded_at FROM ${table("reserve_places")}
    WHERE book = ? ORDER BY place`;
}
