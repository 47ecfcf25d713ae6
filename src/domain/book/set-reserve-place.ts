import type { Authorized } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, refuse, replay } from "../decision.js";
import type { ReservePlace } from "../reserve.js";
import { bookEntryOf, byOnePerson } from "../second-person.js";
import { formText, type StatementForm } from "../statement-form.js";
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
 * Refuses: RESERVE_PLACE_NOT_FOUND.
 */
function decide(book: Book, command: SetReservePlace, now: UnixMillis): Decision<ReservePlace> {
  const { organizationId, place, form, note: reason } = command;
  const known = book.reservePlaces(organizationId).find((each) => each.place === place);
  if (known === undefined) return refuse({ reason: "RESERVE_PLACE_NOT_FOUND", place });
  const text = formText(form);
  if (known.statementForm !== undefined && formText(known.statementForm) === text) return replay(known);
  const row: ReservePlace = { ...known, statementForm: form };
  const detail = JSON.stringify([place, text]);
  const entry = bookEntryOf({ ...command, now }, { kind: "reserve.place_set", reason, detail });
  return { kind: "effect", resource: row, effect: { entries: [entry], puts: [{ table: "reservePlaces", row }] } };
}
