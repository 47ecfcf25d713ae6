import type { Authorized } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { ReservePlace } from "../reserve.js";
import { bookEntryOf, byOnePerson } from "../second-person.js";
import { formText, sourceOfPlace, type StatementForm } from "../statement-form.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Keeps how the statements of a place are read. */
export interface SetReservePlace extends Authorized {
  readonly name: "setReservePlace";
  readonly place: string;
  readonly form: StatementForm;
  readonly note: StatusReason;
}

const operation: Operation<SetReservePlace, ReservePlace> = { lookup, decide };

/** It moves nothing and states no figure. Each comparison says by which source it was made. */
export const setReservePlace = byOnePerson(operation);

function lookup({ organizationId }: SetReservePlace, rows: Lookup): void {
  rows.need("reservePlaces", organizationId);
}

/**
 * Keeps how the statements of a place are read, in place of what was kept. The same is a replay. A
 * place is known by its first figure, so a misspelled one is refused.
 *
 * Refuses, in this order: RESERVE_PLACE_NOT_FOUND, RESERVE_SOURCE_TAKEN (or a statement of each of
 * two places would show the movements of the other as breaks).
 */
function decide(book: Book, command: SetReservePlace, now: UnixMillis): Decision<ReservePlace> {
  const { organizationId, place, form, note: reason } = command;
  const places = book.reservePlaces(organizationId);
  const known = places.find((each) => each.place === place);
  if (known === undefined) return refuse({ reason: "RESERVE_PLACE_NOT_FOUND", place });
  const text = formText(form);
  if (known.statementForm !== undefined && formText(known.statementForm) === text) return replay(known);
  const other = places.find((each) => each !== known && sourceOfPlace(each.place, each.statementForm) === form.source);
  if (other !== undefined) return refuse({ reason: "RESERVE_SOURCE_TAKEN", place: other.place });
  const row: ReservePlace = { ...known, statementForm: form };
  const detail = JSON.stringify([place, text]);
  const entry = bookEntryOf({ ...command, now }, { kind: "reserve.place_set", reason, detail });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "reservePlaces", row }] } };
}
