import type { PublicSealKeys } from "../seals/note.js";
import type { MasterKeys } from "../storage/secrets/master-key.js";
import type { Engine } from "../storage/sql/engine.js";
import type { Reader } from "../storage/sql/reader.js";
import type { CoverageCounts } from "./coverage.js";
import type { Findings } from "./findings.js";
import type { NotedHeads } from "./heads.js";
import type { PublishedCopy } from "./published-copy.js";

/** What lies outside the database, and shows whether the seals are ours. */
export interface SealEvidence extends PublicSealKeys {
  /** Without any, no signature is checked. */
  readonly publicKeys: readonly Uint8Array[];
  readonly published: PublishedCopy | undefined;
}

/** An operator, as the acts so far have made it. */
export interface AuditedOperator {
  readonly roles: readonly string[];
  /** The time of the act that revoked it, in Unix milliseconds. */
  readonly revokedAt: number | undefined;
}

/** The audit of one cell: what its parts read, and what they add to. */
export interface Audit {
  /** The number of the cell. */
  readonly cell: number;
  readonly engine: Engine;
  /** Runs a SELECT. Each is a transaction of its own, so that no snapshot stays open. */
  readonly rows: Reader["rows"];
  /** What `rows` has thrown. It says nothing about the rows. */
  readonly databaseErrors: { has(error: unknown): boolean };
  readonly masterKeys: () => MasterKeys;
  readonly findings: Findings;
  readonly coverage: CoverageCounts;
  readonly notedHeads: NotedHeads;
  readonly seals: SealEvidence;
  /** The only book to audit. Undefined for all. */
  readonly organizationId: string | undefined;
  /** The operators of the database, by their ids. The audit of the first cell finds them. */
  readonly operators: Map<string, AuditedOperator>;
  /** The accounts of a book that the audit keeps in memory at once. */
  readonly accountsMax: number;
  /** Called after each slice of a journal. */
  readonly onSlice: () => void;
}
