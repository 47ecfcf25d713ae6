import type { Audit } from "../audit.js";
import { auditOperatorActs } from "./acts.js";
import { auditProposals } from "./proposals.js";

/** Audits who the operators are, and what a second person has decided. */
export async function auditOperators(audit: Audit): Promise<void> {
  const keys = await auditOperatorActs(audit);
  await auditProposals(audit, keys);
}
