import type { WebhookEndpointId } from "../../domain/values/ids.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import type { AttemptFilter, ListedAttempt } from "../../webhooks/ports/endpoints.js";
import type { Cell } from "../database.js";
import type { Engine } from "../sql/engine.js";
import type { LogRow, RetryRow } from "../sql/records/webhook-rows.js";
import { orStoreError } from "../sql/store-error.js";
import { timeOf } from "./rows.js";

interface AttemptsRequest {
  readonly id: WebhookEndpointId;
  readonly filter: AttemptFilter;
  readonly page: PageRequest;
}

/** Returns a page of the attempts of an endpoint, newest first. There are 1,000 rows at most. */
export async function attemptsOf(
  { engine, reader }: Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> },
  { id, filter, page: { size, beforeSeq = Number.MAX_SAFE_INTEGER } }: AttemptsRequest,
): Promise<Page<ListedAttempt>> {
  const statements = attemptStatements(engine);
  const bindings = [id, beforeSeq, size + 1];
  if (filter === "undelivered") {
    const rows = await orStoreError(engine, reader.rows<RetryRow>(statements.undelivered, bindings));
    return pageOf(rows, size, ({ seq }) => seq, listedRetryOf);
  }
  const sql = filter === "failed" ? statements.failed : statements.all;
  const rows = await orStoreError(engine, reader.rows<LogRow>(sql, bindings));
  return pageOf(rows, size, ({ number }) => number, listedLogOf);
}

function pageOf<Row>(
  rows: readonly Row[],
  size: number,
  numberOf: (row: Row) => number,
  listedOf: (row: Row) => ListedAttempt,
): Page<ListedAttempt> {
  const page = rows.slice(0, size);
  const last = page.at(-1);
  return {
    rows: page.map(listedOf),
    nextBeforeSeq: rows.length > size && last !== undefined ? numberOf(last) : undefined,
    lookedAt: rows.length,
  };
}

function listedRetryOf(row: RetryRow): ListedAttempt {
  return {
    seq: row.seq,
    tries: row.tries,
    succeeded: false,
    code: row.last_code ?? 0,
    problem: row.last_problem ?? "",
    at: toUnixMillis(row.last_at ?? 0),
    millis: row.last_millis ?? 0,
    nextAt: timeOf(row.next_at),
  };
}

function listedLogOf({ seq, tries, code, problem, at, millis }: LogRow): ListedAttempt {
  return { seq, tries, succeeded: problem === "", code, problem, at: toUnixMillis(at), millis, nextAt: undefined };
}

function attemptStatements({ table }: Engine) {
  const log = `SELECT * FROM ${table("webhook_log")} WHERE endpoint_id = ? AND number < ?`;
  return {
    all: `${log} ORDER BY number DESC LIMIT ?`,
    failed: `${log} AND problem <> '' ORDER BY number DESC LIMIT ?`,
    undelivered: `
      SELECT * FROM ${table("webhook_retries")} WHERE endpoint_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
  };
}
