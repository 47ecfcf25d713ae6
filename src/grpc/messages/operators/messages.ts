import { type ApiKey, asWritten, type FoundOrganization, isWhole } from "../../../domain/api-key.js";
import { type Operator, passkeyIdOf } from "../../../domain/operator.js";
import { bookOfProposal } from "../../../domain/people/people.js";
import type { Proposal } from "../../../domain/proposal.js";
import { changesIn, nameIn } from "../../../domain/proposal-content.js";
import { PAYOUT_MODES } from "../../../domain/rail-account.js";
import type { Actor } from "../../../domain/values/actor.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type { Timestamp } from "../../../gen/google/protobuf/timestamp.js";
import {
  type ApiKey as ApiKeyMessage,
  CredentialsTrial as CredentialsTrialMessage,
  type JournalEntry as JournalEntryMessage,
  type Operator as OperatorMessage,
  type OperatorAct as OperatorActMessage,
  type Organization as OrganizationMessage,
  PayoutMode as PayoutModeMessage,
  type Proposal as ProposalMessage,
  ProposalState,
  type RailAccount as RailAccountMessage,
  type Session as SessionMessage,
} from "../../../gen/kesc/admin/v1/resources.js";
import type { OperatorAct } from "../../../operators/ports.js";
import { TRIAL_RESULTS, type TriedRailAccount } from "../../../operators/rails.js";
import { type OperatorSession, SESSION_MILLIS_MAX } from "../../../operators/session.js";
import type { JournalListRow } from "../../../statements/ports.js";
import { enumOf } from "../enums.js";
import { toJournalLine } from "../history/statement.js";
import { toTimestamp } from "../timestamp.js";
import { ROLE_MESSAGES } from "./roles.js";

const STATES = enumOf(ProposalState, "PROPOSAL_STATE", ["PENDING", "APPROVED", "REJECTED", "LAPSED"]);
const TRIALS = enumOf(CredentialsTrialMessage, "CREDENTIALS_TRIAL", TRIAL_RESULTS);
export const PAYOUT_MODE_MESSAGES = enumOf(PayoutModeMessage, "PAYOUT_MODE", PAYOUT_MODES);

/** The names of operators, by their ids. */
export type Names = ReadonlyMap<string, string>;

export function namesOf(operators: readonly Operator[]): Names {
  return new Map(operators.map(({ id, name }) => [id, name]));
}

export function toOrganization(found: FoundOrganization): OrganizationMessage {
  const { id, name, isSandbox, isSuspended, areReceiptsRequired, cell, createdAt } = asWritten(found);
  const switches = { suspended: isSuspended, receipts_required: areReceiptsRequired, changed: !isWhole(found) };
  return { id, name, sandbox: isSandbox, cell, created_at: toTimestamp(createdAt), ...switches };
}

/** A key that was just created or revoked is told without its last use. */
export function toApiKey(
  key: Omit<ApiKey, "cell" | "lastUsedAt"> & Partial<Pick<ApiKey, "lastUsedAt">>,
): ApiKeyMessage {
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

export function toRailAccount(account: TriedRailAccount): RailAccountMessage {
  return {
    id: account.id,
    organization_id: account.organizationId,
    rail: account.rail,
    is_default: account.isDefault,
    payouts: PAYOUT_MODE_MESSAGES[account.payouts],
    payouts_note: textIfAny(account.payoutsReason),
    credentials_expire_at: ifSet(account.credentialsExpireAt),
    updated_at: toTimestamp(account.updatedAt),
    warnings: Object.keys(account.warnings),
    trial: account.trial && TRIALS[account.trial.result],
    trial_code: account.trial?.code,
  };
}

export function toJournalEntry(
  row: JournalListRow,
  { organizationId, names }: { readonly organizationId: OrganizationId; readonly names: Names },
): JournalEntryMessage {
  return {
    line: toJournalLine(row, { organizationId }),
    operator_names: operatorNames(row.actor as Actor, names),
    api_key_id: row.keyId,
  };
}

export function toOperator({ id, name, roles, createdAt, revokedAt, passkeys }: Operator): OperatorMessage {
  return {
    id,
    name,
    roles: roles.map((role) => ROLE_MESSAGES[role]),
    created_at: toTimestamp(createdAt),
    revoked_at: ifSet(revokedAt),
    passkeys: passkeys.map((passkey) => ({ id: passkey.id, created_at: toTimestamp(passkey.createdAt) })),
  };
}

export function toSession(session: OperatorSession, operator: Pick<Operator, "name"> | undefined): SessionMessage {
  const { id, operatorId, beganWith, createdAt, usedAt, verifiedAt } = session;
  return {
    id,
    operator_id: operatorId,
    operator_name: operator?.name ?? operatorId,
    passkey_id: verifiedAt === undefined ? undefined : passkeyIdOf(beganWith),
    created_at: toTimestamp(createdAt),
    used_at: toTimestamp(usedAt),
    verified_at: ifSet(verifiedAt),
    expires_at: toTimestamp(toUnixMillis(createdAt + SESSION_MILLIS_MAX)),
  };
}

export function toOperatorAct(act: OperatorAct, names: Names): OperatorActMessage {
  return {
    sequence: BigInt(act.seq),
    type: act.kind,
    operator_id: act.operatorId,
    actor: act.actor,
    operator_names: operatorNames(act.actor, names),
    recorded_at: toTimestamp(act.recordedAt),
    passkey_id: act.passkeyId,
  };
}

export function toProposal(proposal: Proposal, names: Names): ProposalMessage {
  const { id, content, person, proposedAt, expiresAt, decided } = proposal;
  // One that has lapsed was decided by nobody.
  const decidedBy = decided?.by;
  return {
    id,
    type: nameIn(content),
    content,
    organization_id: bookOfProposal(proposal),
    subject_id: subjectOf(proposal),
    changes: changesIn(content).map((change) => ({ ...change })),
    proposed_by: person,
    proposer_name: names.get(person) ?? person,
    proposed_at: toTimestamp(proposedAt),
    expires_at: ifSet(expiresAt),
    state: STATES[decided?.as ?? "PENDING"],
    decided_by: decidedBy,
    decider_name: decidedBy && (names.get(decidedBy) ?? decidedBy),
    decided_at: ifSet(decidedBy === undefined ? undefined : decided?.at),
  };
}

const SUBJECTS = ["depositId", "transactionId", "accountId", "operatorId"];

/** The content names what it is about. */
function subjectOf({ content }: Proposal): string | undefined {
  const fields = (content === "" ? {} : JSON.parse(content)) as Readonly<Record<string, string | undefined>>;
  return SUBJECTS.map((name) => fields[name]).find((id) => id !== undefined);
}

function operatorNames(actor: Actor, names: Names): string[] {
  return actor.split(",").flatMap((id) => names.get(id) ?? []);
}

function textIfAny(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function ifSet(moment: UnixMillis | undefined): Timestamp | undefined {
  return moment === undefined ? undefined : toTimestamp(moment);
}
