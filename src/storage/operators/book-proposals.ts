import type { Proposal } from "../../domain/proposal.js";
import type { OrganizationId, ProposalId } from "../../domain/values/ids.js";
import type { Cell } from "../database.js";
import { proposalColumns, proposalOf, type ProposalRow } from "../sql/records/proposal-rows.js";
import { orStoreError } from "../sql/store-error.js";

/** A proposal in a book, and whether what it is about is still open. */
export interface FoundProposal {
  readonly proposal: Proposal;
  /** False if its transaction has ended in another way. */
  readonly isOpen: boolean;
}

type FoundRow = ProposalRow & { readonly organization_id: string; readonly is_open: number };

/** One proposal, or those of one book that nobody has decided. */
interface ProposalFilter {
  readonly id?: ProposalId;
  readonly undecidedOf?: OrganizationId;
}

/** The maximum number of rows that a look at the undecided ones reads. */
const UNDECIDED_MAX = 1_001;

/**
 * Returns the proposals in the books of a cell that have an id. A transaction that ends does not
 * touch its proposal, so its status says whether the proposal waits.
 */
export async function bookProposals(
  { engine, reader, directory }: Pick<Cell, "engine" | "directory"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  { id, undecidedOf }: ProposalFilter = {},
): Promise<readonly FoundProposal[]> {
  const own = (wanted: string): string => `
    SELECT ${proposalColumns(engine)}, o.organization_id,
      CASE WHEN t.status IS NULL OR t.status = 'PROCESSING' THEN 1 ELSE 0 END AS is_open
    FROM ${engine.table("proposals")} p JOIN ${engine.table("books")} o ON o.number = p.book
    LEFT JOIN ${engine.table("transactions")} t ON t.id = p.subject
    WHERE p.id IS NOT NULL ${wanted}`;
  const [sql, bindings] =
    undecidedOf === undefined
      ? [own(id === undefined ? "" : "AND p.id = ?"), id === undefined ? [] : [id]]
      : [own("AND p.done_at IS NULL AND o.organization_id = ? LIMIT ?"), [undecidedOf, UNDECIDED_MAX]];
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
