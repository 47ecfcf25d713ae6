import type { ReserveFigure } from "../../domain/reserve.js";
import { toCents } from "../../domain/values/cents.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import type { NairobiDay } from "../../domain/values/nairobi-day.js";
import { NO_REASON } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { RecordedFigure } from "../../statements/ports.js";
import type { Cell } from "../database.js";
import type { ListReader } from "../lists/page.js";
import { byMachine, commitNow } from "../organizations/commit-now.js";
import type { Engine } from "../sql/engine.js";
import type { PlaceRow } from "../sql/records/reserve-place-rows.js";

/** Records a figure for the machine. Resolves with the place. Rejects as `commitNow` does. */
export async function recordReserve(
  cell: Pick<Cell, "committer">,
  { organizationId, figure, now }: { organizationId: OrganizationId; figure: ReserveFigure; now: UnixMillis },
): Promise<void> {
  const command = { name: "recordReserve", ...figure, note: NO_REASON, ...byMachine(organizationId) } as const;
  await commitNow(cell, command, now);
}

/** Reads the last figure of each place. */
export async function reserveHoldings(
  reader: ListReader,
  engine: Engine,
  book: number,
): Promise<readonly RecordedFigure[]> {
  const rows = await reader.rows<PlaceRow>(placesSql(engine), [book]);
  return rows.map((row) => ({
    place: row.place,
    amountCents: toCents(row.amount_cents),
    asOfDay: row.as_of_day as NairobiDay,
    evidence: row.evidence,
    recordedAt: toUnixMillis(row.recorded_at),
    seq: row.seq,
  }));
}

function placesSql({ table }: Pick<Engine, "table">): string {
  return `
    SELECT place, seq, amount_cents, as_of_day, evidence, recorded_at FROM ${table("reserve_places")}
    WHERE book = ? ORDER BY place`;
}
