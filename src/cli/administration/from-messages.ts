import type { ApiKey, Organization, Scope } from "../../domain/api-key.js";
import type { JournalKind } from "../../domain/journal.js";
import type { OperatorName } from "../../domain/proposal.js";
import type { Actor } from "../../domain/values/actor.js";
import type { ApiKeyId, OperatorId, OperatorProposalId, OrganizationId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { Timestamp } from "../../gen/google/protobuf/timestamp.js";
import {
  type Act as ActMessage,
  type ApiKey as ApiKeyMessage,
  type Operator as OperatorMessage,
  type OperatorAct as OperatorActMessage,
  type Organization as OrganizationMessage,
  type Proposal as ProposalMessage,
  ProposalState,
} from "../../gen/kesc/admin/v1/resources.js";
import { rolesFrom } from "../../grpc/operators/roles.js";
import type { Act } from "../../operators/act.js";
import type { Operator } from "../../operators/operator.js";
import type { OperatorAct, OperatorProposal, OwnAct } from "../../operators/ports.js";
import type { NamedOrganization, NamedProposal } from "./client.js";

// A newer server may have states that this program does not know. Such a proposal is not open.
const STATES: Readonly<Record<number, OperatorProposal["state"]>> = {
  [ProposalState.PROPOSAL_STATE_PENDING]: "PENDING",
  [ProposalState.PROPOSAL_STATE_APPROVED]: "APPROVED",
  [ProposalState.PROPOSAL_STATE_REJECTED]: "REJECTED",
};

export function organizationFrom(message: OrganizationMessage): Organization {
  return {
    id: message.id as OrganizationId,
    cell: message.cell,
    name: message.name,
    isSandbox: message.sandbox,
    isSuspended: message.suspended,
    createdAt: momentOf(message.created_at),
  };
}

/** The cell of a key is not in the contract: no command shows it. */
export function keyFrom(message: ApiKeyMessage): ApiKey {
  return {
    id: message.id as ApiKeyId,
    organizationId: message.organization_id as OrganizationId,
    cell: 0,
    name: message.name,
    scopes: message.scopes as Scope[],
    createdAt: momentOf(message.created_at),
    expiresAt: ifSet(message.expires_at),
    revokedAt: ifSet(message.revoked_at),
    lastUsedAt: ifSet(message.last_used_at),
  };
}

export function actFrom(message: ActMessage): NamedOrganization<OwnAct> {
  return {
    seq: Number(message.sequence),
    kind: message.type as JournalKind,
    actor: message.actor as Actor,
    actorNames: message.operator_names,
    reason: (message.note ?? "") as StatusReason,
    keyId: message.api_key_id,
    recordedAt: momentOf(message.recorded_at),
  };
}

export function operatorFrom(message: OperatorMessage): Operator {
  return {
    id: message.id as OperatorId,
    name: message.name as OperatorName,
    roles: rolesFrom(message.roles),
    createdAt: momentOf(message.created_at),
    revokedAt: ifSet(message.revoked_at),
  };
}

export function operatorActFrom(message: OperatorActMessage): NamedOrganization<OperatorAct> {
  return {
    seq: Number(message.sequence),
    kind: message.type as OperatorAct["kind"],
    operatorId: message.operator_id as OperatorId,
    actor: message.actor as Actor,
    actorNames: message.operator_names,
    recordedAt: momentOf(message.recorded_at),
  };
}

export function proposalFrom(message: ProposalMessage): NamedProposal {
  return {
    id: message.id as OperatorProposalId,
    act: JSON.parse(message.content) as Act,
    proposedBy: message.proposed_by as OperatorId,
    proposerName: message.proposer_name,
    proposedAt: momentOf(message.proposed_at),
    expiresAt: momentOf(message.expires_at),
    state: STATES[message.state] ?? "LAPSED",
    decidedBy: message.decided_by as OperatorId | undefined,
    deciderName: message.decider_name ?? "",
    decidedAt: ifSet(message.decided_at),
  };
}

function momentOf(timestamp: Timestamp | undefined): UnixMillis {
  return ifSet(timestamp) ?? toUnixMillis(0);
}

function ifSet(timestamp: Timestamp | undefined): UnixMillis | undefined {
  if (timestamp === undefined) return undefined;
  return toUnixMillis(Number(timestamp.seconds) * 1_000 + Math.round(timestamp.nanos / 1_000_000));
}
