import type { RecordReserve } from "../../domain/book/record-reserve.js";
import type { Authorized } from "../../domain/second-person.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { NO_REASON } from "../../domain/values/text.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { RecordedFigure } from "../../statements/ports.js";
import type { Cell } from "../database.js";
import type { ListReader } from "../lists/page.js";
import { byMachine, commitNow } from "../organizations/commit-now.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Engine } from "../sql/engine.js";
import { type PlaceRow, reservePlaceOf } from "../sql/records/reserve-place-rows.js";

type NewFigure = Omit<RecordReserve, keyof Authorized | "note">;

/** Records a figure for the machine. Resolves with the place. Rejects as `commitNow` does. */
export async function recordReserve(
  cell: Pick<Cell, "committer">,
  { organizationId, figure, now }: { organizationId: OrganizationId; figure: NewFigure; now: UnixMillis },
): Promise<void> {
  const command = { name: "recordReserve", ...figure, note: NO_REASON, ...byMachine(organizationId) } as const;
  await commitNow(cell, command, now);
}

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
