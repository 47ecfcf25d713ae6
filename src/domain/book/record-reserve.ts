import type { Authorized } from "../authority.js";
import { changes, inWords } from "../change.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import { detailOfFigure, readFigure, RESERVE_PLACES_MAX, type ReserveFigure, type ReservePlace } from "../reserve.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import { amountText } from "../values/cents.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Records what lies in one place. */
export interface RecordReserve extends Authorized, ReserveFigure {
  readonly name: "recordReserve";
  readonly note: StatusReason;
}

const operation: Operation<RecordReserve, ReservePlace> = { lookup, decide };

export const recordReserve = withSecondPerson(operation, {
  groupOf: () => "reserve",
  changesOf: (command, book) => {
    const last = book.reservePlaces(command.organizationId).find(({ place }) => place === command.place);
    return changes(
      ["place", last?.place, command.place],
      ["amount", last && amountText(last.amountCents), amountText(command.amountCents)],
      ["end of the day", last?.asOfDay, command.asOfDay],
      ["shown by", last?.evidence, command.evidence],
      ["kind", last && inWords(last.kind), inWords(command.kind)],
      ["SHA-256 of the document", last?.documentSha256, command.documentSha256],
      ["matures on", last?.maturesOn, command.maturesOn],
    );
  },
  touchedBy: {
    "reserve.recorded": ({ detail = "" }, { place }) => readFigure(detail).place === place,
  },
});

function lookup({ organizationId }: RecordReserve, rows: Lookup): void {
  rows.need("reservePlaces", organizationId);
}

/**
 * Records what lies in one place at the end of a day. It replaces the last figure of the place,
 * unless that is of a later day. The last figure again is a replay.
 *
 * Refuses: TOO_MANY_RESERVE_PLACES.
 */
function decide(book: Book, command: RecordReserve, now: UnixMillis): Decision<ReservePlace> {
  const { organizationId, place, amountCents, asOfDay, evidence, note: reason } = command;
  const { kind, documentSha256, maturesOn } = command;
  const figure: ReserveFigure = { place, amountCents, asOfDay, evidence, kind, documentSha256, maturesOn };
  const detail = detailOfFigure(figure);
  const places = book.reservePlaces(organizationId);
  const last = places.find((each) => each.place === place);
  if (last !== undefined && detailOfFigure(last) === detail) return replay(last);
  if (last === undefined && places.length >= RESERVE_PLACES_MAX) {
    return refuse({ reason: "TOO_MANY_RESERVE_PLACES", limit: RESERVE_PLACES_MAX });
  }
  const seq = book.bookOf(organizationId).lastSeq + 1;
  const row: ReservePlace = { ...figure, organizationId, statementForm: last?.statementForm, recordedAt: now, seq };
  const entry = bookEntryOf({ ...command, now }, { kind: "reserve.recorded", reason, detail });
  const isNewest = last === undefined || last.asOfDay <= asOfDay;
  const puts = isNewest ? [{ table: "reservePlaces", row } as const] : [];
  return { kind: "effect", resource: row, effect: { entries: [entry], puts } };
}
