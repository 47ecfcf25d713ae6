import type { JournalKind } from "../../domain/journal.js";
import type { DESTINATIONS } from "../../model/accounts.js";
import type { RowOf } from "../../model/column.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { begunAndEndedAudit } from "./begun-and-ended.js";
import type { AuditedBook } from "./book.js";
import { checkHash, decryptedIn, proofsIn, SALT_BYTES } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";

type AuditedDestinationRow = RowOf<typeof DESTINATIONS>;

const CREATED: JournalKind = "destination.created";
const REMOVED: JournalKind = "destination.removed";

/**
 * Compares each destination of one book with its rows in the journal: the one that created it, and
 * the one that removed it, if it was removed. The number must be there, and hash to the first row,
 * as long as there is no second.
 */
export function destinationsAudit(audit: Audit, book: AuditedBook): AuditPart {
  return begunAndEndedAudit<AuditedDestinationRow>(audit, book, {
    table: "destinations",
    ended: REMOVED,
    subjectOf: ({ kind, detail }) => (kind === CREATED || kind === REMOVED ? (detail ?? "") : null),
    endedAt: ({ removed_at: removedAt }) => removedAt,
    compare: (id, rows, destination) => {
      compareDestination(book, { id, rows, destination });
    },
  });
}

interface ComparedDestination {
  readonly id: string;
  readonly rows: readonly AuditedJournalRow[];
  readonly destination: AuditedDestinationRow | undefined;
}

function compareDestination(book: AuditedBook, { id, rows, destination }: ComparedDestination): void {
  const { findings } = book;
  const [created, removed, more] = rows;
  const place: Place = { seq: (removed ?? created)?.seq ?? destination?.seq, table: "destinations", id };
  if (!findings.isThere(place, destination, "a row")) return;
  if (created?.kind !== CREATED) {
    findings.add(place, { expected: "a journal row that created it", found: created?.kind ?? "none" });
    return;
  }
  if ((removed !== undefined && removed.kind !== REMOVED) || more !== undefined) {
    const expected = "at most one journal row after its creation, which removes it";
    findings.add(place, { expected, found: (more ?? removed)?.kind ?? "none" });
  }
  findings.compareFields(place, {
    seq: [created.seq, destination.seq],
    account_id: [created.account_id, destination.account_id],
    created_at: [created.recorded_at, destination.created_at],
    removed_at: [removed?.recorded_at ?? null, destination.removed_at],
  });
  if (removed === undefined) {
    checkNumber(book, { place, destination, created });
    return;
  }
  if (destination.number !== null || destination.content_salt !== null) {
    findings.add(place, { expected: "no number and no content_salt after its removal", found: "one" });
  }
  checkHash(book, removed, contentOf(destination, removed, ""), { place, ...HASH_OF_CONTENT });
}

function checkNumber(
  book: AuditedBook,
  { place, destination, created }: { place: Place; destination: AuditedDestinationRow; created: AuditedJournalRow },
): void {
  if (book.secrets === undefined) return;
  const { id, number, content_salt: salt } = destination;
  const plain = decryptedIn(book, { ownerId: id, field: "number" }, number);
  if (plain === undefined || salt?.length !== SALT_BYTES) {
    const expected = `a number that the book's key decrypts, and a content_salt of ${String(SALT_BYTES)} bytes`;
    book.findings.add(place, { expected, found: "another value" });
    return;
  }
  const content = { ...contentOf(destination, created, plain), salt };
  checkHash(book, created, content, { place, ...HASH_OF_CONTENT });
}

const HASH_OF_CONTENT = {
  expected: "the destination that gives the content_hash of the journal row",
  found: "another kind, label, number, usable_at, content_salt or content_hash",
} as const;

function contentOf(
  { kind, label, masked_number: masked, usable_at: usableAt }: AuditedDestinationRow,
  row: AuditedJournalRow,
  number: string,
): { readonly accountId: string | null; readonly created: readonly string[] } {
  return { accountId: row.account_id, created: [kind, label, masked, number, String(usableAt), ...proofsIn(row)] };
}
