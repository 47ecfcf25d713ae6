import type { RowStream } from "../storage/sql/snapshot.js";

/** Returns all rows of a SELECT that has few. */
export async function allRows<Row>(stream: RowStream<Row>): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let row = await stream.next(); row !== undefined; row = await stream.next()) rows.push(row);
  return rows;
}
