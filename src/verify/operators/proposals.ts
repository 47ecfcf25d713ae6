import type { RowOf } from "../../model/column.js";
import type { OPERATOR_DECISIONS, OPERATOR_PROPOSALS } from "../../model/database.js";
import type { Audit } from "../audit.js";
import type { BookFindings } from "../findings.js";
import type { RowOfChain } from "./chain.js";

type AuditedOperatorProposalRow = RowOf<typeof OPERATOR_PROPOSALS, string>;

type AuditedDecisionRow = RowOf<typeof OPERATOR_DECISIONS, string>;

/** The fields of an act that an approval must have brought about. */
interface ActFields {
  readonly name?: unknown;
  readonly keySha256?: unknown;
  readonly passkeySha256?: unknown;
}

/**
 * Audits the proposals of a cell and their decisions: that two persons agreed, and that each key of
 * an approved act is there. `operatorKeys` are the hashes of the operators' keys and
 * passkeys. Returns the rows as the chain must have them.
 */
export async function auditProposals(audit: Audit, operatorKeys: ReadonlySet<string>): Promise<readonly RowOfChain[]> {
  const { engine, operators } = audit;
  const findings = audit.findings.of(undefined);
  const proposals = await audit.rows<AuditedOperatorProposalRow>(
    `SELECT id, content, proposed_by, proposed_at, expires_at
     FROM ${engine.table("operator_proposals")} ORDER BY id`,
  );
  const decisions = await audit.rows<AuditedDecisionRow>(
    `SELECT proposal_id, decision, decided_by, decided_at
     FROM ${engine.table("operator_decisions")} ORDER BY proposal_id`,
  );
  for (const row of proposals) {
    const place = { seq: undefined, table: "operator_proposals", id: row.id } as const;
    if (!operators.has(row.proposed_by)) findings.add(place, { expected: "a known operator", found: row.proposed_by });
  }
  const byId = new Map(proposals.map((row) => [row.id, row]));
  for (const row of decisions) {
    const proposal = byId.get(row.proposal_id);
    const place = { seq: undefined, table: "operator_decisions", id: row.proposal_id } as const;
    if (findings.isThere(place, proposal, "its proposal")) {
      checkDecision(findings, { proposal, row });
      if (row.decision === "APPROVED" && !isDone(actIn(proposal), operatorKeys)) {
        findings.add(place, { expected: "the key of the approved act", found: "none" });
      }
    }
    if (!operators.has(row.decided_by)) findings.add(place, { expected: "a known operator", found: row.decided_by });
  }
  return [...proposals.map(chainedProposal), ...decisions.map(chainedDecision)];
}

function chainedProposal(row: AuditedOperatorProposalRow): RowOfChain {
  const { id, content, proposed_by: by, proposed_at: at, expires_at: end } = row;
  const place = { seq: undefined, table: "operator_proposals", id } as const;
  return { subject: `proposal:${id}`, fields: [id, content, by, at, end], place };
}

function chainedDecision({ proposal_id: id, ...row }: AuditedDecisionRow): RowOfChain {
  const place = { seq: undefined, table: "operator_decisions", id } as const;
  return { subject: `decision:${id}`, fields: [id, row.decision, row.decided_by, row.decided_at], place };
}

function checkDecision(
  findings: BookFindings,
  { proposal, row }: { readonly proposal: AuditedOperatorProposalRow; readonly row: AuditedDecisionRow },
): void {
  const place = { seq: undefined, table: "operator_decisions", id: row.proposal_id } as const;
  if (row.decision === "APPROVED" && row.decided_by === proposal.proposed_by) {
    findings.add(place, { expected: "the approval of a second person", found: row.decided_by });
  }
  if (row.decided_at >= proposal.expires_at) {
    findings.add(place, { expected: "a decision before the proposal lapsed", found: String(row.decided_at) });
  }
}

const GIVING_KEYS: ReadonlySet<unknown> = new Set(["createOperator", "replaceOperatorKey", "addPasskey"]);

function isDone({ name, keySha256, passkeySha256 = keySha256 }: ActFields, operatorKeys: ReadonlySet<string>): boolean {
  return !GIVING_KEYS.has(name) || operatorKeys.has(String(passkeySha256));
}

/** A text that is not JSON is not the row that the chain has, which is a finding. */
function actIn({ content }: AuditedOperatorProposalRow): ActFields {
  try {
    return JSON.parse(content) as ActFields;
  } catch {
    return {};
  }
}
