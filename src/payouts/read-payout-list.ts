import type { CsvRecord } from "../../runtime/csv-reader.js";
import {
  LIST_ENTRIES_MAX,
  LISTED_KINDS,
  type ListedKind,
  type ListedText,
  parseListed,
} from "../domain/payout-list.js";
import { recordsIn, type TableHeader } from "../reconcile/files/tables.js";
import { StatementError } from "../reconcile/statement-error.js";

type ListColumn = ListedKind | "kind" | "value";
const COLUMNS: readonly ListColumn[] = [...LISTED_KINDS, "kind", "value"];
/** A message names the first lines with an error. */
const PROBLEMS_SHOWN = 10;

/** An entry of a list. */
export interface ListedEntry {
  readonly kind: ListedKind;
  readonly text: ListedText;
}

const HEADER: TableHeader = { knownColumns: (cells) => new Set(cells.flatMap((cell) => columnOf(cell) ?? [])).size };

/**
 * Reads a list of payouts that are held: CSV, a workbook or HTML. Its first line that is not empty
 * names the columns kind and value, or some of account, number and name. Each cell below is an
 * entry, and equal ones are one. A file with the first line alone is an empty list.
 *
 * Rejects with a StatementError for a file that cannot be read, has more than 10,000 entries, or
 * has a row with an error. It names the lines, and no entry.
 */
export async function readPayoutList(bytes: Buffer): Promise<readonly ListedEntry[]> {
  const entries = new Map<ListedText, ListedEntry>();
  const problems: string[] = [];
  let columns: readonly (ListColumn | undefined)[] | undefined;
  for await (const records of recordsIn(bytes, HEADER)) {
    for (const record of records) {
      if (record.cells.every((cell) => cell.trim() === "")) continue;
      if (columns === undefined) {
        columns = columnsIn(record);
        continue;
      }
      for (const cell of cellsOf(record, columns)) {
        const read = entriesOf(cell);
        if (typeof read === "string") problems.push(`line ${String(record.line)}: ${read}`);
        else for (const entry of read) entries.set(entry.text, entry);
      }
      if (entries.size > LIST_ENTRIES_MAX) {
        throw new StatementError(`It has more than ${String(LIST_ENTRIES_MAX)} entries.`);
      }
    }
  }
  if (columns === undefined) throw new StatementError("It is empty.");
  if (problems.length > 0) {
    const more = problems.length - PROBLEMS_SHOWN;
    const shown = problems.slice(0, PROBLEMS_SHOWN).join("; ");
    throw new StatementError(`${shown}${more > 0 ? `; and ${String(more)} more` : ""}.`);
  }
  return [...entries.values()];
}

function columnOf(cell: string): ListColumn | undefined {
  const name = cell.trim().toLowerCase();
  return COLUMNS.find((column) => column === name);
}

function columnsIn({ cells, line }: CsvRecord): readonly (ListColumn | undefined)[] {
  const at = `Line ${String(line)}`;
  const columns = cells.map((cell) => {
    const column = columnOf(cell);
    if (column === undefined && cell.trim() !== "") {
      throw new StatementError(`${at} has a column that is none of ${COLUMNS.join(", ")}. Remove it.`);
    }
    return column;
  });
  const known = columns.filter((column) => column !== undefined);
  if (new Set(known).size < known.length) throw new StatementError(`${at} has a column twice.`);
  const [hasKind, hasValue] = [known.includes("kind"), known.includes("value")];
  const isPair = hasKind && hasValue && known.length === 2;
  if (!isPair && (hasKind || hasValue || known.length === 0)) {
    throw new StatementError("Its first line must name the columns kind and value, or some of account, number, name.");
  }
  return columns;
}

interface ListCell {
  readonly kind: string;
  readonly value: string;
}

/** Returns the cells of a row that are entries, and those that have no column. */
function cellsOf({ cells }: CsvRecord, columns: readonly (ListColumn | undefined)[]): readonly ListCell[] {
  const texts = cells.map((cell) => cell.trim());
  const at = (column: ListColumn): string => texts[columns.indexOf(column)] ?? "";
  const stray = texts.filter((text, index) => text !== "" && columns[index] === undefined);
  const lost = stray.map((value) => ({ kind: "", value }));
  if (columns.includes("kind")) return [{ kind: at("kind").toLowerCase(), value: at("value") }, ...lost];
  const own = LISTED_KINDS.map((kind) => ({ kind, value: at(kind) }));
  return [...own.filter(({ value }) => value !== ""), ...lost];
}

/** Returns the entries of the cell, or what is wrong with it. */
function entriesOf({ kind: word, value }: ListCell): readonly ListedEntry[] | string {
  if (word === "" && value !== "") return "row: has more cells than the header, or no kind";
  const kind = LISTED_KINDS.find((each) => each === word);
  if (kind === undefined) return `kind: must be one of ${LISTED_KINDS.join(", ")}`;
  if (value === "") return "value: is required";
  const texts = parseListed(kind, value);
  return texts.ok ? texts.value.map((text) => ({ kind, text })) : `${kind}: ${texts.problem}`;
}
