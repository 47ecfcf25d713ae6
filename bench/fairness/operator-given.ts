import { hash, randomBytes } from "node:crypto";

import type { CloseMonth } from "../../src/domain/book/close-month.js";
import { type Operator, type OperatorName, ROLES } from "../../src/domain/operator.js";
import type { Decider } from "../../src/domain/proposal.js";
import type { OrganizationId } from "../../src/domain/values/ids.js";
import { monthOf } from "../../src/domain/values/month.js";
import { NO_REASON } from "../../src/domain/values/text.js";
import { AdminServiceService as Rpcs } from "../../src/gen/kesc/admin/v1/admin_service.js";
import { ofHouse } from "../../src/operators/authority.js";
import { now } from "../../src/startup/clock.js";
import type { Database } from "../../src/storage/database.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { AdminClient } from "../servers/admin-client.js";
import type { Service } from "../servers/service.js";
import { ServiceClient } from "../servers/service-client.js";
import type { HostileOperator } from "./attack.js";

/** A list that leaves closed proposals out has to look at them. */
const CLOSED_PROPOSALS = 300;
const FOUR_EYES = new Set(["operators"] as const);

/** Makes a person with every role, and proposals that were rejected. Returns the key. */
export async function hostilePerson(database: Database): Promise<{ key: string; operator: Operator }> {
  const key = `kesc_op_${randomBytes(32).toString("base64url")}`;
  const stored = new StoredAdministration(database, { now, fourEyes: FOUR_EYES });
  const create = async (name: string, secret: string, by?: Operator) => {
    const fields = { operatorName: name as OperatorName, roles: ROLES, keySha256: hash("sha256", secret, "hex") };
    const outcome = await stored.submit({ name: "createOperator", ...fields, ...(await ofHouse(stored, by)) });
    if (outcome.kind === "refused") throw new Error(outcome.refusal.reason);
    return outcome.resource;
  };
  const { resource: operator } = await create("Hostile", key);
  const { resource: second } = await create("Second", `${key}2`);
  if (operator === undefined || second === undefined) throw new Error("the operators were not made");
  const person = second.id as string as Decider;
  for (let count = 0; count < CLOSED_PROPOSALS; count += 1) {
    const { proposal } = await create(`Nobody ${String(count)}`, `${key}-${String(count)}`, operator);
    if (proposal === undefined) throw new Error("the act needed nobody else");
    const { id: proposalId, subject } = proposal;
    const by = { ...(await ofHouse(stored, second)), person, note: NO_REASON };
    await stored.submit({ name: "rejectProposal", proposalId, subject, ...by });
  }
  return { key, operator };
}

/** Closes this month, so that all rows make its pack. The manifest names no file to compare. */
export async function closeThisMonth(database: Database, organizationId: OrganizationId): Promise<void> {
  const stored = new StoredAdministration(database, { now, fourEyes: FOUR_EYES });
  const { actor, authority } = await ofHouse(stored, undefined);
  const closed = { month: monthOf(now()), lastSeq: 1, kept: { "manifest.json": JSON.stringify({ files: [] }) } };
  const command: CloseMonth = { name: "closeMonth", organizationId, actor, authority, closed, note: NO_REASON };
  const [result] = await database.cells[0].committer.commit([command], now());
  if (result?.kind !== "done") throw new Error("the month was not closed", { cause: result });
}

/** The organization whose things the person names. */
type HostileTenant = Pick<Service, "accountIds" | "apiKey"> & { program: Pick<Service["program"], "address"> };

/** Returns the things of the organization that requests name. A proposal waits in its book. */
export async function hostileOperator(
  address: string,
  { key, operator }: { key: string; operator: Operator },
  { hostile, organizationId }: { hostile: HostileTenant; organizationId: OrganizationId },
): Promise<HostileOperator> {
  const [account_id = ""] = hostile.accountIds;
  const client = new ServiceClient(hostile.program.address, hostile.apiKey);
  const [transaction_id = ""] = await client.transactionIds(account_id);
  client.close();
  const things = { organization_id: organizationId, account_id, transaction_id, operator_id: operator.id };
  const admin = new AdminClient(address, key);
  const asked = {
    organization_id: organizationId,
    name: "proposed",
    scopes: ["transactions:write"],
    never_expires: true,
  };
  await admin.call(Rpcs.createApiKey, asked);
  const { response } = await admin.call(Rpcs.listProposals, { organization_id: organizationId });
  admin.close();
  return { address, key, things: { ...things, proposal_id: response.proposals[0]?.id ?? "" } };
}
