import type { RecordedFigure } from "../../statements/ports.js";
import type { ListReader } from "../lists/page.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Engine } from "../sql/engine.js";
import { type PlaceRow, reservePlaceOf } from "../sql/records/reserve-place-rows.js";

/** Reads the last figure of each place. */
export async function reserveHoldings(
  reader: ListReader,
  { table }: Engine,
  { number: book, organizationId: organization_id }: Pick<OpenBook, "number" | "organizationId">,
): Promise<readonly RecordedFigure[]> {
  const sql = `SELECT * FROM ${table("reserve_places")} WHERE book = ? ORDER BY place`;
  const rows = await reader.rows<PlaceRow>(sql, [book]);
  return rows.map((row) => reservePlaceOf({ ...row, organization_id }));
}
