import type { Decider, Proposal, ProposalDecision } from "../../../domain/proposal.js";
import type { OrganizationId, ProposalId } from "../../../domain/values/ids.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { PROPOSALS } from "../../../model/transactions.js";
import { sealedOf } from "../../secrets/encryption.js";
import { proposalMac } from "../../secrets/proposal-mac.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `proposals`, and where the rows end that came with an import of its book. */
export type ProposalRow = RowOf<typeof PROPOSALS, Uint8Array> & { readonly arrived_seq: number | null };

/** The columns of a `ProposalRow`, from `proposals` as `p`. */
export function proposalColumns({ table }: Pick<Engine, "table">): string {
  return `p.*, (SELECT b.arrived_seq FROM ${table("books")} b WHERE b.number = p.book) AS arrived_seq`;
}

export const PROPOSAL_TABLE: Table<Proposal, ProposalRow> = {
  name: "proposals",
  key: "subject",
  insertedRow: proposalRowOf,
  reads: (engine, { list }) => {
    const { table, within, forUpdate } = engine;
    const select = `SELECT ${proposalColumns(engine)} FROM ${table("proposals")} p`;
    return [
      // Locks the proposals in the order of their subjects: two servers must not both do what one
      // proposal allows once.
      { finders: ["proposal"], sql: `${select} WHERE ${within("p.subject", list)} ORDER BY p.subject ${forUpdate}` },
      {
        finders: ["waitingProposals"],
        isAfterLock: true,
        sql: `
          ${select} WHERE p.done_at IS NULL AND p.expires_at IS NOT NULL
            AND p.book IN (SELECT number FROM ${table("books")} WHERE organization_id IN (${list}))`,
      },
    ];
  },
  rowOf: proposalOf,
  updates: [{ sets: changedNamesOf(PROPOSALS) }],
};

/**
 * Maps a row. One that waits and has no true `mac` gets no content, so nobody can approve it. One
 * that an operator made before the book arrived here has lapsed: its people belong to another
 * database.
 */
export function proposalOf(
  row: ProposalRow,
  { organizationId, keys }: Pick<OpenBook, "organizationId" | "keys">,
): Proposal {
  const proposedAt = toUnixMillis(row.proposed_at);
  const isTrue = Buffer.from(row.mac).toString("hex") === macOf(row, { organizationId, keys });
  const hasArrived = row.expires_at !== null && row.seq <= (row.arrived_seq ?? 0);
  const lapsed = hasArrived ? ({ as: "LAPSED", by: undefined, at: proposedAt } as const) : undefined;
  const decided = decisionOf(row);
  return {
    organizationId,
    subject: row.subject,
    id: row.id as ProposalId,
    content: isTrue || decided !== undefined ? row.content : "",
    seq: row.seq,
    person: row.person as Decider,
    proposedAt,
    expiresAt: row.expires_at === null ? undefined : toUnixMillis(row.expires_at),
    decided: decided ?? lapsed,
    sealed: row.sealed === null ? undefined : sealedOf(row.sealed),
  };
}

function decisionOf({ decision, decided_by: by, done_at: at }: ProposalRow): ProposalDecision | undefined {
  if (decision === null || at === null) return undefined;
  return { as: decision as ProposalDecision["as"], by: (by ?? undefined) as Decider | undefined, at: toUnixMillis(at) };
}

function proposalRowOf(
  { organizationId, subject, id, content, seq, person, proposedAt, expiresAt, decided, sealed }: Proposal,
  { book: { number, keys } }: RowPlace,
): InsertedRow<typeof PROPOSALS> {
  const row = {
    book: number,
    subject,
    id,
    content,
    person,
    seq,
    proposed_at: proposedAt,
    expires_at: expiresAt ?? null,
    decision: decided?.as ?? null,
    decided_by: decided?.by ?? null,
    done_at: decided?.at ?? null,
    sealed: sealed?.hex ?? null,
  };
  return { ...row, mac: macOf(row, { organizationId, keys }) };
}

type SignedRow = Pick<
  ProposalRow,
  "subject" | "id" | "content" | "person" | "seq" | "proposed_at" | "expires_at" | "decision" | "decided_by" | "done_at"
>;

function macOf(
  row: SignedRow,
  { organizationId, keys }: { readonly organizationId: OrganizationId; readonly keys: OpenBook["keys"] },
): string {
  const {
    subject,
    id,
    content,
    person,
    seq,
    proposed_at: at,
    expires_at: end,
    decision,
    decided_by: by,
    done_at: done,
  } = row;
  return proposalMac(keys, [organizationId, subject, id, content, person, seq, at, end, decision, by, done]);
}
