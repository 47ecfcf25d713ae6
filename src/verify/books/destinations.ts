import type { JournalKind } from "../../domain/journal.js";
import type { DestinationId, OrganizationId } from "../../domain/values/ids.js";
import type { DESTINATIONS } from "../../model/accounts.js";
import type { RowOf } from "../../model/column.js";
import { decryptPersonal } from "../../storage/secrets/personal-data.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { BegunAndEndedAudit } from "./begun-and-ended.js";
import type { AuditedBook } from "./book.js";
import { hasHashOf, hasSaltedHashOf, proofsIn } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";

type AuditedDestinationRow = RowOf<typeof DESTINATIONS>;

const CREATED: JournalKind = "destination.created";
const REMOVED: JournalKind = "destination.removed";
const SALT_BYTES = 16;

/**
 * Compares each destination of one book with its rows in the journal: the one that created it, and
 * the one that removed it, if it was removed. The number must be there, and hash to the first row,
 * as long as there is no second.
 */
export function destinationsAudit(audit: Audit, book: AuditedBook): BegunAndEndedAudit<AuditedDestinationRow> {
  const check = new DestinationCheck(book);
  return new BegunAndEndedAudit<AuditedDestinationRow>(audit, book, {
    table: "destinations",
    begun: CREATED,
    ended: REMOVED,
    idOf: ({ kind, detail }) => (kind === CREATED || kind === REMOVED ? (detail ?? "") : null),
    endedAt: ({ removed_at: removedAt }) => removedAt,
    compare: check.compare.bind(check),
  });
}

class DestinationCheck {
  readonly #book: AuditedBook;

  constructor(book: AuditedBook) {
    this.#book = book;
  }

  compare(id: string, rows: readonly AuditedJournalRow[], summary: AuditedDestinationRow | undefined): void {
    const { findings } = this.#book;
    const [created, removed, more] = rows;
    const place: Place = { seq: (removed ?? created)?.seq ?? summary?.seq, table: "destinations", id };
    if (summary === undefined) {
      findings.add(place, { expected: "a row", found: "none" });
      return;
    }
    if (created?.kind !== CREATED) {
      findings.add(place, { expected: "a journal row that created it", found: created?.kind ?? "none" });
      return;
    }
    if ((removed !== undefined && removed.kind !== REMOVED) || more !== undefined) {
      const expected = "at most one journal row after its creation, which removes it";
      findings.add(place, { expected, found: (more ?? removed)?.kind ?? "none" });
    }
    findings.compareFields(place, {
      seq: [created.seq, summary.seq],
      account_id: [created.account_id, summary.account_id],
      created_at: [created.recorded_at, summary.created_at],
      removed_at: [removed?.recorded_at ?? null, summary.removed_at],
    });
    if (removed === undefined) this.#checkNumber(summary, created, place);
    else this.#checkRemoved(summary, removed, place);
  }

  #checkNumber(summary: AuditedDestinationRow, created: AuditedJournalRow, place: Place): void {
    const { findings, secrets, row } = this.#book;
    const { id, number, content_salt: salt } = summary;
    if (secrets === undefined) return;
    const owner = { organizationId: row.organization_id as OrganizationId, ownerId: id as DestinationId };
    let plain: string;
    try {
      if (number === null || salt?.length !== SALT_BYTES) throw new TypeError("NULL");
      plain = decryptPersonal(secrets.keys, { ...owner, field: "number" }, number);
    } catch {
      const expected = `a number that the book's key decrypts, and a content_salt of ${String(SALT_BYTES)} bytes`;
      findings.add(place, { expected, found: "another value" });
      return;
    }
    const content = { accountId: created.account_id, transactionId: null, created: contentOf(summary, created, plain) };
    if (!hasSaltedHashOf(content, created, salt.toString("hex"))) {
      findings.add(place, HASH_OF_CONTENT);
    }
  }

  #checkRemoved(summary: AuditedDestinationRow, removed: AuditedJournalRow, place: Place): void {
    const { findings, secrets } = this.#book;
    if (summary.number !== null || summary.content_salt !== null) {
      findings.add(place, { expected: "no number and no content_salt after its removal", found: "one" });
    }
    if (secrets === undefined) return;
    const content = { accountId: removed.account_id, transactionId: null, created: contentOf(summary, removed, "") };
    if (!hasHashOf(content, removed, secrets.salts)) findings.add(place, HASH_OF_CONTENT);
  }
}

const HASH_OF_CONTENT = {
  expected: "the destination that gives the content_hash of the journal row",
  found: "another kind, label, number, usable_at, content_salt or content_hash",
} as const;

function contentOf(summary: AuditedDestinationRow, row: AuditedJournalRow, number: string): readonly string[] {
  const { kind, label, masked_number: masked, usable_at: usableAt } = summary;
  return [kind, label, masked, number, String(usableAt), ...proofsIn(row)];
}
