import { strToU8, zipSync } from "fflate";

const XML = '<?xml version="1.0" encoding="UTF-8"?>';
export const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/** A cell: a text, a number, or a number that its style shows as a time. */
type Cell = string | number | { readonly serial: number };

function cellXml(cell: Cell, name: string): string {
  if (typeof cell === "string") return `<c r="${name}" t="inlineStr"><is><t>${cell}</t></is></c>`;
  if (typeof cell === "number") return `<c r="${name}"><v>${String(cell)}</v></c>`;
  return `<c r="${name}" s="1"><v>${String(cell.serial)}</v></c>`;
}

/** The rows of a sheet. */
export function sheetXml(rows: readonly (readonly Cell[])[]): string {
  const lines = rows.map((row, index) => {
    const number = String(index + 1);
    const cells = row.map((cell, column) => cellXml(cell, `${String.fromCharCode(65 + column)}${number}`));
    return `<row r="${number}">${cells.join("")}</row>`;
  });
  return `${XML}<worksheet xmlns="${MAIN}"><sheetData>${lines.join("")}</sheetData></worksheet>`;
}

/** A workbook with these sheets, as a spreadsheet writes it. */
export function workbook(sheets: readonly string[]): Buffer {
  const names = sheets.map((_, index) => String(index + 1));
  const parts = {
    "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "xl/workbook.xml": `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${names
      .map((id) => `<sheet name="S${id}" sheetId="${id}" r:id="rId${id}"/>`)
      .join("")}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${XML}<Relationships xmlns="${RELATIONS}">${names
      .map((id) => `<Relationship Id="rId${id}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${id}.xml"/>`)
      .join("")}<Relationship Id="rIdS" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    "xl/styles.xml": `${XML}<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="dd-mm-yyyy hh:mm:ss"/></numFmts><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(sheets.map((sheet, index) => [`xl/worksheets/sheet${names[index] ?? ""}.xml`, sheet])),
  };
  return Buffer.from(zipSync(Object.fromEntries(Object.entries(parts).map(([name, text]) => [name, strToU8(text)]))));
}
