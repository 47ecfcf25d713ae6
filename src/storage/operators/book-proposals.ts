import type { Proposal } from "../../domain/proposal.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { BEYOND_PROPOSALS, type ProposalsPage } from "../../operators/ports.js";
import type { Cell } from "../database.js";
import type { Binding } from "../sql/engine.js";
import { proposalColumns, proposalOf, type ProposalRow } from "../sql/records/proposal-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** A proposal in a book, and whether what it is about is still open. */
export interface FoundProposal {
  readonly proposal: Proposal;
  /** False if its transaction has ended in another way. */
  readonly isOpen: boolean;
}

type FoundRow = ProposalRow & { readonly organization_id: string; readonly is_open: number };

/** One proposal, or a page of a list. */
export type ProposalFilter = { readonly id: ProposalId } | (ProposalsPage & { readonly now: UnixMillis });

/**
 * Returns the proposals in the books of a cell, those of a list in its order. A transaction that
 * ends does not touch its proposal, so its status says whether the proposal waits.
 */
export async function bookProposals(
  { engine, reader, directory }: Pick<Cell, "engine" | "directory"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  filter: ProposalFilter,
): Promise<readonly FoundProposal[]> {
  const [wanted, bindings] = "id" in filter ? ["p.id = ?", [filter.id]] : listed(filter);
  const sql = `
    SELECT ${proposalColumns(engine)}, o.organization_id,
      CASE WHEN t.status IS NULL OR t.status = 'PROCESSING' THEN 1 ELSE 0 END AS is_open
    FROM ${engine.table("proposals")} p JOIN ${engine.table("books")} o ON o.number = p.book
    LEFT JOIN ${engine.table("transactions")} t ON t.id = p.subject
    WHERE ${wanted}`;
  const rows = await orStoreError(engine, reader.rows<FoundRow>(sql, bindings));
  const organizationIds = [...new Set(rows.map((row) => row.organization_id as OrganizationId))];
  const books = await directory.find(organizationIds, (read) => reader.rows(read.sql, read.bindings));
  const byId = new Map(books.map((book) => [book.organizationId, book]));
  return rows.flatMap((row) => {
    const book = byId.get(row.organization_id as OrganizationId);
    const proposal = book === undefined ? undefined : proposalOf(row, book);
    // Somebody has written or changed the row past the service.
    return proposal === undefined || proposal.content === "" ? [] : [{ proposal, isOpen: row.is_open === 1 }];
  });
}

function listed({ afterId, size, waits, now }: ProposalsPage & { readonly now: UnixMillis }): [string, Binding[]] {
  if (waits === undefined) return ["p.id < ? ORDER BY p.id DESC LIMIT ?", [afterId ?? BEYOND_PROPOSALS, size]];
  const { organization } = waits;
  const [ofBook, bindings] = organization === undefined ? ["", []] : ["AND o.organization_id = ?", [organization.id]];
  // With the bare id a planner walks the index of all proposals, not that of the undecided ones.
  const wanted = `p.done_at IS NULL AND (p.expires_at IS NULL OR p.expires_at > ?)
      AND (t.status IS NULL OR t.status = 'PROCESSING') ${ofBook} AND p.id || '' > ? ORDER BY p.id || '' LIMIT ?`;
  return [wanted, [now, ...bindings, afterId ?? "", size]];
}
