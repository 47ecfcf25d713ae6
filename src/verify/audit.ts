import type { MasterKeys } from "../storage/secrets/master-key.js";
import type { Snapshot } from "../storage/sql/snapshot.js";
import type { CoverageCounts } from "./coverage.js";
import type { Findings } from "./findings.js";
import type { NotedHeads } from "./heads.js";

/** The audit of one cell: what its parts read, and what they add to. */
export interface Audit {
  readonly snapshot: Snapshot;
  readonly masterKeys: () => MasterKeys;
  readonly findings: Findings;
  readonly coverage: CoverageCounts;
  readonly notedHeads: NotedHeads;
}
