import type { RowStream } from "../storage/sql/snapshot.js";

/** Checks the journal rows of one account or transaction, in the order of `seq`. */
export interface GroupCheck<Row> {
  row(row: Row): void;
  /** Called once, after the last row. */
  end(): void;
}

interface Identified {
  readonly id: string;
}

export interface Groups<Summary, Row> {
  /** Ordered by id. */
  readonly summaries: RowStream<Summary>;
  /** Ordered by id, then by `seq`. */
  readonly rows: RowStream<Row>;
  /** Called once for each id in either stream. */
  readonly check: (id: string, summary: Summary | undefined) => GroupCheck<Row>;
}

/**
 * Reads both streams in parallel, ordered by id, and checks each group. Returns the number of
 * summaries.
 */
export async function checkGroups<Summary extends Identified, Row extends Identified>({
  summaries,
  rows,
  check,
}: Groups<Summary, Row>): Promise<number> {
  let count = 0;
  let summary = await summaries.next();
  let row = await rows.next();
  while (summary !== undefined || row !== undefined) {
    const id = smallerId(summary, row);
    const ownSummary = summary?.id === id ? summary : undefined;
    const group = check(id, ownSummary);
    while (row?.id === id) {
      group.row(row);
      row = await rows.next();
    }
    group.end();
    if (ownSummary !== undefined) {
      count += 1;
      summary = await summaries.next();
    }
  }
  return count;
}

function smallerId(left: Identified | undefined, right: Identified | undefined): string {
  if (left === undefined) return right?.id ?? "";
  return right === undefined || left.id < right.id ? left.id : right.id;
}
