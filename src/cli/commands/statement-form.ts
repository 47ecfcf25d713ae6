import { InvalidArgumentError } from "commander";

import {
  BANK_COLUMNS,
  type BankColumns,
  parseBankColumns,
  parseReferencePattern,
} from "../../domain/statement-form.js";

/** What a command says about how the statements of a place are read. */
export interface FormOptions {
  readonly source?: string;
  readonly account?: string;
  readonly columns?: BankColumns;
  readonly dates?: keyof typeof DATE_ORDERS;
  readonly reference?: string;
}

export const DATE_ORDERS = { "day-first": "DAY_FIRST", "month-first": "MONTH_FIRST" } as const;
export const DATES = Object.keys(DATE_ORDERS);

/** Parses "date=Date,debit=Money out". Throws an error that Commander prints. */
export function columnNames(text: string): BankColumns {
  const pairs = text.split(",").map((pair) => {
    const [column = "", ...name] = pair.split("=");
    const known = BANK_COLUMNS.find((each) => each === column.trim());
    if (known === undefined || name.join("=").trim() === "") {
      throw new InvalidArgumentError(
        `"${pair}" must be one of ${BANK_COLUMNS.join(", ")}, then = and the bank's name.`,
      );
    }
    return [known, name.join("=").trim()] as const;
  });
  const columns = parseBankColumns(Object.fromEntries(pairs));
  const isTwice = new Set(pairs.map(([column]) => column)).size < pairs.length;
  if (isTwice || !columns.ok || columns.value === undefined) {
    throw new InvalidArgumentError(
      columns.ok ? "It must name each of its columns once." : `It ${columns.problem}, each once.`,
    );
  }
  return columns.value;
}

/** Parses a regular expression. Throws an error that Commander prints. */
export function referencePattern(text: string): string {
  const pattern = parseReferencePattern(text);
  if (!pattern.ok) throw new InvalidArgumentError(`It ${pattern.problem}.`);
  return text;
}

/** Returns the form of a request. Undefined if nothing was given. */
export function formFields({
  source,
  account,
  columns,
  dates,
  reference,
}: FormOptions): Readonly<Record<string, unknown>> | undefined {
  const form = { source, account, columns, date_order: dates?.replace("-", "_"), reference_pattern: reference };
  const given = Object.entries(form).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : Object.fromEntries(given);
}
