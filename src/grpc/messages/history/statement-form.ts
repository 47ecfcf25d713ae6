import {
  BANK_COLUMNS,
  DATE_ORDERS,
  parseBankColumns,
  parsePlaceSource,
  parseReferencePattern,
  type StatementForm,
} from "../../../domain/statement-form.js";
import { parseName } from "../../../domain/values/text.js";
import { DateOrder, type StatementForm as StatementFormMessage } from "../../../gen/kesc/v1/supply.js";
import { enumOf, parseWord } from "../enums.js";
import { ifGiven, type ParsedFields, parseFields } from "../fields.js";

const DATE_ORDER_MESSAGES = enumOf(DateOrder, "DATE_ORDER", DATE_ORDERS);

/** Parses how the statements of a place are read. A problem names its field: `form.source`. */
export function parseStatementForm(form: StatementFormMessage, place: string): ParsedFields<StatementForm> {
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

export function toStatementForm(form: StatementForm): StatementFormMessage {
  const { source, account, columns, dateOrder, referencePattern } = form;
  const name = (column: (typeof BANK_COLUMNS)[number]): string => columns?.[column] ?? "";
  return {
    source,
    account: account ?? "",
    columns: columns && {
      date: name("date"),
      amount: name("amount"),
      debit: name("debit"),
      credit: name("credit"),
      balance: name("balance"),
      reference: name("reference"),
      text: name("text"),
    },
    date_order: dateOrder === undefined ? DateOrder.DATE_ORDER_UNSPECIFIED : DATE_ORDER_MESSAGES[dateOrder],
    reference_pattern: referencePattern ?? "",
  };
}
