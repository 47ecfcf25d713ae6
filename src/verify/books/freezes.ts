import type { JournalKind } from "../../domain/journal.js";
import type { FREEZES } from "../../model/accounts.js";
import type { RowOf } from "../../model/column.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { begunAndEndedAudit } from "./begun-and-ended.js";
import type { AuditedBook } from "./book.js";
import { checkHash, proofsIn } from "./content.js";
import { authorOf } from "./in-force/authors.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";

const BEGUN: JournalKind = "account.frozen";
const ENDED: JournalKind = "account.unfrozen";

/**
 * Compares each freeze of one book with its rows in the journal: the one that began it, and the one
 * that ended it, if it was lifted. The reasons, the authors and the times must be those of the
 * rows, and a freeze of an operator must have been lifted by operators.
 */
export function freezesAudit(audit: Audit, book: AuditedBook): AuditPart {
  return begunAndEndedAudit<AuditedFreezeRow>(audit, book, {
    table: "freezes",
    ended: ENDED,
    subjectOf: ({ freeze_id: id }) => id,
    endedAt: ({ lifted_at: liftedAt }) => liftedAt,
    compare: (id, rows, freeze) => {
      checkOrder(book, rows, id);
      if (freeze !== undefined) for (const row of rows) checkContent(book, row, freeze);
      compareFreeze(book, { id, begun: rows[0], ended: rows.length > 1 ? rows.at(-1) : undefined, freeze });
    },
  });
}

type AuditedFreezeRow = RowOf<typeof FREEZES>;

function checkOrder({ findings }: AuditedBook, rows: readonly AuditedJournalRow[], id: string): void {
  const isOfOperators = authorOf(rows[0]?.actor ?? "") === "operators";
  for (const [index, { seq, kind, account_id: accountId, actor }] of rows.entries()) {
    const place = { seq, table: "journal", id } as const;
    const expected = [BEGUN, ENDED][index] ?? "no row after the freeze was lifted";
    findings.compare(place, { expected, found: kind });
    findings.compareFields(place, { account_id: [rows[0]?.account_id, accountId] });
    if (isOfOperators && authorOf(actor) !== "operators")
      findings.add(place, { expected: "an operator as the actor, as one made the freeze", found: actor });
  }
}

function checkContent(book: AuditedBook, row: AuditedJournalRow, { id, ...freeze }: AuditedFreezeRow): void {
  const own = row.kind === BEGUN ? [freeze.reason_code, freeze.reason] : proofsIn(row);
  const content = { accountId: row.account_id, created: [id, ...own] };
  checkHash(book, row, content, {
    place: { seq: row.seq, table: "freezes", id },
    expected: "the freeze that gives the content_hash of the journal row",
    found: "another id, reason_code, reason or content_hash",
  });
}

interface ComparedFreeze {
  readonly id: string;
  readonly begun: AuditedJournalRow | undefined;
  readonly ended: AuditedJournalRow | undefined;
  readonly freeze: AuditedFreezeRow | undefined;
}

function compareFreeze({ findings }: AuditedBook, { id, begun, ended, freeze }: ComparedFreeze): void {
  const place: Place = { seq: (ended ?? begun)?.seq ?? freeze?.seq, table: "freezes", id };
  if (!findings.isThere(place, freeze, "a row")) return;
  if (!findings.isThere(place, begun, "a journal row that began it")) return;
  findings.compareFields(place, {
    seq: [begun.seq, freeze.seq],
    account_id: [begun.account_id, freeze.account_id],
    created_by: [begun.actor, freeze.created_by],
    created_at: [begun.recorded_at, freeze.created_at],
    lifted_by: [ended?.actor ?? null, freeze.lifted_by],
    lifted_at: [ended?.recorded_at ?? null, freeze.lifted_at],
  });
  // A finding never contains the text of a caller.
  for (const [name, expected, found] of [
    ["reason", begun.reason, freeze.reason],
    ["lift_reason", ended?.reason ?? null, freeze.lift_reason],
  ] as const) {
    if (expected === found) continue;
    findings.add(place, { expected: `the ${name} of the journal row`, found: `another ${name}` });
  }
}
