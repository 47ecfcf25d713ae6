import { inflateRawSync } from "node:zlib";

import { zipSync } from "fflate";
import readXlsxFile from "read-excel-file/universal";

import { StatementError } from "../statement-error.js";
import { type FileTable, ROWS_MAX, SHEET_LINES_MAX } from "./table.js";

/** What a workbook may unpack to: a small file can hold gigabytes. */
const UNPACKED_BYTES_MAX = 128 * 1_024 * 1_024;
const ENTRIES_MAX = 200;
const SHEETS_MAX = 20;
const CELLS_MAX = 1_000_000;
const COLUMNS_MAX = 100;

/** The parts of a workbook that its cells need. Others, such as pictures, are not unpacked. */
const NEEDED =
  /^(\[Content_Types\]\.xml|_rels\/\.rels|xl\/(workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|styles\.xml|worksheets\/[^/]+\.xml))$/i;
const WRONG_TAG = /<(?:[^<>]{10000}|[^<>]*(?:<|$))/;
const SHEET = /^xl\/worksheets\//i;

const END_OF_DIRECTORY = 0x06054b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 65_535;
const DIRECTORY_ENTRY = 0x02014b50;
const DIRECTORY_ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const STORED = 0;
const DEFLATED = 8;

/**
 * Reads the sheets of a workbook (.xlsx). The library unpacks whatever it is given. So this
 * function unpacks the parts first, within bounds, and gives it a copy that is not compressed.
 *
 * Rejects with a StatementError for a file that is no workbook or breaks a bound.
 */
export async function xlsxTables(bytes: Buffer): Promise<readonly FileTable[]> {
  const parts = unpacked(bytes);
  const sheets = Object.keys(parts).filter((name) => SHEET.test(name));
  if (sheets.length > SHEETS_MAX) throw tooLarge(`more than ${String(SHEETS_MAX)} sheets`);
  let cells = 0;
  for (const name of sheets) cells += checkedCells(parts[name] ?? Buffer.alloc(0));
  if (cells > CELLS_MAX) throw tooLarge(`more than ${String(CELLS_MAX)} cells`);
  const copy = zipSync(parts, { level: 0 });
  try {
    const read = await readXlsxFile(copy.buffer.slice(copy.byteOffset, copy.byteOffset + copy.byteLength));
    return read.map(({ data }) => data.map((row) => row.map(textOf)));
  } catch (error) {
    throw new StatementError("It is no workbook that can be read. Save it again as .xlsx, or as CSV.", {
      cause: error,
    });
  }
}

/** Unpacks what is needed, and stops at the first byte beyond the bound. */
function unpacked(bytes: Buffer): Record<string, Uint8Array> {
  const parts: Record<string, Uint8Array> = {};
  let left = UNPACKED_BYTES_MAX;
  for (const { name, method, packed } of entriesOf(bytes)) {
    if (!NEEDED.test(name)) continue;
    const part = method === STORED ? packed : inflated(packed, left);
    left -= part.length;
    if (left < 0) throw tooLarge(`more than ${String(UNPACKED_BYTES_MAX)} bytes`);
    // The library takes hours for tags that never end, and for thousands of attributes.
    if (WRONG_TAG.test(textIn(part))) throw damaged(undefined);
    parts[name] = part;
  }
  return parts;
}

function inflated(packed: Buffer, bytesMax: number): Buffer {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(bytesMax, 1) });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge(`more than ${String(UNPACKED_BYTES_MAX)} bytes`);
    throw damaged(error);
  }
}

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly packed: Buffer;
}

/** Reads the directory at the end of a ZIP file. */
function entriesOf(bytes: Buffer): readonly Entry[] {
  try {
    const tail = bytes.subarray(Math.max(0, bytes.length - END_BYTES - COMMENT_BYTES_MAX));
    const signature = Buffer.alloc(4);
    signature.writeUInt32LE(END_OF_DIRECTORY);
    const end = tail.subarray(tail.lastIndexOf(signature));
    const count = end.readUInt16LE(10);
    if (count > ENTRIES_MAX) throw tooLarge(`more than ${String(ENTRIES_MAX)} parts`);
    let at = end.readUInt32LE(16);
    return Array.from({ length: count }, (): Entry => {
      if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError("no entry");
      const method = bytes.readUInt16LE(at + 10);
      if (method !== STORED && method !== DEFLATED) throw new RangeError("unknown compression");
      const nameBytes = bytes.readUInt16LE(at + 28);
      const local = bytes.readUInt32LE(at + 42);
      const start = local + LOCAL_BYTES + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
      const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
      const name = bytes.toString("utf8", at + DIRECTORY_ENTRY_BYTES, at + DIRECTORY_ENTRY_BYTES + nameBytes);
      at += DIRECTORY_ENTRY_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
      return { name, method, packed };
    });
  } catch (error) {
    throw error instanceof StatementError ? error : damaged(error);
  }
}

/** Returns the number of cells. A cell far away makes the library fill all rows up to it. */
function checkedCells(sheet: Uint8Array): number {
  let [rows, cells] = [0, 0];
  for (const [, name, attributes = ""] of textIn(sheet).matchAll(/<(?:\w+:)?(c|row)\b([^<>]*)>/g)) {
    if (name === "c") cells += 1;
    else rows += 1;
    const [, letters = "", digits = ""] = /\br=["']([A-Za-z]*)(\d*)["']/.exec(attributes) ?? [];
    if (columnOf(letters) > COLUMNS_MAX) throw tooLarge(`more than ${String(COLUMNS_MAX)} columns`);
    if (Math.max(rows, Number(digits)) > SHEET_LINES_MAX) {
      throw tooLarge(`more than ${String(ROWS_MAX)} rows. Delete what stands below the last one`);
    }
    if (cells > CELLS_MAX) break;
  }
  return cells;
}

/** Its markup is ASCII in any encoding that a workbook may have. */
function textIn(part: Uint8Array): string {
  return Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("latin1");
}

const LETTERS = 26;
const BEFORE_A = 64;

function columnOf(letters: string): number {
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * LETTERS + letter.charCodeAt(0) - BEFORE_A;
  return column;
}

const SECOND_MILLIS = 1_000;
const CENTS = 100;
const NEARLY = 1e-6;

/** A time of a sheet has no zone: the library gives it as if it were UTC. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) return "no time";
    const second = Math.round(value.getTime() / SECOND_MILLIS) * SECOND_MILLIS;
    return new Date(second).toISOString().slice(0, 19).replace("T", " ");
  }
  if (typeof value !== "number") return typeof value === "string" ? value : JSON.stringify(value);
  // A sheet has 1500.55 as a fraction of two: 1500.5500000000002 is the same amount.
  const cents = Math.round(value * CENTS);
  return Math.abs(value * CENTS - cents) < NEARLY ? String(cents / CENTS) : String(value);
}

function tooLarge(what: string): StatementError {
  return new StatementError(`It is a workbook with ${what}.`);
}

function damaged(cause: unknown): StatementError {
  return new StatementError("It is a damaged workbook. Save it again as .xlsx, or as CSV.", { cause });
}
