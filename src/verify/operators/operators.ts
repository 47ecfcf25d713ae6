import type { Audit } from "../audit.js";
import { auditOperatorActs } from "./acts.js";
import { OperatorChainAudit } from "./chain.js";
import { auditPasskeys } from "./passkeys.js";
import { auditProposals } from "./proposals.js";

/** Audits the operators, what a second person has decided, the chain over both, and passkeys. */
export async function auditOperators(audit: Audit): Promise<void> {
  // The chain is read first: a row that a server adds meanwhile is not missed in it.
  const chain = await OperatorChainAudit.begin(audit);
  const { keys, passkeys, chained } = await auditOperatorActs(audit);
  await chain.end([...chained, ...(await auditProposals(audit, new Set([...keys, ...passkeys])))]);
  await auditPasskeys(audit, passkeys);
}
