import { stringify } from "csv-stringify/sync";

/** A cell with the digits of a number. A spreadsheet must read "-5.00" as a number. */
export class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type CsvCell = string | Digits;

/** What spreadsheets run as a formula begins so. The apostrophe makes the guard reversible. */
const GUARDED = /^['=+\-@\t\r＝＋－＠]/;

/**
 * Writes rows as RFC 4180 says. A text that a spreadsheet would run as a formula gets an apostrophe
 * before it, and so does one that begins with an apostrophe: without the first apostrophe of a
 * cell, each cell is its text again.
 */
export function csvRows(rows: readonly (readonly CsvCell[])[]): string {
  const texts = rows.map((row) => row.map(textOf));
  return stringify(texts, { record_delimiter: "windows", quoted_match: /[\r\n]/ });
}

function textOf(cell: CsvCell): string {
  if (typeof cell !== "string") return cell.text;
  return GUARDED.test(cell) ? `'${cell}` : cell;
}
