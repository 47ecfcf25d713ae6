import type { Reader } from "../storage/sql/reader.js";
import { verifyAccounts } from "./accounts.js";
import { type Finding, Findings } from "./findings.js";
import { verifyJournal } from "./journal.js";
import { verifyTransactions } from "./transactions.js";

export interface Verification {
  readonly journalRows: number;
  readonly accounts: number;
  readonly transactions: number;
  readonly organizations: number;
  /** The sum over all organizations, derived from the journal. */
  readonly reserveCents: bigint;
  /** The number of errors. It is 0 if the books are right. */
  readonly findingsCount: number;
  /**
   * At most 20 findings: first those in the journal, then those in the other tables, each group
   * ordered by `seq`.
   */
  readonly firstFindings: readonly Finding[];
}

/**
 * Audits the books. Derives every balance, the reserve of each organization and the status of every
 * transaction from the journal alone. Compares the results with the tables that summarize the
 * journal.
 *
 * Reads one snapshot, while other processes keep writing. The memory that it uses does not grow
 * with the database. The database sorts the rows, and may need as much temporary disk space as the
 * journal has. Open the database without a statement timeout. Rejects if the database fails.
 */
export async function verify({
  cells,
}: {
  readonly cells: readonly { readonly reader: Reader }[];
}): Promise<Verification> {
  const findings = new Findings();
  const totals = { journalRows: 0, accounts: 0, transactions: 0, organizations: 0, reserveCents: 0n };
  for (const { reader } of cells) {
    await reader.snapshot(async (snapshot) => {
      const { journalRows, organizations, reserveCents } = await verifyJournal(snapshot, findings);
      totals.journalRows += journalRows;
      totals.organizations += organizations;
      totals.reserveCents += reserveCents;
      totals.accounts += await verifyAccounts(snapshot, findings);
      totals.transactions += await verifyTransactions(snapshot, findings);
    });
  }
  return { ...totals, findingsCount: findings.count, firstFindings: findings.first };
}
