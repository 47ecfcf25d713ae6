import { type CsvCell, csvRows, Digits } from "../../../runtime/csv.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";

export const FORMATS = ["csv", "ndjson", "json"] as const;
export type Format = (typeof FORMATS)[number];

type Value = string | bigint | Timestamp | undefined;

/** A line of an export, with the fields of the contract. */
export type FormattedLine = Readonly<Record<string, Value>>;

/** Writes an export as text. The parts, joined, are the file. */
export interface LineFormat {
  /** `names` are the fields of a line, in their order. */
  begin(names: readonly string[]): string;
  lines(lines: readonly FormattedLine[]): string;
  end(): string;
}

/** The fields that hold a number. */
const NUMBERS: ReadonlySet<string> = new Set([
  "sequence",
  "amount",
  "stated_amount",
  "amount_in",
  "amount_out",
  "debit",
  "credit",
  "balance",
  "available_balance",
  "held_balance",
]);
const DIGITS = /^-?[0-9]+(\.[0-9]+)?$/;
const BYTE_ORDER_MARK = "\uFEFF";

export function lineFormat(format: Format, { hasMark }: { readonly hasMark: boolean }): LineFormat {
  if (format === "csv") return csv(hasMark);
  return format === "ndjson" ? linesOfJson() : jsonArray();
}

function csv(hasMark: boolean): LineFormat {
  return {
    begin: (names) => `${hasMark ? BYTE_ORDER_MARK : ""}${csvRows([names])}`,
    lines: (lines) =>
      csvRows(lines.map((line) => Object.entries(line).map(([name, value]) => cellOf(name, textOf(value))))),
    end: () => "",
  };
}

function cellOf(name: string, text: string): CsvCell {
  return NUMBERS.has(name) && DIGITS.test(text) ? new Digits(text) : text;
}

function linesOfJson(): LineFormat {
  return { begin: () => "", lines: (lines) => lines.map((line) => `${jsonOf(line)}\n`).join(""), end: () => "" };
}

function jsonArray(): LineFormat {
  let separator = "\n";
  return {
    begin: () => "[",
    lines: (lines) =>
      lines
        .map((line) => {
          const text = `${separator}${jsonOf(line)}`;
          separator = ",\n";
          return text;
        })
        .join(""),
    end: () => "\n]\n",
  };
}

/** An amount keeps its digits: JSON.stringify would write 1000.00 as 1000. */
function jsonOf(line: FormattedLine): string {
  const fields = Object.entries(line).map(([name, value]) => {
    const text = textOf(value);
    const isNumber = NUMBERS.has(name) && DIGITS.test(text);
    return `${JSON.stringify(name)}:${value === undefined ? "null" : isNumber ? text : JSON.stringify(text)}`;
  });
  return `{${fields.join(",")}}`;
}

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (typeof value !== "object") return String(value);
  return new Date(Number(value.seconds) * 1_000 + value.nanos / 1_000_000).toISOString();
}
