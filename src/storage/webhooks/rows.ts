import type { EventPattern } from "../../domain/event-types.js";
import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type {
  Attempt,
  DisabledReason,
  Endpoint,
  EndpointSecret,
  EndpointStatus,
  Retry,
} from "../../domain/webhook-endpoint.js";
import { insertedTypesOf } from "../../model/column.js";
import { WEBHOOK_ENDPOINTS, WEBHOOK_LOG } from "../../model/webhooks.js";
import { LOG_ROWS_MAX } from "../../webhooks/limits.js";
import type { BookKeys } from "../secrets/book-keys.js";
import { decrypt, encrypt } from "../secrets/encryption.js";
import { hasTrueMac, rowMac } from "../secrets/row-mac.js";
import { readPart, UnreadableRowError } from "../secrets/unreadable-row.js";
import type { Engine, Session } from "../sql/engine.js";
import type { EndpointRow, ReadEndpointRow, RetryRow } from "../sql/records/webhook-rows.js";

type EndpointKeys = Pick<BookKeys, "data" | "index">;

/**
 * Decrypts an endpoint. Throws an UnreadableRowError if somebody has changed its row past the
 * service, or has put an old copy back.
 */
export function endpointOf(row: ReadEndpointRow, keys: EndpointKeys): Endpoint {
  return readPart(`the webhook endpoint ${row.id}`, () => decryptedEndpoint(row, keys));
}

/**
 * Returns the endpoint as its organization sees it. One that somebody has changed is shown as
 * disabled, without what the row says, so that it hides no other endpoint.
 */
export function shownEndpointOf(row: ReadEndpointRow, keys: EndpointKeys): Endpoint {
  try {
    return endpointOf(row, keys);
  } catch (error) {
    if (!(error instanceof UnreadableRowError)) throw error;
    const { created_at: createdAt, updated_at: updatedAt, settled_seq: settledSeq } = row;
    return {
      id: row.id as WebhookEndpointId,
      organizationId: row.organization_id as OrganizationId,
      url: "",
      description: "",
      types: [],
      status: "DISABLED",
      disabledReason: "CHANGED",
      revision: row.revision,
      secrets: [],
      settledSeq,
      replay: undefined,
      failures: 0,
      failingSince: undefined,
      probeAt: undefined,
      createdAt: toUnixMillis(createdAt),
      updatedAt: toUnixMillis(updatedAt),
    };
  }
}

function decryptedEndpoint(row: ReadEndpointRow, keys: EndpointKeys): Endpoint {
  const { url, secrets, newest_seq: newestSeq, changed_seq: changedSeq } = row;
  if (url === null || secrets === null) throw new Error(`the endpoint ${row.id} is deleted`);
  // An old copy of the row has its true mac, but the journal has a newer row.
  const isOld = newestSeq === null || newestSeq > changedSeq;
  if (isOld || !hasTrueMac(keys, WEBHOOK_ENDPOINTS, row)) throw new Error(`the endpoint ${row.id} was changed`);
  const { data } = keys;
  return {
    id: row.id as WebhookEndpointId,
    organizationId: row.organization_id as OrganizationId,
    url: decrypt(data, url, contextOf(row, "url")).toString("utf8"),
    description: row.description,
    types: row.types === null ? undefined : (JSON.parse(row.types) as EventPattern[]),
    status: row.status as EndpointStatus,
    disabledReason: (row.disabled_reason ?? undefined) as DisabledReason | undefined,
    revision: row.revision,
    secrets: secretsIn(decrypt(data, secrets, contextOf(row, "secrets")).toString("utf8")),
    settledSeq: row.settled_seq,
    replay:
      row.replay_seq === null || row.replay_until_seq === null
        ? undefined
        : { settledSeq: row.replay_seq, untilSeq: row.replay_until_seq },
    failures: row.failures,
    failingSince: timeOf(row.failing_since),
    probeAt: timeOf(row.probe_at),
    createdAt: toUnixMillis(row.created_at),
    updatedAt: toUnixMillis(row.updated_at),
  };
}

/** Encrypts an endpoint. The bytes can be read only as those of this endpoint. */
export function rowOf(
  endpoint: Endpoint,
  keys: EndpointKeys,
  kept: Pick<EndpointRow, "retry_at" | "logged" | "changed_seq">,
): EndpointRow<string> {
  const { data } = keys;
  const place = { id: endpoint.id, organization_id: endpoint.organizationId };
  return withMac(keys, {
    ...place,
    ...kept,
    url: encrypt(data, endpoint.url, contextOf(place, "url")).toString("hex"),
    secrets: encrypt(data, JSON.stringify(endpoint.secrets), contextOf(place, "secrets")).toString("hex"),
    description: endpoint.description,
    types: endpoint.types === undefined ? null : JSON.stringify(endpoint.types),
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason ?? null,
    revision: endpoint.revision,
    settled_seq: endpoint.settledSeq,
    replay_seq: endpoint.replay?.settledSeq ?? null,
    replay_until_seq: endpoint.replay?.untilSeq ?? null,
    failures: endpoint.failures,
    failing_since: endpoint.failingSince ?? null,
    probe_at: endpoint.probeAt ?? null,
    created_at: endpoint.createdAt,
    updated_at: endpoint.updatedAt,
  });
}

/** Returns the row of an endpoint once it is deleted: without its url and its secrets. */
export function deletedRowOf(
  row: EndpointRow,
  keys: EndpointKeys,
  { seq, at }: { readonly seq: number; readonly at: UnixMillis },
): EndpointRow<string> {
  return withMac(keys, {
    ...row,
    url: null,
    secrets: null,
    description: "",
    status: "DELETED",
    disabled_reason: null,
    revision: row.revision + 1,
    changed_seq: seq,
    // Somebody may have changed `created_at`.
    updated_at: Math.max(at, row.created_at),
  });
}

function withMac(keys: EndpointKeys, row: Omit<EndpointRow<string>, "mac">): EndpointRow<string> {
  return { ...row, mac: rowMac(keys, WEBHOOK_ENDPOINTS, row) };
}

export function retryOf(row: RetryRow): Retry {
  const { last_code: code, last_problem: problem, last_at: at, last_millis: millis } = row;
  return {
    seq: row.seq,
    tries: row.tries,
    nextAt: timeOf(row.next_at),
    last:
      code === null || problem === null || at === null || millis === null
        ? undefined
        : { code, problem, at: toUnixMillis(at), millis },
  };
}

export function retryRowOf(endpointId: WebhookEndpointId, { seq, tries, nextAt, last }: Retry): RetryRow {
  return {
    endpoint_id: endpointId,
    seq,
    tries,
    next_at: nextAt ?? null,
    last_code: last?.code ?? null,
    last_problem: last?.problem ?? null,
    last_at: last?.at ?? null,
    last_millis: last?.millis ?? null,
  };
}

/**
 * Adds attempts to the log, and removes all but the last 1,000. `logged` counts the new ones, too.
 */
export async function writeLog(
  { table, insertInto }: Engine,
  session: Session,
  {
    id,
    attempts,
    logged,
  }: { readonly id: WebhookEndpointId; readonly attempts: readonly Attempt[]; readonly logged: number },
): Promise<void> {
  const name = table("webhook_log");
  const first = logged - attempts.length + 1;
  const rows = attempts.map(({ seq, tries, code, problem, at, millis }, index) => ({
    endpoint_id: id,
    number: first + index,
    seq,
    tries,
    code,
    problem,
    at,
    millis,
  }));
  await session.write([{ sql: insertInto(name, insertedTypesOf(WEBHOOK_LOG)), rows: rows.slice(-LOG_ROWS_MAX) }]);
  const sql = `DELETE FROM ${name} WHERE endpoint_id = ? AND number <= ? RETURNING number`;
  await session.read({ sql, bindings: [id, logged - LOG_ROWS_MAX] });
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
