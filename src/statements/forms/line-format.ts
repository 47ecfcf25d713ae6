import { type CsvCell, csvRows, Digits } from "../../../runtime/csv.js";
import { type FormattedLine, isNumber, type LineFormat, textIn } from "./formatted-line.js";
import { DIALECTS, plainText } from "./plain-text.js";
import { workbook } from "./workbook.js";

/** The forms of every export. */
export const FORMATS = ["csv", "ndjson", "json", "xlsx"] as const;
/** The forms of the general ledger alone. */
export const LEDGER_FORMATS = ["hledger", "beancount"] as const;
export type Format = (typeof FORMATS)[number] | (typeof LEDGER_FORMATS)[number];

const BYTE_ORDER_MARK = "\uFEFF";

export function lineFormat(format: Format, { hasMark }: { readonly hasMark: boolean }): LineFormat {
  switch (format) {
    case "csv":
      return csv(hasMark);
    case "ndjson":
      return linesOfJson();
    case "json":
      return jsonArray();
    case "xlsx":
      return workbook();
    case "hledger":
    case "beancount":
      return plainText(DIALECTS[format]);
  }
}

function csv(hasMark: boolean): LineFormat {
  return {
    begin: (names) => `${hasMark ? BYTE_ORDER_MARK : ""}${csvRows([names])}`,
    lines: (lines) => csvRows(lines.map((line) => Object.keys(line).map((name) => cellOf(name, textIn(line, name))))),
    end: () => "",
  };
}

function cellOf(name: string, text: string): CsvCell {
  return isNumber(name, text) ? new Digits(text) : text;
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
    const text = textIn(line, name);
    return `${JSON.stringify(name)}:${value === undefined ? "null" : isNumber(name, text) ? text : JSON.stringify(text)}`;
  });
  return `{${fields.join(",")}}`;
}
