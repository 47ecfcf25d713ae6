import { StatementError } from "../statement-error.js";
import { type FileTable, ROWS_MAX, SHEET_LINES_MAX } from "./table.js";

const CELLS_MAX = 100;
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["nbsp", " "],
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/**
 * Reads the table rows of HTML, which portals call .xls. All rows of the file are one table. Takes
 * linear time: each tag is found once, from the left.
 */
export function htmlTables(html: string): readonly FileTable[] {
  const rows: string[][] = [];
  let cell: string | undefined;
  const endCell = (): void => {
    if (cell !== undefined) rows.at(-1)?.push(textOf(cell));
    cell = undefined;
  };
  for (let at = 0; at < html.length;) {
    const open = html.indexOf("<", at);
    if (cell !== undefined) cell += html.slice(at, open === -1 ? html.length : open);
    if (open === -1) break;
    const close = html.indexOf(">", open);
    if (close === -1) break;
    const [, name = ""] = /^<(\/?[a-z]+)/i.exec(html.slice(open, open + 12)) ?? [];
    switch (name.toLowerCase()) {
      case "tr":
        endCell();
        rows.push([]);
        break;
      case "td":
      case "th":
        endCell();
        if (rows.length === 0) rows.push([]);
        cell = "";
        break;
      case "/td":
      case "/th":
      case "/tr":
      case "/table":
        endCell();
        break;
      case "br":
        if (cell !== undefined) cell += " ";
        break;
    }
    at = close + 1;
    if (rows.length > SHEET_LINES_MAX) throw new StatementError(`It has more than ${String(ROWS_MAX)} rows.`);
    if ((rows.at(-1)?.length ?? 0) > CELLS_MAX) {
      throw new StatementError(`It is not valid: row ${String(rows.length)} has more than ${String(CELLS_MAX)} cells.`);
    }
  }
  return [rows];
}

function textOf(cell: string): string {
  return cell
    .replaceAll(
      /&(?:#(\d{1,6})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi,
      (all, decimal?: string, hex?: string, name?: string) => {
        const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
        if (name !== undefined) return ENTITIES.get(name.toLowerCase()) ?? all;
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
      },
    )
    .replaceAll(/\s+/g, " ")
    .trim();
}
