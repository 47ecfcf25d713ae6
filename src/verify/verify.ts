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
  /** By the journal, of all organizations together. */
  readonly reserveCents: bigint;
  /** How many things do not hold; 0 when the books are right. */
  readonly findingsCount: number;
  /**
   * At most 20: broken rows of the journal first, then tables that do not agree with it, each by
   * `seq`.
   */
  readonly firstFindings: readonly Finding[];
}

/**
 * Derives every balance, each organization's reserve and the state of every transaction from the
 * journal alone, and compares them with the tables that sum it up.
 *
 * Sees the database as it was when it began, while others go on writing. What it holds in memory
 * does not grow with the database; the sorting is the database's business, and takes up to as much
 * of its temporary disk space as the journal has. Open the database without a limit on how long a
 * statement may run. Rejects when the database does.
 */
export function verify({ reader }: { readonly reader: Reader }): Promise<Verification> {
  return reader.snapshot(async (snapshot) => {
    const findings = new Findings();
    const { journalRows, organizations, reserveCents } = await verifyJournal(snapshot, findings);
    const accounts = await verifyAccounts(snapshot, findings);
    const transactions = await verifyTransactions(snapshot, findings);
    return {
      journalRows,
      accounts,
      transactions,
      organizations,
      reserveCents,
      findingsCount: findings.count,
      firstFindings: findings.first,
    };
  });
}
