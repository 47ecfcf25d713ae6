import type { StoredApiKey } from "../../../src/domain/api-key.js";
import type { Acted } from "../../../src/domain/authority.js";
import { FOUR_EYES_GROUPS } from "../../../src/domain/authority.js";
import type { CreateApiKey } from "../../../src/domain/book/create-api-key.js";
import type { Command, Resource } from "../../../src/domain/operations.js";
import { actorOf, type Operator, type OperatorName } from "../../../src/domain/operator.js";
import type { Decider } from "../../../src/domain/proposal.js";
import { changesIn } from "../../../src/domain/proposal-content.js";
import type { OrganizationId, ProposalId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { operatorParts } from "../../../src/parts/operator-parts.js";
import type { Database } from "../../../src/storage/database.js";
import { StoredAdministration } from "../../../src/storage/operators/administration.js";
import { makeOperator } from "../../operators/given.js";
import { Authenticator } from "../../support/authenticator.js";
import { configOf } from "../../support/config.js";
import { newProposalId } from "../../support/names.js";
import { createApiKey, rejectProposal } from "../../support/operations/book.js";
import { actOn, decideOn } from "../../support/people.js";

/** Makes Dan, an operator with a passkey alone and a session. Another invitation is open. */
export async function makePasskeys(database: Database): Promise<void> {
  const now = (): UnixMillis => toUnixMillis(Date.now());
  const options = { now, fourEyes: new Set(FOUR_EYES_GROUPS), hasCallbacks: false, isServer: true };
  const { signIn: people } = operatorParts(database, configOf(), options);
  const invited = { name: "Dan" as OperatorName, roles: ["viewer"] } as const;
  const { token } = await people.invite(invited, undefined);
  const passkey = new Authenticator();
  const asked = async (invitation?: string): Promise<string> => {
    const begun = await people.begin(invitation);
    return begun.kind === "done" ? begun.value : "";
  };
  const registered = await people.register(token, passkey.create(await asked(token)));
  const signed = await people.withPasskey(passkey.get(await asked()));
  if (registered.kind !== "done" || signed.kind !== "done") throw new Error("Dan could not sign in");
  await people.invite(invited, undefined);
}

/**
 * Makes the operators Ann (admin), Ben (approver) and Cem, who is revoked. Ann proposes three
 * acts about operators and three keys of the organization. Ben approves the first of each, and
 * rejects the second; the third waits.
 */
export async function makeOperators(database: Database, organizationId: OrganizationId): Promise<void> {
  const stored = new StoredAdministration(database, {
    now: () => toUnixMillis(Date.now()),
    fourEyes: new Set(FOUR_EYES_GROUPS),
  });
  const { operator: ann } = await makeOperator(stored, "Ann", ["admin"]);
  const { operator: ben } = await makeOperator(stored, "Ben", ["approver"]);
  const { operator: cem } = await makeOperator(stored, "Cem", ["viewer"]);
  for (const [act, decide] of [
    [{ name: "setOperatorRoles", operatorId: cem.id, roles: ["support"] }, "approve"],
    [{ name: "replaceOperatorKey", operatorId: ben.id, keySha256: "2".repeat(64) }, "reject"],
    [{ name: "replaceOperatorKey", operatorId: ben.id, keySha256: "3".repeat(64) }, undefined],
  ] as const) {
    const submitted = await actOn(stored, act, ann);
    const id = submitted.kind === "done" ? submitted.resource.proposal?.id : undefined;
    if (id === undefined) throw new Error(JSON.stringify(submitted));
    if (decide !== undefined) await decideOn(stored, decide, { id, by: ben });
  }
  await actOn(stored, { name: "revokeOperator", operatorId: cem.id }, ann);
  const commit = async (command: Command): Promise<Resource> => {
    const [result] = await database.cells[0].committer.commit([command], toUnixMillis(Date.now()));
    if (result?.kind !== "done") throw new Error(JSON.stringify(result));
    return result.resource;
  };
  const of = ({ id }: Operator, approves?: ProposalId): Pick<CreateApiKey, "actor" | "authority"> => ({
    actor: actorOf({ id }),
    authority: {
      person: id as string as Decider,
      mayApprove: true,
      groups: ["write_keys"],
      newProposalId: newProposalId(),
      approves,
    },
  });
  for (const [decide, digit] of [
    ["approve", "1"],
    ["reject", "2"],
    [undefined, "3"],
  ] as const) {
    const command = createApiKey(organizationId, {
      scopes: ["accounts:write"],
      secretSha256: digit.repeat(64),
      ...of(ann),
    });
    const { proposal } = (await commit(command)) as Acted<StoredApiKey>;
    const { newProposalId: id } = command.authority;
    if (decide === "approve") await commit({ ...command, shown: changesIn(proposal?.content ?? ""), ...of(ben, id) });
    if (decide === "reject")
      await commit({ ...rejectProposal(organizationId, id), ...of(ben), person: ben.id as never });
  }
}
