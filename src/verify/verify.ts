import type { MasterKeys } from "../storage/secrets/master-key.js";
import type { Engine } from "../storage/sql/engine.js";
import type { Reader } from "../storage/sql/reader.js";
import type { Audit } from "./audit.js";
import { auditAccounts } from "./books/accounts.js";
import { auditApiKeys } from "./books/api-keys.js";
import { auditCorrections } from "./books/corrections.js";
import { auditFreezes } from "./books/freezes.js";
import { auditIdempotencyKeys } from "./books/idempotency-keys.js";
import { auditJournal } from "./books/journal.js";
import { auditOrphans } from "./books/orphans.js";
import { auditProofs } from "./books/rails/proofs.js";
import { auditTransactions } from "./books/transactions.js";
import { type Coverage, noCoverage } from "./coverage.js";
import { type Finding, Findings } from "./findings.js";
import type { NotedHeads } from "./heads.js";
import { auditSchema } from "./schema/schema.js";

/** The parts of a cell that an audit reads. */
export interface AuditedCell {
  readonly engine: Engine;
  readonly reader: Reader;
  /** Throws a MasterKeyError. */
  readonly masterKeys: () => MasterKeys;
}

export interface Verification {
  readonly coverage: Coverage;
  /** The number of errors. It is 0 if the books are right. */
  readonly findingsCount: number;
  /**
   * At most 20 findings: first those in the journal, then those in the other tables, then those in
   * the schema. Each group is ordered by `seq`.
   */
  readonly firstFindings: readonly Finding[];
}

const NO_HEADS: NotedHeads = new Map();

/**
 * Audits the books. Derives every balance, sum, status and time from the journal alone, recomputes
 * every content hash, and compares the results with the tables. Compares the schema with the
 * migrations, and the books with the heads that an earlier audit noted.
 *
 * Reads one snapshot of each cell, while other processes keep writing. The memory that it uses does
 * not grow with the rows of a book. The database sorts the rows, and may need as much temporary
 * disk space as the journal has. Open the database without a statement timeout. Rejects if the
 * database fails, or with a MasterKeyError.
 */
export async function verify(
  { cells }: { readonly cells: readonly AuditedCell[] },
  notedHeads = NO_HEADS,
): Promise<Verification> {
  const findings = new Findings();
  const coverage = noCoverage();
  for (const { engine, reader, masterKeys } of cells) {
    await reader.snapshot(async (snapshot) => {
      const audit: Audit = { snapshot, masterKeys, findings, coverage, notedHeads };
      const isAsMigrated = await auditSchema(audit, engine);
      await auditRows(audit).catch((error: unknown) => {
        if (isAsMigrated) throw error;
        // A missing table or column is a finding, and so is what it prevents.
        const texts = { expected: "rows that can be read", found: String(error).replaceAll(/\s+/g, " ") };
        findings.of(undefined).add({ seq: undefined, table: "schema", id: undefined }, texts);
      });
    });
  }
  addLostBooks(coverage, notedHeads, findings);
  return { coverage, findingsCount: findings.count, firstFindings: findings.first };
}

async function auditRows(audit: Audit): Promise<void> {
  await auditJournal(audit);
  await auditAccounts(audit);
  await auditFreezes(audit);
  await auditTransactions(audit);
  await auditCorrections(audit);
  await auditProofs(audit);
  await auditIdempotencyKeys(audit);
  await auditApiKeys(audit);
  await auditOrphans(audit);
}

/** Adds a finding for each noted book that no cell has. */
function addLostBooks({ heads }: Coverage, notedHeads: NotedHeads, findings: Findings): void {
  const found = new Set(heads.map(({ organizationId }) => organizationId));
  for (const { organizationId, seq } of notedHeads.values()) {
    if (found.has(organizationId)) continue;
    findings
      .of(organizationId)
      .add(
        { seq, table: "books", id: organizationId },
        { expected: "the book that the heads file knows", found: "none" },
      );
  }
}
