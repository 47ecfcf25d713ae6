import type { EventPattern } from "../../../domain/event-types.js";
import type { OrganizationId, WebhookEndpointId } from "../../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../domain/values/time.js";
import type {
  DisabledReason,
  Endpoint,
  EndpointRecord,
  EndpointSecret,
  EndpointStatus,
} from "../../../domain/webhook-endpoint.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { ROWS_OF_ENDPOINTS, WEBHOOK_ENDPOINTS } from "../../../model/webhooks.js";
import type { BookKeys } from "../../secrets/book-keys.js";
import { decrypt, encrypt } from "../../secrets/encryption.js";
import { hasTrueMac, rowMac } from "../../secrets/row-mac.js";
import { readPart, UnreadableRowError } from "../../secrets/unreadable-row.js";
import type { OpenBook } from "../book-directory.js";
import type { Engine } from "../engine.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `webhook_endpoints`, as both drivers read it. */
export type EndpointRow<Bytes = Uint8Array> = RowOf<typeof WEBHOOK_ENDPOINTS, Bytes>;

/** A row of `webhook_endpoints`, and what the journal says about it. */
export type ReadEndpointRow = EndpointRow & {
  /** The `seq` of the newest row of the journal about the endpoint. */
  readonly newest_seq: number | null;
};

type EndpointBook = Pick<OpenBook, "keys">;
type EndpointKeys = Pick<BookKeys, "data" | "index">;

export const WEBHOOK_ENDPOINT_TABLE: Table<EndpointRecord, ReadEndpointRow> = {
  name: "webhook_endpoints",
  key: "id",
  insertedRow: endpointRowOf,
  // The server that delivers changes rows, too, and locks them in the order of their ids.
  reads: (engine, { list }) => {
    const standing = `
      SELECT id FROM ${engine.table("webhook_endpoints")} WHERE status <> 'DELETED' AND organization_id IN (${list})`;
    return [
      {
        finders: ["webhookEndpoint", "webhookEndpoints"],
        isAfterLock: true,
        sql: `
          ${endpointsSelect(engine)} WHERE ${engine.within("e.id", `${list} UNION ALL ${standing}`)}
          ORDER BY e.id ${engine.forUpdate}`,
      },
    ];
  },
  rowOf: endpointRecordOf,
  updates: [
    {
      sets: [
        "url",
        "secrets",
        "description",
        "types",
        "status",
        "disabled_reason",
        "revision",
        "changed_seq",
        "updated_at",
        "mac",
      ],
      fits: (_, { status }) => status === "DELETED",
      deletes: [
        { table: "webhook_retries", column: "endpoint_id" },
        { table: "webhook_log", column: "endpoint_id" },
      ],
    },
    // The deliveries count what they have logged.
    { sets: changedNamesOf(WEBHOOK_ENDPOINTS).filter((name) => name !== "logged") },
  ],
};

/** Returns a SELECT of `ReadEndpointRow`, from the table `e`. */
export function endpointsSelect({ table, indexedBy }: Pick<Engine, "table" | "indexedBy">): string {
  return `
    SELECT e.*, (
      SELECT MAX(seq) FROM ${table("journal")}${indexedBy("journal_webhook_endpoints")}
      WHERE ${ROWS_OF_ENDPOINTS} AND detail = e.id
        AND book = (SELECT b.number FROM ${table("books")} b WHERE b.organization_id = e.organization_id)
    ) AS newest_seq
    FROM ${table("webhook_endpoints")} e`;
}

/**
 * Decrypts an endpoint. Throws an UnreadableRowError if somebody has changed its row past the
 * service, or has put an old copy back.
 */
export function endpointOf(row: ReadEndpointRow, { keys }: EndpointBook): Endpoint {
  return readPart(`the webhook endpoint ${row.id}`, () => decryptedEndpoint(row, keys));
}

/**
 * Returns the endpoint as its organization sees it. One that somebody has changed is shown as
 * disabled, without what the row says, so that it hides no other endpoint.
 */
export function shownEndpointOf(row: ReadEndpointRow, book: EndpointBook): Endpoint {
  try {
    return endpointOf(row, book);
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
    return {
      ...placeOf(row),
      url: "",
      description: "",
      types: [],
      status: "DISABLED",
      disabledReason: "CHANGED",
      secrets: [],
      settledSeq: row.settled_seq,
      replay: undefined,
      failures: 0,
      failingSince: undefined,
      probeAt: undefined,
      retryAt: undefined,
    };
  }
}

/** Maps a row as commands see it: also one that is deleted. */
export function endpointRecordOf(row: ReadEndpointRow, book: EndpointBook): EndpointRecord {
  return row.status === "DELETED" ? { ...placeOf(row), status: "DELETED" } : shownEndpointOf(row, book);
}

/** Returns what stays when an endpoint is deleted. */
function placeOf(row: EndpointRow): Omit<Exclude<EndpointRecord, Endpoint>, "status"> {
  return {
    id: row.id as WebhookEndpointId,
    organizationId: row.organization_id as OrganizationId,
    revision: row.revision,
    changedSeq: row.changed_seq,
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

function decryptedEndpoint(row: ReadEndpointRow, keys: EndpointKeys): Endpoint {
  const { url, secrets, newest_seq: newestSeq, changed_seq: changedSeq } = row;
  if (url === null || secrets === null) throw new Error(`the endpoint ${row.id} is deleted`);
  // An old copy of the row has its true mac, but the journal has a newer row.
  const isOld = newestSeq === null || newestSeq > changedSeq;
  if (isOld || !hasTrueMac(keys, WEBHOOK_ENDPOINTS, row)) throw new Error(`the endpoint ${row.id} was changed`);
  const { data } = keys;
  return {
    ...placeOf(row),
    url: decrypt(data, url, contextOf(row, "url")).toString("utf8"),
    description: row.description,
    types: row.types === null ? undefined : (JSON.parse(row.types) as EventPattern[]),
    status: row.status as EndpointStatus,
    disabledReason: (row.disabled_reason ?? undefined) as DisabledReason | undefined,
    secrets: secretsIn(decrypt(data, secrets, contextOf(row, "secrets")).toString("utf8")),
    settledSeq: row.settled_seq,
    replay:
      row.replay_seq === null || row.replay_until_seq === null
        ? undefined
        : { settledSeq: row.replay_seq, untilSeq: row.replay_until_seq },
    failures: row.failures,
    failingSince: timeOf(row.failing_since),
    probeAt: timeOf(row.probe_at),
    retryAt: timeOf(row.retry_at),
  };
}

/**
 * Encrypts an endpoint. The bytes can be read only as those of this endpoint. A deleted one has
 * neither a url nor secrets.
 */
function endpointRowOf(
  record: EndpointRecord,
  { book: { keys } }: Pick<RowPlace, "book">,
): InsertedRow<typeof WEBHOOK_ENDPOINTS> {
  const place = { id: record.id, organization_id: record.organizationId };
  const endpoint = record.status === "DELETED" ? undefined : record;
  const encrypted = (field: string, text: string | undefined): string | null =>
    text === undefined ? null : encrypt(keys.data, text, contextOf(place, field)).toString("hex");
  const row = {
    ...place,
    url: encrypted("url", endpoint?.url),
    secrets: encrypted("secrets", endpoint && JSON.stringify(endpoint.secrets)),
    description: endpoint?.description ?? "",
    types: endpoint?.types === undefined ? null : JSON.stringify(endpoint.types),
    status: record.status,
    disabled_reason: endpoint?.disabledReason ?? null,
    revision: record.revision,
    settled_seq: endpoint?.settledSeq ?? 0,
    replay_seq: endpoint?.replay?.settledSeq ?? null,
    replay_until_seq: endpoint?.replay?.untilSeq ?? null,
    failures: endpoint?.failures ?? 0,
    failing_since: endpoint?.failingSince ?? null,
    probe_at: endpoint?.probeAt ?? null,
    retry_at: endpoint?.retryAt ?? null,
    logged: 0,
    changed_seq: record.changedSeq,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
  };
  return { ...row, mac: rowMac(keys, WEBHOOK_ENDPOINTS, row) };
}

function timeOf(millis: number | null): UnixMillis | undefined {
  return millis === null ? undefined : toUnixMillis(millis);
}

function secretsIn(text: string): readonly EndpointSecret[] {
  const found = JSON.parse(text) as readonly (EndpointSecret & { readonly validUntil?: number })[];
  return found.map(({ validUntil, ...secret }) => ({ ...secret, validUntil: timeOf(validUntil ?? null) }));
}

function contextOf(
  { id, organization_id: organizationId }: Pick<EndpointRow, "id" | "organization_id">,
  field: string,
): string[] {
  return ["kesc-webhook-endpoint", organizationId, id, field];
}
