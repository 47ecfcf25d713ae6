import { toUnixMillis } from "../../domain/values/time.js";
import { eventIdOf } from "../../events/event.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import type {
  AttemptFilter,
  EventNames,
  ListedAttempt,
  ListedEndpoint,
  UndeliveredEvent,
} from "../../webhooks/ports/endpoints.js";
import type { Cell } from "../database.js";
import type { Engine } from "../sql/engine.js";
import { type LogRow, retryOf, type RetryRow } from "../sql/records/webhook-retry-rows.js";
import { orStoreError } from "../sql/store-error.js";

type AttemptsCell = Pick<Cell, "engine"> & { readonly reader: Pick<Cell["reader"], "rows"> };

interface EventColumns {
  readonly kind: string;
  readonly content_hash: string;
}

type Nulls<Columns> = { readonly [Name in keyof Columns]: null };

/** Returns a page of the attempts of an endpoint, newest first. There are 1,000 rows at most. */
export async function attemptsOf(
  { engine, reader }: AttemptsCell,
  {
    endpoint,
    filter,
    page,
  }: { readonly endpoint: ListedEndpoint; readonly filter: AttemptFilter; readonly page: PageRequest },
): Promise<Page<ListedAttempt>> {
  const sql = attemptStatements(engine)[filter];
  // A test event is in no book.
  const reading = reader.rows<LogRow & (EventColumns | Nulls<EventColumns>)>(sql, bindingsOf(endpoint, page));
  const rows = await orStoreError(engine, reading);
  return pageOf(rows, page, {
    numberOf: ({ number }) => number,
    listedOf: ({ seq, tries, code, problem, at, millis, ...row }) => {
      const event = row.kind === null ? undefined : eventNamesOf(endpoint, { ...row, seq });
      return { seq, tries, succeeded: problem === "", code, problem, at: toUnixMillis(at), millis, event };
    },
  });
}

/** Returns a page of the events that wait for another try or are given up, latest first. */
export async function undeliveredOf(
  { engine, reader }: AttemptsCell,
  { endpoint, page }: { readonly endpoint: ListedEndpoint; readonly page: PageRequest },
): Promise<Page<UndeliveredEvent>> {
  const { undelivered } = attemptStatements(engine);
  const reading = reader.rows<RetryRow & EventColumns>(undelivered, bindingsOf(endpoint, page));
  const rows = await orStoreError(engine, reading);
  return pageOf(rows, page, {
    numberOf: ({ seq }) => seq,
    listedOf: (row) => ({ ...retryOf(row), event: eventNamesOf(endpoint, row) }),
  });
}

function bindingsOf(
  { id, organizationId }: ListedEndpoint,
  { size, beforeSeq = Number.MAX_SAFE_INTEGER }: PageRequest,
): readonly (string | number)[] {
  return [organizationId, id, beforeSeq, size + 1];
}

function eventNamesOf(
  { organizationId }: ListedEndpoint,
  { seq, kind, content_hash: contentHash }: EventColumns & { readonly seq: number },
): EventNames {
  return { id: eventIdOf({ organizationId, sequence: seq, contentHash }), type: kind };
}

function pageOf<Row, Listed>(
  rows: readonly Row[],
  { size }: PageRequest,
  { numberOf, listedOf }: { readonly numberOf: (row: Row) => number; readonly listedOf: (row: Row) => Listed },
): Page<Listed> {
  const page = rows.slice(0, size);
  const last = page.at(-1);
  return {
    rows: page.map(listedOf),
    nextBeforeSeq: rows.length > size && last !== undefined ? numberOf(last) : undefined,
    lookedAt: rows.length,
  };
}

/** The rows with the names of their events. The first binding is the organization. */
function attemptStatements({ table, hex }: Engine) {
  const book = `(SELECT b.number FROM ${table("books")} b WHERE b.organization_id = ?)`;
  const select = (rows: string, join: string): string => `
    SELECT r.*, j.kind, ${hex("j.content_hash")} AS content_hash
    FROM ${table(rows)} r ${join} ${table("journal")} j ON j.book = ${book} AND j.seq = r.seq
    WHERE r.endpoint_id = ?`;
  const log = `${select("webhook_log", "LEFT JOIN")} AND r.number < ?`;
  return {
    all: `${log} ORDER BY r.number DESC LIMIT ?`,
    failed: `${log} AND r.problem <> '' ORDER BY r.number DESC LIMIT ?`,
    undelivered: `${select("webhook_retries", "JOIN")} AND r.seq < ? ORDER BY r.seq DESC LIMIT ?`,
  };
}
