import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { FOUR_EYES_GROUPS } from "../../../src/operators/four-eyes.js";
import type { Database } from "../../../src/storage/database.js";
import { StoredAdministration } from "../../../src/storage/operators/administration.js";
import { makeOperator } from "../../operators/given.js";

/**
 * Makes the operators Ann (admin), Ben (approver) and Cem, who is revoked. Ann proposes a key of
 * the organization, which Ben approves, and one that Ben rejects. Another proposal waits.
 */
export async function makeOperators(database: Database, organizationId: OrganizationId): Promise<void> {
  const stored = new StoredAdministration(database, {
    now: () => toUnixMillis(Date.now()),
    fourEyes: new Set(FOUR_EYES_GROUPS),
  });
  const { operator: ann } = await makeOperator(stored, "Ann", ["admin"]);
  const { operator: ben } = await makeOperator(stored, "Ben", ["approver"]);
  const { operator: cem } = await makeOperator(stored, "Cem", ["viewer"]);
  await stored.submit({ kind: "operator.set_roles", operatorId: cem.id, roles: ["support"] }, undefined);
  await stored.submit({ kind: "operator.revoke", operatorId: cem.id }, ann);
  for (const [decide, digit] of [
    ["approve", "1"],
    ["reject", "2"],
    [undefined, "3"],
  ] as const) {
    const secretSha256 = digit.repeat(64);
    const act = { kind: "key.create", organizationId, name: "k", scopes: ["accounts:write"], secretSha256 } as const;
    const submitted = await stored.submit(act, ann);
    if (submitted.kind !== "proposed") throw new Error(JSON.stringify(submitted));
    if (decide !== undefined) await stored[decide](submitted.proposal.id, ben);
  }
}
