import type { RowOf } from "../../model/column.js";
import { WEBHOOK_ENDPOINTS } from "../../model/webhooks.js";
import { hasTrueMac } from "../../storage/secrets/row-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { slices } from "../slices.js";
import type { AuditedBook } from "./book.js";
import { ANOTHER_MAC } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";
import { compareTable } from "./table-audit.js";

type AuditedEndpointRow = RowOf<typeof WEBHOOK_ENDPOINTS>;

/** What the rows of the journal say of an endpoint. */
interface RecordedEndpoint {
  /** That of the newest row. */
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

const table = "webhook_endpoints";

/**
 * Compares each webhook endpoint of one book with the newest row of the journal about it, and each
 * of those rows with an endpoint. The `mac` covers what the journal does not say.
 */
export function webhookEndpointsAudit(audit: Audit, book: AuditedBook): AuditPart {
  const { secrets, findings, row: head } = book;
  const derived = new Map<string, RecordedEndpoint>();
  const follow = (row: AuditedJournalRow): void => {
    const id = subjectOf(row);
    if (id === null) return;
    const { seq, recorded_at: updatedAt } = row;
    derived.set(id, { seq, createdAt: derived.get(id)?.createdAt ?? updatedAt, updatedAt });
  };
  const compare = (
    id: string,
    recorded: RecordedEndpoint | undefined,
    endpoint: AuditedEndpointRow | undefined,
  ): void => {
    const place: Place = { seq: recorded?.seq, table, id };
    if (!findings.isThere(place, endpoint, "the endpoint of its journal row")) return;
    if (secrets !== undefined && !hasTrueMac(secrets.keys, WEBHOOK_ENDPOINTS, endpoint)) {
      findings.add(place, ANOTHER_MAC);
    }
    if (!findings.isThere(place, recorded, "a journal row that records it")) return;
    findings.compareFields(place, {
      changed_seq: [recorded.seq, endpoint.changed_seq],
      created_at: [recorded.createdAt, endpoint.created_at],
      updated_at: [recorded.updatedAt, endpoint.updated_at],
    });
  };
  const end = (): Promise<void> =>
    compareTable<AuditedEndpointRow, RecordedEndpoint>(audit, book, {
      table,
      derived,
      rows: slices<AuditedEndpointRow>(audit, {
        sql: `SELECT * FROM ${audit.engine.table(table)} e WHERE e.organization_id = ?`,
        bindings: [head.organization_id],
        key: "e.id",
        keyOf: ({ id }) => id,
      }),
      idOf: ({ id }) => id,
      seqOf: ({ seq }) => seq,
      asOf: ({ changed_seq: changedSeq }) => changedSeq,
      follow,
      subjectOf,
      compare,
    });
  return { table, row: follow, end };
}

function subjectOf({ kind, detail }: AuditedJournalRow): string | null {
  return kind.startsWith("webhook_endpoint.") ? detail : null;
}
