import { parseOrganizationId } from "../domain/values/ids.js";
import type { MasterKeys } from "../storage/secrets/master-key.js";
import type { Binding, Engine } from "../storage/sql/engine.js";
import type { Reader } from "../storage/sql/reader.js";
import type { Audit, AuditedOperator, SealEvidence } from "./audit.js";
import { auditBooks } from "./books/books.js";
import { auditOrphans } from "./books/orphans.js";
import { type Coverage, noCoverage } from "./coverage.js";
import { type Finding, Findings } from "./findings.js";
import type { NotedHeads } from "./heads.js";
import { auditOperators } from "./operators/operators.js";
import { FULL_SPEED, type Pace, pacedRows } from "./pace.js";
import { auditSchema } from "./schema/schema.js";

const INT64_MAX = 2 ** 63;

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

/** How to audit. */
export interface VerifyOptions {
  readonly notedHeads?: NotedHeads | undefined;
  readonly seals?: SealEvidence | undefined;
  readonly pace?: Pace;
  /** Audits the book of this organization alone, and no schema. */
  readonly organizationId?: string | undefined;
  /** The accounts of a book that are in memory at once: about 0.5 KB each. */
  readonly accountsMax?: number;
  /** Called with the rows of the journals that were read, and about how many there are. */
  readonly onRows?: ((read: number, total: number) => void) | undefined;
}

const ACCOUNTS_MAX = 200_000;
const NO_EVIDENCE: SealEvidence = { publicKeys: [], published: undefined };

/**
 * Audits the books. Derives every balance, sum, status and time from the journal alone, recomputes
 * every content hash, and compares the results with the tables. Compares the schema with the
 * migrations, and the books with the heads that an earlier audit noted.
 *
 * Other processes may keep writing: each book is audited up to the last row that it has when its
 * turn comes. The audit reads in slices along the primary keys, and rests between them as `pace`
 * says. The memory that it uses does not grow with the rows of a book; from 200,000 accounts in a
 * book on, it reads the book's journal again for each 200,000. Open the database without a
 * statement timeout. Rejects if the database fails, or with a MasterKeyError.
 */
export async function verify(
  { cells }: { readonly cells: readonly AuditedCell[] },
  {
    notedHeads = new Map(),
    seals = NO_EVIDENCE,
    pace = FULL_SPEED,
    organizationId,
    accountsMax = ACCOUNTS_MAX,
    onRows,
  }: VerifyOptions = {},
): Promise<Verification> {
  const findings = new Findings();
  const coverage = noCoverage();
  const total = onRows === undefined ? 0 : await rowsIn(cells);
  const onSlice = (): void => onRows?.(coverage.journalRows, total);
  const operators = new Map<string, AuditedOperator>();
  for (const [cell, { engine, reader, masterKeys }] of cells.entries()) {
    const isAsMigrated =
      organizationId !== undefined || (await reader.snapshot((snapshot) => auditSchema(snapshot, engine, findings)));
    const databaseErrors = new Set<unknown>();
    const read = pacedRows(reader, engine, pace);
    const rows: Audit["rows"] = (sql, bindings) =>
      read<never>(sql, bindings?.map(bindable)).catch((error: unknown) => {
        databaseErrors.add(error);
        throw error;
      });
    const audit: Audit = {
      cell,
      engine,
      rows,
      databaseErrors,
      masterKeys,
      findings,
      coverage,
      notedHeads,
      seals,
      organizationId,
      operators,
      accountsMax,
      onSlice,
    };
    await auditRows(audit).catch((error: unknown) => {
      if (isAsMigrated) throw error;
      // A missing table or column is a finding, and so is what it prevents.
      const texts = { expected: "rows that can be read", found: String(error).replaceAll(/\s+/g, " ") };
      findings.of(undefined).add({ seq: undefined, table: "schema", id: undefined }, texts);
    });
  }
  addLostBooks(coverage, { notedHeads, published: seals.published }, findings);
  return { coverage, findingsCount: findings.count, firstFindings: findings.first };
}

/** Returns how many rows the journals have, as the books say. 0 if they cannot be read. */
async function rowsIn(cells: readonly AuditedCell[]): Promise<number> {
  let total = 0;
  for (const { engine, reader } of cells) {
    const sql = `SELECT CAST(SUM(last_seq) AS TEXT) AS total FROM ${engine.table("books")}`;
    const [row] = await reader.rows<{ readonly total: string | null }>(sql, []).catch(() => []);
    total += Number(row?.total ?? 0);
  }
  return total;
}

async function auditRows(audit: Audit): Promise<void> {
  await auditOperators(audit);
  await auditBooks(audit);
  if (audit.organizationId === undefined) await auditOrphans(audit);
}

/** Adds a finding for each noted or published book that no cell has, and for noted operators. */
function addLostBooks(
  { heads, otherHeads }: Coverage,
  { notedHeads, published }: { readonly notedHeads: NotedHeads; readonly published: SealEvidence["published"] },
  findings: Findings,
): void {
  const found = new Set([...heads, ...otherHeads].map(({ organizationId }) => organizationId));
  for (const { organizationId, seq } of notedHeads.values()) {
    // The audit of a book compares its seals.
    if (found.has(organizationId) || organizationId.startsWith("seals-")) continue;
    const isBook = parseOrganizationId(organizationId).ok;
    const [table, what] = isBook ? (["books", "the book"] as const) : (["operator_chain", "the chain"] as const);
    const texts = { expected: `${what} that the heads file knows`, found: "none" };
    findings.of(isBook ? organizationId : undefined).add({ seq, table, id: organizationId }, texts);
  }
  for (const { organizationId, checkpoint } of published?.values() ?? []) {
    if (found.has(organizationId)) continue;
    const place = { seq: checkpoint.size, table: "books", id: organizationId } as const;
    findings.of(organizationId).add(place, { expected: "the book that was published", found: "none" });
  }
}

/**
 * Returns a number that was read from a row as PostgreSQL takes it back. A row that somebody has
 * changed can have the largest number of a column, which no number of JavaScript holds exactly: the
 * next one is out of range, and would end the audit.
 */
function bindable(binding: Binding): Binding {
  if (typeof binding !== "number" || Math.abs(binding) < INT64_MAX) return binding;
  return binding < 0 ? "-9223372036854775808" : "9223372036854775807";
}
