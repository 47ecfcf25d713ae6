import { AMOUNTS, DAYS, type FormattedLine, isNumber, type LineFormat, textIn } from "./formatted-line.js";
import { ZipParts } from "./zip-parts.js";

/** The rows of one sheet: Excel takes no more. */
const SHEET_ROWS_MAX = 1_048_576;
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
/** The cell formats of `STYLES`, by their places. */
const [AMOUNT_STYLE, DAY_STYLE, TITLE_STYLE] = [' s="1"', ' s="2"', ' s="3"'];
const STYLES =
  `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/></numFmts>` +
  '<fonts count="2"><font/><font><b/></font></fonts><fills count="1"><fill/></fills><borders count="1"><border/></borders>' +
  '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="4"><xf/><xf numFmtId="4" applyNumberFormat="1"/>' +
  '<xf numFmtId="164" applyNumberFormat="1"/><xf fontId="1" applyFont="1"/></cellXfs></styleSheet>';
const SHEET_HEAD =
  `${HEAD}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/>` +
  '</sheetView></sheetViews><sheetFormatPr defaultColWidth="16"/><sheetData>';
const [A, LETTERS] = [65, 26];
const DAY_MILLIS = 86_400_000;
/** The number that spreadsheets give 1 January 1970. */
const FIRST_DAY = 25_569;

/**
 * Writes a workbook (.xlsx) whose amounts are numbers, whose days are dates, and whose other cells
 * are texts: no program turns `0012` into a number, or runs `=A1`. It writes row by row, so its
 * memory does not grow with the file.
 */
export function workbook(): LineFormat {
  const zip = new ZipParts();
  let title = "";
  let sheets = 0;
  let rows = 0;
  let sheet: ReturnType<ZipParts["add"]> | undefined;
  const endSheet = (): void => sheet?.("</sheetData></worksheet>", true);
  const beginSheet = (): void => {
    endSheet();
    sheets += 1;
    rows = 1;
    sheet = zip.add(`xl/worksheets/sheet${String(sheets)}.xml`);
    sheet(`${SHEET_HEAD}${title}`);
  };

  return {
    begin(names) {
      title = rowOf(
        1,
        names.map((name) => textCell(name, TITLE_STYLE)),
      );
      beginSheet();
      return zip.taken();
    },
    lines(lines) {
      for (let from = 0; from < lines.length;) {
        if (rows === SHEET_ROWS_MAX) beginSheet();
        const part = lines.slice(from, from + SHEET_ROWS_MAX - rows);
        const first = rows + 1;
        sheet?.(part.map((line, index) => rowOf(first + index, cellsOf(line))).join(""));
        rows += part.length;
        from += part.length;
      }
      return zip.taken();
    },
    end() {
      endSheet();
      for (const [name, text] of Object.entries(partsOf(sheets))) zip.add(name)(text, true);
      zip.end();
      return zip.taken();
    },
  };
}

/** A cell: its attributes, and what is in it. */
type SheetCell = readonly [attributes: string, content: string];

function rowOf(row: number, cells: readonly SheetCell[]): string {
  const written = cells.map(([attributes, content], index) =>
    content === "" ? "" : `<c r="${columnName(index)}${String(row)}"${attributes}>${content}</c>`,
  );
  return `<row r="${String(row)}">${written.join("")}</row>`;
}

/** Returns A, B and so on to Z, and then AA. */
function columnName(index: number): string {
  const letter = String.fromCharCode(A + (index % LETTERS));
  return index < LETTERS ? letter : columnName(Math.floor(index / LETTERS) - 1) + letter;
}

function cellsOf(line: FormattedLine): readonly SheetCell[] {
  return Object.keys(line).map((name) => {
    const text = textIn(line, name);
    if (text === "") return ["", ""];
    if (isNumber(name, text)) return [AMOUNTS.has(name) ? AMOUNT_STYLE : "", `<v>${text}</v>`];
    if (DAYS.has(name)) return [DAY_STYLE, `<v>${String(Date.parse(text) / DAY_MILLIS + FIRST_DAY)}</v>`];
    return textCell(text);
  });
}

function textCell(text: string, style = ""): SheetCell {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return [` t="inlineStr"${style}`, `<is><t xml:space="preserve">${escaped}</t></is>`];
}

/** The parts beside the sheets. */
function partsOf(sheets: number): Readonly<Record<string, string>> {
  const numbers = Array.from({ length: sheets }, (_, index) => String(index + 1));
  const relation = (id: string, type: string, target: string): string =>
    `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`;
  const relations = (all: readonly string[]): string =>
    `${HEAD}<Relationships xmlns="${PACKAGE}/relationships">${all.join("")}</Relationships>`;
  const override = (name: string, type: string): string =>
    `<Override PartName="/xl/${name}.xml" ContentType="${TYPE}.${type}+xml"/>`;
  return {
    "xl/styles.xml": STYLES,
    "xl/workbook.xml":
      `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONS}"><sheets>` +
      `${numbers.map((n) => `<sheet name="Lines ${n}" sheetId="${n}" r:id="rId${n}"/>`).join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations([
      ...numbers.map((n) => relation(`rId${n}`, "worksheet", `worksheets/sheet${n}.xml`)),
      relation("styles", "styles", "styles.xml"),
    ]),
    "_rels/.rels": relations([relation("workbook", "officeDocument", "xl/workbook.xml")]),
    "[Content_Types].xml":
      `${HEAD}<Types xmlns="${PACKAGE}/content-types">` +
      '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      override("workbook", "sheet.main") +
      override("styles", "styles") +
      `${numbers.map((n) => override(`worksheets/sheet${n}`, "worksheet")).join("")}</Types>`,
  };
}
