import { hash } from "node:crypto";

import { type ApiKey, isLive } from "../../domain/api-key.js";
import type { Operator } from "../../domain/operator.js";
import type { Proposal } from "../../domain/proposal.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { type BookSummary, listBooks } from "../../storage/books.js";
import { cellOf, type Database } from "../../storage/database.js";
import { firstSeqFrom } from "../../storage/lists/first-seq-from.js";
import { StoredAdministration } from "../../storage/operators/administration.js";
import { storedRailAccounts } from "../../storage/rails/rail-accounts.js";
import { type NotedHeads, operatorsOfCell, sealsOf } from "../../verify/heads.js";
import type { PublishedCopy } from "../../verify/published-copy.js";

/** What lies outside the database, and may know rows that a backup lacks. */
export interface NewerEvidence {
  readonly heads: NotedHeads | undefined;
  readonly published: PublishedCopy | undefined;
}

/** A book of a restored database, with those who act in it again. */
export interface RestoredBook extends BookSummary {
  /** The last row that the backup had. */
  readonly backupSeq: number;
  readonly rowsMissing: number | undefined;
  /** The rails over which payouts begin once the book is open. */
  readonly payoutRails: readonly string[];
  readonly apiKeys: readonly ApiKey[];
}

/** An operator, with the time of the last change of the person. */
export interface RestoredOperator extends Operator {
  readonly changedAt: UnixMillis;
}

/** Everything that acts again once a restore is confirmed. */
export interface RestoredPowers {
  readonly books: readonly RestoredBook[];
  readonly operators: readonly RestoredOperator[];
  readonly proposals: readonly Proposal[];
  /**
   * The least number of rows about operators that are missing. Undefined: the evidence says nothing
   * about it.
   */
  readonly operatorRowsMissing: number | undefined;
  readonly booksMissing: readonly string[];
}

interface RestoredAt {
  readonly restoredAt: UnixMillis;
}

const ALL = Number.MAX_SAFE_INTEGER;

export async function restoredPowers(
  database: Database,
  { restoredAt, now, evidence }: RestoredAt & { readonly now: UnixMillis; readonly evidence: NewerEvidence },
): Promise<RestoredPowers> {
  const administration = new StoredAdministration(database, { now: () => now, fourEyes: new Set() });
  const known = knownEnds(evidence);
  const payouts = (await Promise.all(database.cells.map((cell) => storedRailAccounts(cell)))).flat();
  const listed = (await listBooks(database)).filter(({ move }) => move === undefined || move.phase === "LEAVING");
  const books: RestoredBook[] = [];
  for (const book of listed) {
    const { organizationId } = book;
    const { engine, listReader } = cellOf(database, book);
    const backupSeq = (await firstSeqFrom(listReader, engine, { book: book.number, time: restoredAt })) - 1;
    const own = payouts.filter((account) => account.organizationId === organizationId && account.payouts !== "closed");
    books.push({
      ...book,
      backupSeq,
      rowsMissing: missing(known.get(organizationId), backupSeq),
      payoutRails: own.map(({ rail }) => rail).sort(),
      apiKeys: (await administration.apiKeys(organizationId)).filter((key) => isLive(key, now)),
    });
  }
  const proposals = await administration.proposals({
    afterId: undefined,
    size: ALL,
    waits: { organization: undefined },
  });
  const ids = new Set<string>(listed.map(({ organizationId }) => organizationId));
  return {
    books,
    operators: await liveOperators(administration),
    proposals: proposals.filter(({ decided }) => decided === undefined),
    operatorRowsMissing: missing(known.get(operatorsOfCell(0)), await operatorRows(database, restoredAt)),
    booksMissing: [...known.keys()].filter((name) => name.startsWith("org_") && !ids.has(name)),
  };
}

async function liveOperators(
  administration: Pick<StoredAdministration, "operators" | "operatorActs">,
): Promise<readonly RestoredOperator[]> {
  const acts = await administration.operatorActs({ size: ALL, beforeSeq: undefined });
  // The newest act comes first, so it is the last that the map keeps.
  const changed = new Map(acts.toReversed().map(({ operatorId, recordedAt }) => [operatorId, recordedAt]));
  return (await administration.operators())
    .filter(({ revokedAt }) => revokedAt === undefined)
    .map((operator) => ({ ...operator, changedAt: changed.get(operator.id) ?? operator.createdAt }));
}

/** Returns how many rows the chain of the operators had. Since then only the machine has acted. */
async function operatorRows({ cells: [{ engine, reader }] }: Database, restoredAt: UnixMillis): Promise<number> {
  const sql = `
    SELECT COALESCE(MAX(seq), 0) - (SELECT COUNT(*) FROM ${engine.table("operator_acts")} WHERE recorded_at >= ?) AS rows_then
    FROM ${engine.table("operator_chain")}`;
  const [row] = await reader.rows<{ readonly rows_then: number }>(sql, [restoredAt]);
  return row?.rows_then ?? 0;
}

/** Returns how many rows each chain has at least, by its name in a heads file. */
function knownEnds({ heads, published }: NewerEvidence): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  const know = (name: string, rows: number): unknown => ends.set(name, Math.max(rows, ends.get(name) ?? 0));
  const prefix = sealsOf("");
  for (const { organizationId: name, seq } of heads?.values() ?? []) {
    know(name.startsWith(prefix) ? name.slice(prefix.length) : name, seq);
  }
  for (const { organizationId, checkpoint, isSigned } of published?.values() ?? []) {
    if (isSigned) know(organizationId, checkpoint.size);
  }
  return ends;
}

function missing(known: number | undefined, rows: number): number | undefined {
  return known === undefined ? undefined : Math.max(0, known - rows);
}

const CODE_LENGTH = 12;

/** Returns a code for exactly these powers. The next call returns another if one was taken away. */
export function codeOf({ books, operators, proposals }: RestoredPowers): string {
  const text = JSON.stringify([
    books.map(({ organizationId, state, isSuspended, payoutRails, apiKeys }) => {
      const keys = apiKeys.map(({ id, name, scopes, expiresAt }) => [id, name, scopes, expiresAt ?? null]);
      return [organizationId, state, isSuspended, payoutRails, keys];
    }),
    operators.map(({ id, name, roles, keySha256, passkeys }) => [id, name, roles, keySha256 ?? null, passkeys]),
    proposals.map(({ id }) => id),
  ]);
  return hash("sha256", text, "hex").slice(0, CODE_LENGTH);
}
