import type { StatementForm } from "../../../domain/statement-form.js";
import type { Rail } from "../../../domain/transaction.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import type { ReconcileStatementRequest } from "../../../gen/kesc/admin/v1/admin_service.js";
import type { RailKind } from "../../../rails/rail-kind.js";
import { railNamed } from "../../../rails/rails.js";
import { joined, type ParsedFields, parseFields } from "../fields.js";
import { parseStatementForm } from "../history/statement-form.js";
import { parseLabel } from "./fields.js";

const FILE_NAME_CHARACTERS_MAX = 255;

interface OfRail {
  readonly rail: Rail;
  readonly kind: RailKind;
}

interface OfPlace {
  readonly place: string;
  /** Undefined: as the book keeps it. */
  readonly form: StatementForm | undefined;
}

/** Whose statement a file is. */
export type StatementOf = OfRail | OfPlace;

interface FirstMessage {
  readonly of: StatementOf;
  readonly fileName: string;
}

/** Parses the fields that say whose statement a file is. */
export function parseFirst(
  request: Pick<ReconcileStatementRequest, "rail" | "place" | "form" | "file_name">,
): ParsedFields<FirstMessage> {
  const { rail, place, form, file_name } = request;
  const named = parseFields({ file_name: parseFileName(file_name) });
  if (place === "") {
    const withoutForm = form === undefined ? parsed(undefined) : unparsed("must be absent without place", "CONFLICT");
    const of = parseFields({ rail: parseStatementRail(rail), form: withoutForm });
    return joined(of, named, (value, { file_name: fileName }) => ({ of: value.rail, fileName }));
  }
  const alone = rail === "" ? parsed(undefined) : unparsed("must be empty with place", "CONFLICT");
  const own = joined(parseFields({ rail: alone, place: parseLabel(place) }), named, (value, { file_name }) => ({
    place: value.place,
    file_name,
  }));
  const read: ParsedFields<StatementForm | undefined> =
    form === undefined ? { ok: true, value: undefined } : parseStatementForm(form, place);
  return joined(own, read, (value, given) => ({
    of: { place: value.place, form: given },
    fileName: value.file_name,
  }));
}

function parseStatementRail(unchecked: string): Parsed<OfRail> {
  const kind = railNamed(unchecked);
  if (kind?.statement === undefined) return unparsed("must be a rail with statements, such as mpesa", "UNKNOWN_VALUE");
  return parsed({ rail: kind.name, kind });
}

function parseFileName(unchecked: string): Parsed<string> {
  return unchecked.length <= FILE_NAME_CHARACTERS_MAX
    ? parsed(unchecked)
    : unparsed(`must have at most ${String(FILE_NAME_CHARACTERS_MAX)} characters`, "TOO_LONG");
}
