import type { OrganizationId } from "../../src/domain/values/ids.js";
import type { StatusReason } from "../../src/domain/values/text.js";
import type { UnixMillis } from "../../src/domain/values/time.js";
import type { Cell } from "../../src/storage/database.js";
import { byMachine, mustCommit } from "../../src/storage/organizations/commit-now.js";

interface SuspensionChange {
  readonly organizationId: OrganizationId;
  readonly isSuspended: boolean;
  readonly reason: string;
  readonly now: UnixMillis;
}

/** Suspends or resumes as the machine. Returns whether it was not so before. */
export async function changeSuspension(
  cell: Pick<Cell, "committer">,
  { organizationId, isSuspended, reason, now }: SuspensionChange,
): Promise<boolean> {
  const name = isSuspended ? "suspendOrganization" : "resumeOrganization";
  const command = { name, note: reason as StatusReason, ...byMachine(organizationId) } as const;
  return !(await mustCommit(cell, command, now)).replayed;
}
