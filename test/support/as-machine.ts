import type { StoredApiKey } from "../../src/domain/api-key.js";
import type { Rail } from "../../src/domain/transaction.js";
import type { ApiKeyId, OrganizationId } from "../../src/domain/values/ids.js";
import { NO_REASON } from "../../src/domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import type { Cell, Database } from "../../src/storage/database.js";
import { CellKeys } from "../../src/storage/organizations/cell-keys.js";
import { byMachine, mustCommit } from "../../src/storage/organizations/commit-now.js";

// Commands that tests give as the machine. Each throws if the ledger refuses the command.

/** Revokes the key in whichever cell it is. */
export async function revokeApiKey(
  { cells }: Pick<Database, "cells">,
  id: ApiKeyId,
  now: UnixMillis = toUnixMillis(Date.now()),
): Promise<StoredApiKey> {
  for (const cell of cells) {
    const organizationId = await new CellKeys(cell, () => now).organizationOfKey(id);
    if (organizationId === undefined) continue;
    const command = { name: "revokeApiKey", keyId: id, ...byMachine(organizationId) } as const;
    const { resource } = (await mustCommit(cell, command, now)).resource;
    if (resource !== undefined) return resource;
  }
  throw new Error(`there is no key ${id}`);
}

/** Makes a rail the default one of an organization. Returns false if it was so before. */
export async function setDefaultRail(
  cell: Pick<Cell, "committer">,
  { organizationId, rail, now }: { organizationId: OrganizationId; rail: Rail; now: UnixMillis },
): Promise<boolean> {
  const command = { name: "setDefaultRail", rail, note: NO_REASON, ...byMachine(organizationId) } as const;
  return !(await mustCommit(cell, command, now)).replayed;
}
