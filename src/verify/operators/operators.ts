import type { Audit } from "../audit.js";
import { auditOperatorActs } from "./acts.js";
import { OperatorChainAudit } from "./chain.js";
import { auditProposals } from "./proposals.js";

/** Audits who the operators are, what a second person has decided, and the chain over both. */
export async function auditOperators(audit: Audit): Promise<void> {
  // The chain is read first: a row that a server adds meanwhile is not missed in it.
  const chain = await OperatorChainAudit.begin(audit);
  const { keys, chained } = await auditOperatorActs(audit);
  await chain.end([...chained, ...(await auditProposals(audit, keys))]);
}
