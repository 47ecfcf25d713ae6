import type { Cents } from "./values/cents.js";
import type { OrganizationId } from "./values/ids.js";
import type { NairobiDay } from "./values/nairobi-day.js";
import type { UnixMillis } from "./values/time.js";

/** What was recorded about a part of the reserve. */
export interface ReserveFigure {
  readonly place: string;
  readonly amountCents: Cents;
  /** The figure holds for the end of this day. */
  readonly asOfDay: NairobiDay;
  /** What shows it, such as the number of a bank statement. */
  readonly evidence: string;
}

/** The last figure of one place. */
export interface ReservePlace extends ReserveFigure {
  readonly organizationId: OrganizationId;
  readonly recordedAt: UnixMillis;
  /** The number of the row that recorded it. */
  readonly seq: number;
}

/** The maximum number of places of one organization. */
export const RESERVE_PLACES_MAX = 50;
