import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import type { UnixMillis } from "../../domain/values/time.js";
import { RETRY_ALL } from "../../domain/webhook-endpoint.js";
import { insertedTypesOf } from "../../model/column.js";
import { WEBHOOK_RETRIES } from "../../model/webhooks.js";
import type { DeliveryStore, Due, EndpointChanges, TakenEndpoint } from "../../webhooks/ports/delivery.js";
import type { Cell } from "../database.js";
import type { Engine, Session } from "../sql/engine.js";
import type { BookRow } from "../sql/records/book-head-rows.js";
import {
  endpointOf,
  type EndpointRow,
  endpointsSelect,
  type ReadEndpointRow,
} from "../sql/records/webhook-endpoint-rows.js";
import { retryOf, type RetryRow, retryRowOf } from "../sql/records/webhook-retry-rows.js";
import { inTransaction, orStoreError } from "../sql/store-error.js";
import { writeLog } from "./log.js";

type DueRow = Pick<EndpointRow, "id" | "revision"> & Pick<BookRow, "last_seq">;

type DeliveryCell = Pick<Cell, "engine" | "directory" | "transact"> & {
  readonly reader: Pick<Cell["reader"], "rows">;
};

/** Implements the port `DeliveryStore` for one cell. */
export function deliveryStore(cell: DeliveryCell): DeliveryStore {
  const { engine, reader, directory, transact } = cell;
  const statements = deliveryStatements(engine);

  const taken = async (
    session: Session,
    id: WebhookEndpointId,
    now: UnixMillis,
  ): Promise<TakenEndpoint | undefined> => {
    if ((await session.read({ sql: statements.take, bindings: [id] })).length === 0) return undefined;
    const [row] = (await session.read({ sql: statements.one, bindings: [id] })) as readonly [ReadEndpointRow];
    const book = await directory.book(row.organization_id as OrganizationId, (read) => session.read(read));
    const endpoint = endpointOf(row, book);
    if (endpoint.retryAt === RETRY_ALL) {
      await session.read({ sql: statements.retryAll, bindings: [now, id] });
      await session.read({ sql: statements.retryAt, bindings: [now, id] });
    }
    const retries = await session.read<RetryRow>({ sql: statements.retries, bindings: [id] });
    return { endpoint, retries: retries.map(retryOf) };
  };

  return {
    due: async ({ now, after, limit }) => {
      const rows = await orStoreError(engine, reader.rows<DueRow>(statements.due, [after, now, now, limit]));
      return rows.map((row): Due => ({
        id: row.id as WebhookEndpointId,
        revision: row.revision,
        lastSeq: row.last_seq,
      }));
    },
    closed: async (organizationIds) => {
      const bindings = [JSON.stringify(organizationIds)];
      const rows = await orStoreError(
        engine,
        reader.rows<Pick<BookRow, "organization_id">>(statements.closed, bindings),
      );
      return rows.map((row) => row.organization_id as OrganizationId);
    },
    take: (id, now) => inTransaction({ engine, transact }, (session) => taken(session, id, now)),
    save: (changes) =>
      inTransaction({ engine, transact }, async (session) => {
        const lost: WebhookEndpointId[] = [];
        // In one order: two transactions that lock the same rows must not wait for each other.
        for (const change of changes.toSorted(byId)) {
          if (!(await saved(engine, session, change))) lost.push(change.id);
        }
        return lost;
      }),
  };
}

function byId(left: EndpointChanges, right: EndpointChanges): number {
  return left.id < right.id ? -1 : 1;
}

/** Returns false if somebody else has changed the endpoint. Then nothing is stored. */
async function saved(engine: Engine, session: Session, change: EndpointChanges): Promise<boolean> {
  const { save, upsertRetries, deleteRetries } = deliveryStatements(engine);
  const { id, replay, attempts, retries, settledRetries } = change;
  const state = {
    settled_seq: change.settledSeq,
    replay_seq: replay?.settledSeq ?? null,
    replay_until_seq: replay?.untilSeq ?? null,
    failures: change.failures,
    failing_since: change.failingSince ?? null,
    probe_at: change.probeAt ?? null,
    retry_at: change.retryAt ?? null,
    attempts: attempts.length,
  };
  const bindings = [JSON.stringify([state]), id, change.revision];
  const [row] = await session.read<{ readonly logged: number }>({ sql: save, bindings });
  if (row === undefined) return false;
  if (retries.length > 0) {
    const rows = retries.map((retry) => retryRowOf(id, retry));
    await session.read({ sql: upsertRetries, bindings: [JSON.stringify(rows)] });
  }
  if (settledRetries.length > 0) {
    await session.read({ sql: deleteRetries, bindings: [id, JSON.stringify(settledRetries)] });
  }
  if (attempts.length > 0) await writeLog(engine, session, { id, attempts, logged: row.logged });
  return true;
}

const STATE_COLUMNS = {
  settled_seq: "int64",
  replay_seq: "int64",
  replay_until_seq: "int64",
  failures: "int64",
  failing_since: "int64",
  probe_at: "int64",
  retry_at: "int64",
  attempts: "int64",
} as const;

function deliveryStatements({ table, input, jsonItems, indexedBy }: Engine) {
  const endpoints = table("webhook_endpoints");
  const retries = table("webhook_retries");
  const state = Object.keys(STATE_COLUMNS).filter((column) => column !== "attempts");
  const retry = insertedTypesOf(WEBHOOK_RETRIES);
  const columns = Object.keys(retry);
  return {
    // An endpoint that gets only probes has `probe_at`. Nothing else is done for it before.
    due: `
      SELECT e.id, e.revision, b.last_seq
      FROM ${endpoints} e${indexedBy("webhook_endpoints_active")}
      JOIN ${table("books")} b ON b.organization_id = e.organization_id AND b.state = 'OPEN'
      WHERE e.status = 'ACTIVE' AND e.id > ? AND (e.probe_at IS NULL OR e.probe_at <= ?)
        AND (b.last_seq > e.settled_seq OR e.replay_until_seq IS NOT NULL OR e.retry_at <= ? OR e.probe_at IS NOT NULL)
      ORDER BY e.id LIMIT ?`,
    closed: `
      SELECT organization_id FROM ${table("books")}
      WHERE organization_id IN (SELECT value FROM ${jsonItems("?")}) AND state <> 'OPEN'`,
    take: `UPDATE ${endpoints} SET revision = revision + 1 WHERE id = ? AND status = 'ACTIVE' RETURNING id`,
    one: `${endpointsSelect({ table, indexedBy })} WHERE e.id = ?`,
    retryAll: `UPDATE ${retries} SET next_at = ? WHERE endpoint_id = ? AND next_at IS NOT NULL RETURNING seq`,
    retryAt: `UPDATE ${endpoints} SET retry_at = ? WHERE id = ? RETURNING id`,
    retries: `SELECT * FROM ${retries} WHERE endpoint_id = ? ORDER BY seq`,
    save: `
      UPDATE ${endpoints} SET ${state.map((column) => `${column} = input.${column}`).join(", ")},
        logged = logged + input.attempts
      FROM ${input(STATE_COLUMNS)}
      WHERE id = ? AND revision = ? AND status = 'ACTIVE' RETURNING logged`,
    upsertRetries: `
      INSERT INTO ${retries} (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM ${input(retry)}
      WHERE true ON CONFLICT (endpoint_id, seq) DO UPDATE SET
        ${columns
          .slice(2)
          .map((column) => `${column} = excluded.${column}`)
          .join(", ")}
      RETURNING seq`,
    deleteRetries: `
      DELETE FROM ${retries}
      WHERE endpoint_id = ? AND seq IN (SELECT CAST(value AS BIGINT) FROM ${jsonItems("?")}) RETURNING seq`,
  };
}
