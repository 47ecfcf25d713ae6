import type { Audit } from "../audit.js";
import { guardedReads } from "../guarded.js";
import { auditOperatorActs } from "./acts.js";
import { OperatorChainAudit } from "./chain.js";
import { auditPasskeys } from "./passkeys.js";
import { auditProposals } from "./proposals.js";

/** Audits the operators, what a second person has decided, the chain over both, and passkeys. */
export async function auditOperators(audit: Audit): Promise<void> {
  // The chain is read first: a row that a server adds meanwhile is not missed in it.
  const chain = await OperatorChainAudit.begin(audit);
  const { keys, passkeys, chained } = await auditOperatorActs(audit);
  const findings = audit.findings.of(undefined);
  const place = { seq: undefined, table: "operator_chain", id: undefined } as const;
  await guardedReads(audit, { findings, place }, async () => {
    await chain.end([...chained, ...(await auditProposals(audit, new Set([...keys, ...passkeys])))]);
  });
  await auditPasskeys(audit, passkeys);
}
