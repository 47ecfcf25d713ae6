import type { BookSummary } from "../../storage/books.js";
import { timeOf } from "../commands/output.js";

/** Returns a book with the members that `kesc book list` shows. */
export function bookJson(book: BookSummary): Readonly<Record<string, string | number | boolean | null>> {
  const { lastSeq, move } = book;
  return {
    organization_id: book.organizationId,
    organization_name: book.name,
    cell: book.cell,
    state: book.state.toLowerCase(),
    suspended: book.isSuspended,
    last_sequence: String(lastSeq),
    last_recorded_at: lastSeq === 0 ? null : timeOf(book.lastRecordedAt),
    phase: move?.phase.toLowerCase() ?? null,
    moved_to: move?.movedTo ?? null,
  };
}
