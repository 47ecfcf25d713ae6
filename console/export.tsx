import { status } from "@grpc/grpc-js";

import { csvRows, Digits } from "../runtime/csv.js";
import type { MadeFile, Shown } from "./page.js";
import type { ReadRows, RowsPage } from "./upstream/rows.js";
import { Refused } from "./view/parts.js";

/** The columns of a file, by their names in the contract. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => string | number | boolean | null | undefined>>;

interface Csv<Row> {
  /** The name of the file, without its type. */
  readonly name: string;
  readonly columns: CsvColumns<Row>;
  readonly read: ReadRows<Row>;
  /** 1000 if omitted. */
  readonly pageSize?: number;
  /** 10,000 if omitted. */
  readonly rowsMax?: number;
  /** A command that writes all of it, however many rows. None if omitted. */
  readonly command?: string;
}

type MadeOfRows = MadeFile & { rows: number };

export const EXPORT_ROWS_MAX = 10_000;
// A filter that few rows pass has short pages.
const EXPORT_READS_MAX = 200;
const PAGE_SIZE = 1_000;

/** Shows all rows of a list as a file, or why its first page cannot be read. */
export async function csvOf<Row>(csv: Csv<Row>): Promise<Shown> {
  const { name, read, pageSize: page_size = PAGE_SIZE } = csv;
  const first = await read({ page_size, page_token: "" });
  if (!first.ok) return { title: "Export", body: <NoExport refusal={first.refusal} /> };
  const made: MadeOfRows = { rows: 0, isCut: false, failure: undefined };
  return { file: `${name.replaceAll(/[^A-Za-z0-9._-]+/g, "_")}.csv`, parts: partsOf(csv, first.value, made), made };
}

function NoExport(props: Parameters<typeof Refused>[0]) {
  return (
    <>
      <h1>Export</h1>
      <Refused {...props} />
    </>
  );
}

/**
 * Writes the rows page by page. It reads a page once the one before was taken. A file that does
 * not have all rows says so in its last row. Throws if a page cannot be read.
 */
async function* partsOf<Row>(
  { columns, read, pageSize: page_size = PAGE_SIZE, rowsMax = EXPORT_ROWS_MAX, command }: Csv<Row>,
  first: RowsPage<Row>,
  made: MadeOfRows,
) {
  const names = Object.keys(columns);
  yield csvRows([names]);
  let page = first;
  for (let reads = 1; ; reads += 1) {
    const rows = page.rows.slice(0, rowsMax - made.rows);
    made.rows += rows.length;
    if (rows.length > 0) yield csvRows(rows.map((row) => Object.values(columns).map((value) => cellOf(value(row)))));
    const isCut = rows.length < page.rows.length || page.next !== null;
    if (!isCut) return;
    if (made.rows >= rowsMax || reads >= EXPORT_READS_MAX || page.next === null) {
      made.isCut = true;
      const advice = command === undefined ? "Export a shorter period." : `A command has them all: ${command}`;
      const last = `There are more rows: this file ends after ${String(made.rows)}. ${advice}`;
      yield csvRows([names.map((_, index) => (index === 0 ? last : ""))]);
      return;
    }
    const next = await read({ page_size, page_token: page.next });
    if (!next.ok) {
      made.failure = next.refusal.reason ?? status[next.refusal.code];
      throw new Error(next.refusal.text);
    }
    page = next.value;
  }
}

function cellOf(value: string | number | boolean | null | undefined): string | Digits {
  if (value === undefined) throw new Error("a value of the row could not be read");
  if (typeof value === "number") return new Digits(String(value));
  return value === null ? "" : String(value);
}

/** Returns the columns of fields that have one value. */
export function fieldsOf<Row>(...names: readonly (keyof Row & string)[]): CsvColumns<Row> {
  return Object.fromEntries(names.map((name) => [name, (row: Row) => row[name] as string | number | boolean | null]));
}
