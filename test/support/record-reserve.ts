import type { ReserveFigure } from "../../src/domain/reserve.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { NO_REASON } from "../../src/domain/values/text.js";
import type { UnixMillis } from "../../src/domain/values/time.js";
import type { Cell } from "../../src/storage/database.js";
import { byMachine, mustCommit } from "../../src/storage/organizations/commit-now.js";

const OTHER = { kind: "other", documentSha256: undefined, maturesOn: undefined } as const;

interface Recorded {
  readonly organizationId: OrganizationId;
  /** Its kind is `other` when omitted. */
  readonly figure: Omit<ReserveFigure, keyof typeof OTHER> & Partial<ReserveFigure>;
  readonly now: UnixMillis;
}

/** Records a figure of the reserve for the machine. Rejects as `mustCommit` does. */
export async function recordReserve(
  cell: Pick<Cell, "committer">,
  { organizationId, figure, now }: Recorded,
): Promise<void> {
  const command = {
    name: "recordReserve",
    ...OTHER,
    ...figure,
    note: NO_REASON,
    ...byMachine(organizationId),
  } as const;
  await mustCommit(cell, command, now);
}
