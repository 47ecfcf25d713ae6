import type { Authorized } from "../authority.js";
import { changes, inWords } from "../change.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import {
  detailOfFigure,
  readFigure,
  RESERVE_PLACES_MAX,
  type ReserveFigure,
  type ReserveKind,
  type ReservePlace,
} from "../reserve.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import { amountText } from "../values/cents.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Records what lies in one place. */
export interface RecordReserve extends Authorized, Omit<ReserveFigure, "kind"> {
  readonly name: "recordReserve";
  /** Undefined: that of the last figure, and of a new place `other`. */
  readonly kind: ReserveKind | undefined;
  readonly note: StatusReason;
}

const operation: Operation<RecordReserve, ReservePlace> = { lookup, decide };

export const recordReserve = withSecondPerson(operation, {
  groupOf: () => "reserve",
  changesOf: (command, book) => {
    const last = lastFigure(book, command);
    return changes(
      ["place", last?.place, command.place],
      ["amount", last && amountText(last.amountCents), amountText(command.amountCents)],
      ["end of the day", last?.asOfDay, command.asOfDay],
      ["shown by", last?.evidence, command.evidence],
      ["kind", last && inWords(last.kind), inWords(kindOf(command, last))],
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

function lastFigure(book: Pick<Book, "reservePlaces">, command: RecordReserve): ReservePlace | undefined {
  return book.reservePlaces(command.organizationId).find(({ place }) => place === command.place);
}

/** A figure without a kind must not make another thing of a place, such as no bank. */
function kindOf({ kind }: RecordReserve, last: ReservePlace | undefined): ReserveKind {
  return kind ?? last?.kind ?? "other";
}

/**
 * Records what lies in one place at the end of a day. It replaces the last figure of the place,
 * unless that is of a later day. The last figure again is a replay.
 *
 * Refuses: TOO_MANY_RESERVE_PLACES.
 */
function decide(book: Book, command: RecordReserve, now: UnixMillis): Decision<ReservePlace> {
  const { organizationId, place, amountCents, asOfDay, evidence, note: reason } = command;
  const { documentSha256, maturesOn } = command;
  const last = lastFigure(book, command);
  const kind = kindOf(command, last);
  const figure: ReserveFigure = { place, amountCents, asOfDay, evidence, kind, documentSha256, maturesOn };
  const detail = detailOfFigure(figure);
  if (last !== undefined && detailOfFigure(last) === detail) return replay(last);
  if (last === undefined && book.reservePlaces(organizationId).length >= RESERVE_PLACES_MAX) {
    return refuse({ reason: "TOO_MANY_RESERVE_PLACES", limit: RESERVE_PLACES_MAX });
  }
  const seq = book.bookOf(organizationId).lastSeq + 1;
  const row: ReservePlace = { ...figure, organizationId, statementForm: last?.statementForm, recordedAt: now, seq };
  const entry = bookEntryOf({ ...command, now }, { kind: "reserve.recorded", reason, detail });
  const isNewest = last === undefined || last.asOfDay <= asOfDay;
  const puts = isNewest ? [{ table: "reservePlaces", row } as const] : [];
  return { kind: "effect", resource: row, effect: { entries: [entry], puts } };
}
