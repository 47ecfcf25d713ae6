import type { OperatorName, PersonChange, Role } from "../../domain/operator.js";
import { HOUSE } from "../../domain/people/people.js";
import type { Decider, Proposal, ProposalDecision } from "../../domain/proposal.js";
import type { Actor } from "../../domain/values/actor.js";
import type { OperatorId, ProposalId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RowOf } from "../../model/column.js";
import type { OPERATOR_ACTS, OPERATOR_DECISIONS, OPERATOR_PROPOSALS } from "../../model/database.js";
import type { Cell } from "../database.js";
import { chainColumns, type Chained, type Link } from "./operator-chain.js";

// The rows of acts, proposals and decisions about people, and what the chain has of each.

export type ActRow = Link & RowOf<typeof OPERATOR_ACTS, string>;

export interface PersonProposalRow extends Link, RowOf<typeof OPERATOR_PROPOSALS, string> {
  readonly decision: "APPROVED" | "REJECTED" | null;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
}

type NewProposal = RowOf<typeof OPERATOR_PROPOSALS>;
type DecisionRow = RowOf<typeof OPERATOR_DECISIONS>;

/** Selects acts as `a`, with their rows of the chain. */
export function selectActs({ engine }: Pick<Cell, "engine">): string {
  const { columns, join } = chainColumns(engine, "'act:' || a.seq");
  return `
    SELECT a.seq, a.kind, a.operator_id, a.name, a.roles, a.key_sha256, a.passkey_sha256, a.actor,
      a.recorded_at, ${columns}
    FROM ${engine.table("operator_acts")} a ${join}`;
}

/** Selects proposals as `p`, with their decisions as `d` and their rows of the chain. */
export function selectProposals({ engine }: Pick<Cell, "engine">): string {
  const { table } = engine;
  const { columns, join } = chainColumns(engine, "'proposal:' || p.id");
  return `
    SELECT p.id, p.content, p.proposed_by, p.proposed_at, p.expires_at, d.decision, d.decided_by, d.decided_at, ${columns}
    FROM ${table("operator_proposals")} p LEFT JOIN ${table("operator_decisions")} d ON d.proposal_id = p.id ${join}`;
}

export function changeOf(row: ActRow): PersonChange {
  const { name, roles, key_sha256: keySha256, passkey_sha256: passkeySha256 } = row;
  return {
    kind: row.kind as PersonChange["kind"],
    operatorId: row.operator_id as OperatorId,
    ...(name === null ? {} : { name: name as OperatorName }),
    ...(roles === null ? {} : { roles: roles.split(" ") as Role[] }),
    ...(keySha256 === null ? {} : { keySha256 }),
    ...(passkeySha256 === null ? {} : { passkeySha256 }),
    actor: row.actor as Actor,
    recordedAt: toUnixMillis(row.recorded_at),
  };
}

export function rowOfChange(
  { kind, operatorId, name, roles, keySha256, passkeySha256, actor, recordedAt }: PersonChange,
  seq: number,
): RowOf<typeof OPERATOR_ACTS> {
  return {
    seq,
    kind,
    operator_id: operatorId,
    name: name ?? null,
    roles: roles?.join(" ") ?? null,
    key_sha256: keySha256 ?? null,
    passkey_sha256: passkeySha256 ?? null,
    actor,
    recorded_at: recordedAt,
  };
}

export function chainedAct(row: RowOf<typeof OPERATOR_ACTS>): Chained {
  const { seq, kind, operator_id: id, name, roles, key_sha256: key, passkey_sha256: passkey } = row;
  const fields = [seq, kind, id, name ?? "", roles ?? "", key ?? "", row.actor, row.recorded_at];
  // Only acts about a passkey have this field.
  return { subject: `act:${String(seq)}`, fields: passkey === null ? fields : [...fields, passkey] };
}

export function proposalOf(row: PersonProposalRow): Proposal {
  const { decision, decided_by: by, decided_at: at } = row;
  const decided = decision !== null && by !== null && at !== null;
  return {
    organizationId: HOUSE,
    subject: row.id,
    id: row.id as ProposalId,
    content: row.content,
    seq: row.link_seq ?? 0,
    person: row.proposed_by as Decider,
    proposedAt: toUnixMillis(row.proposed_at),
    expiresAt: toUnixMillis(row.expires_at),
    decided: decided ? { as: decision, by: by as Decider, at: toUnixMillis(at) } : undefined,
    sealed: undefined,
  };
}

export function rowOfProposal({ id, content, person, proposedAt, expiresAt }: Proposal): NewProposal {
  // That of a person always lapses.
  return { id, content, proposed_by: person, proposed_at: proposedAt, expires_at: Number(expiresAt) };
}

export function chainedProposal(row: NewProposal): Chained {
  const fields = [row.id, row.content, row.proposed_by, row.proposed_at, row.expires_at];
  return { subject: `proposal:${row.id}`, fields };
}

export function rowOfDecision(id: ProposalId, { as: decision, by, at }: ProposalDecision): DecisionRow {
  // Nothing writes that one has lapsed.
  return { proposal_id: id, decision, decided_by: String(by), decided_at: at };
}

export function chainedDecision({ proposal_id: id, decision, decided_by: by, decided_at: at }: DecisionRow): Chained {
  return { subject: `decision:${id}`, fields: [id, decision, by, at] };
}
