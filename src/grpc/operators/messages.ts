import type { ApiKey, Organization } from "../../domain/api-key.js";
import type { Actor } from "../../domain/values/actor.js";
import type { UnixMillis } from "../../domain/values/time.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import {
  type Act as ActMessage,
  type Endpoint as EndpointMessage,
  type Key as KeyMessage,
  type Operator as OperatorMessage,
  type OperatorAct as OperatorActMessage,
  type Organization as OrganizationMessage,
  type Proposal as ProposalMessage,
  ProposalState,
  type RailAccount as RailAccountMessage,
} from "../../gen/kesc/admin/v1/resources.js";
import type { Operator } from "../../operators/operator.js";
import type { EndpointState, OperatorAct, OperatorProposal, OwnAct, RailAccountState } from "../../operators/ports.js";
import { toTimestamp } from "../messages/timestamp.js";

const STATES = {
  PENDING: ProposalState.PROPOSAL_STATE_PENDING,
  APPROVED: ProposalState.PROPOSAL_STATE_APPROVED,
  REJECTED: ProposalState.PROPOSAL_STATE_REJECTED,
  LAPSED: ProposalState.PROPOSAL_STATE_LAPSED,
} as const satisfies Record<OperatorProposal["state"], ProposalState>;

/** The names of operators, by their ids. */
export type Names = ReadonlyMap<string, string>;

export function namesOf(operators: readonly Operator[]): Names {
  return new Map(operators.map(({ id, name }) => [id, name]));
}

export function toOrganization({
  id,
  name,
  isSandbox,
  isSuspended,
  cell,
  createdAt,
}: Organization): OrganizationMessage {
  return { id, name, sandbox: isSandbox, suspended: isSuspended, cell, created_at: toTimestamp(createdAt) };
}

export function toKey(key: ApiKey): KeyMessage {
  return {
    id: key.id,
    organization_id: key.organizationId,
    name: key.name,
    scopes: [...key.scopes],
    created_at: toTimestamp(key.createdAt),
    expires_at: ifSet(key.expiresAt),
    revoked_at: ifSet(key.revokedAt),
    last_used_at: ifSet(key.lastUsedAt),
  };
}

export function toRailAccount(account: RailAccountState): RailAccountMessage {
  return {
    id: account.id,
    organization_id: account.organizationId,
    rail: account.rail,
    is_default: account.isDefault,
    payouts: account.payouts,
    payouts_reason: account.payoutsReason,
    credentials_expire_at: ifSet(account.credentialsExpireAt),
    updated_at: toTimestamp(account.updatedAt),
  };
}

export function toEndpoint(endpoint: EndpointState): EndpointMessage {
  return {
    id: endpoint.id,
    organization_id: endpoint.organizationId,
    url: endpoint.url,
    status: endpoint.status.toLowerCase(),
    disabled_reason: endpoint.disabledReason?.toLowerCase() ?? "",
    failures: BigInt(endpoint.failures),
    failing_since: ifSet(endpoint.failingSince),
    settled_sequence: BigInt(endpoint.settledSeq),
  };
}

export function toAct(act: OwnAct, names: Names): ActMessage {
  return {
    sequence: BigInt(act.seq),
    kind: act.kind,
    actor: act.actor,
    operator_names: operatorNames(act.actor, names),
    reason: act.reason,
    key_id: act.keyId ?? "",
    recorded_at: toTimestamp(act.recordedAt),
  };
}

export function toOperator({ id, name, roles, createdAt, revokedAt }: Operator): OperatorMessage {
  return { id, name, roles: [...roles], created_at: toTimestamp(createdAt), revoked_at: ifSet(revokedAt) };
}

export function toOperatorAct(act: OperatorAct, names: Names): OperatorActMessage {
  return {
    sequence: BigInt(act.seq),
    kind: act.kind,
    operator_id: act.operatorId,
    actor: act.actor,
    operator_names: operatorNames(act.actor, names),
    recorded_at: toTimestamp(act.recordedAt),
  };
}

export function toProposal(proposal: OperatorProposal, names: Names): ProposalMessage {
  const { id, act, proposedBy, proposedAt, expiresAt, state, decidedBy, decidedAt } = proposal;
  return {
    id,
    act: act.kind,
    content: JSON.stringify(act),
    proposed_by: proposedBy,
    proposer_name: names.get(proposedBy) ?? "",
    proposed_at: toTimestamp(proposedAt),
    expires_at: toTimestamp(expiresAt),
    state: STATES[state],
    decided_by: decidedBy ?? "",
    decider_name: decidedBy === undefined ? "" : (names.get(decidedBy) ?? ""),
    decided_at: ifSet(decidedAt),
  };
}

function operatorNames(actor: Actor, names: Names): string[] {
  return actor.split(",").flatMap((id) => names.get(id) ?? []);
}

function ifSet(moment: UnixMillis | undefined): Timestamp | undefined {
  return moment === undefined ? undefined : toTimestamp(moment);
}
