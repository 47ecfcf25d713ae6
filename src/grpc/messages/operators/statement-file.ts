import {
  BANK_COLUMNS,
  DATE_ORDERS,
  parseBankColumns,
  parsePlaceSource,
  parseReferencePattern,
  type StatementForm,
} from "../../../domain/statement-form.js";
import type { Rail } from "../../../domain/transaction.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { parseName } from "../../../domain/values/text.js";
import {
  DateOrder,
  type ReconcileStatementRequest,
  type StatementForm as StatementFormMessage,
} from "../../../gen/kesc/admin/v1/admin_service.js";
import type { RailKind } from "../../../rails/rail-kind.js";
import { railNamed } from "../../../rails/rails.js";
import { enumOf, parseWord } from "../enums.js";
import { ifGiven, joined, type ParsedFields, parseFields } from "../fields.js";
import { parseLabel } from "./fields.js";

const FILE_NAME_CHARACTERS_MAX = 255;
const DATE_ORDER_MESSAGES = enumOf(DateOrder, "DATE_ORDER", DATE_ORDERS);

/** Whose statement a file is. */
export type StatementOf =
  { readonly rail: Rail; readonly kind: RailKind } | { readonly place: string; readonly form: StatementForm };

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
  const read = parseStatementForm(form ?? NO_FORM, place);
  return joined(own, read, (value, given) => ({
    of: { place: value.place, form: given },
    fileName: value.file_name,
  }));
}

/** Only the first message says what the file is of. */
export function parseMore({ rail, place, form, file_name }: ReconcileStatementRequest): ParsedFields<undefined> {
  const given = Object.entries({ rail, place, form: form === undefined ? "" : "given", file_name });
  const message = "must be in the first message only";
  const fields = given.flatMap(([field, text]) => (text === "" ? [] : [{ field, message, code: "CONFLICT" as const }]));
  return fields.length === 0 ? { ok: true, value: undefined } : { ok: false, fields };
}

const NO_FORM: StatementFormMessage = {
  source: "",
  account: "",
  columns: undefined,
  date_order: DateOrder.DATE_ORDER_UNSPECIFIED,
  reference_pattern: "",
};

/** Parses how the statements of a place are read. A problem names its field: `form.source`. */
function parseStatementForm(form: StatementFormMessage, place: string): ParsedFields<StatementForm> {
  const { source, account, columns, date_order, reference_pattern } = form;
  const names = Object.fromEntries(BANK_COLUMNS.map((column) => [column, columns?.[column] ?? ""]));
  const fields = parseFields({
    "form.source": parsePlaceSource(source, place),
    "form.account": ifGiven(account, parseName<string>),
    "form.columns": parseBankColumns(names),
    "form.date_order": parseWord(date_order, DATE_ORDERS, DATE_ORDER_MESSAGES),
    "form.reference_pattern": parseReferencePattern(reference_pattern),
  });
  if (!fields.ok) return fields;
  return {
    ok: true,
    value: {
      source: fields.value["form.source"],
      account: fields.value["form.account"],
      columns: fields.value["form.columns"],
      dateOrder: fields.value["form.date_order"],
      referencePattern: fields.value["form.reference_pattern"],
    },
  };
}

function parseStatementRail(unchecked: string): Parsed<Exclude<StatementOf, { readonly place: string }>> {
  const kind = railNamed(unchecked);
  if (kind?.statement === undefined) return unparsed("must be a rail with statements, such as mpesa", "UNKNOWN_VALUE");
  return parsed({ rail: kind.name, kind });
}

function parseFileName(unchecked: string): Parsed<string> {
  return unchecked.length <= FILE_NAME_CHARACTERS_MAX
    ? parsed(unchecked)
    : unparsed(`must have at most ${String(FILE_NAME_CHARACTERS_MAX)} characters`, "TOO_LONG");
}
