import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";

import type { MessageWriter } from "../../contract/json/write-message.js";
import { TIMESTAMP } from "../../contract/json-support.js";
import type { StreamRule } from "../../contract/stream-rule.js";
import { type CsvCell, csvRows, Digits } from "../../runtime/csv.js";
import type { StreamForm } from "./stream-form.js";

const NO_NUMBERS: ReadonlySet<ScalarType | undefined> = new Set([
  undefined,
  ScalarType.STRING,
  ScalarType.BYTES,
  ScalarType.BOOL,
]);
const NEGATIVE_NUMBER = /^-[0-9]/;

/**
 * Writes CSV with the names of the fields in the first row. A cell has the text that JSON shows;
 * null is empty.
 *
 * The columns are the fields of an item that have one value. Messages, lists and maps have no
 * column: they do not fit in a cell.
 */
export function csvForm({ list }: StreamRule, writer: MessageWriter): StreamForm {
  const columns = columnsOf(list.message);
  return {
    contentType: "text/csv; charset=utf-8; header=present",
    fileType: "csv",
    begin: () => csvRows([columns.map(({ name }) => name)]),
    items: (items) => csvRows(items.map((item) => columns.map((field) => cellOf(writer, field, item)))),
    endOfMessage: () => "",
    end: () => "",
  };
}

/** Returns the fields that have a column. */
export function columnsOf({ fields }: DescMessage): readonly DescField[] {
  return fields.filter(fitsCell);
}

function fitsCell(field: DescField): boolean {
  if (field.fieldKind === "message") return field.message.typeName === TIMESTAMP;
  return field.fieldKind === "scalar" || field.fieldKind === "enum";
}

function cellOf(writer: MessageWriter, field: DescField, item: Message): CsvCell {
  const json = writer.writeField(field, item);
  if (json === "null") return "";
  const text = json.startsWith('"') ? (JSON.parse(json) as string) : json;
  const isNumber = !NO_NUMBERS.has(field.scalar) || !json.startsWith('"');
  return isNumber && NEGATIVE_NUMBER.test(text) ? new Digits(text) : text;
}
