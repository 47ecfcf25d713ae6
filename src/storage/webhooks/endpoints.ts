import type { BookKind } from "../../domain/journal.js";
import type { Refusal } from "../../domain/refusal.js";
import { isOfOperators } from "../../domain/values/actor.js";
import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import { withReplay, withValues } from "../../domain/webhook-changes.js";
import { createdEndpoint } from "../../domain/webhook-creation.js";
import type { Attempt, Endpoint, EndpointSecret } from "../../domain/webhook-endpoint.js";
import { keyedSecretOf, withSecret } from "../../domain/webhook-secrets.js";
import type { Outcome } from "../../ledger/ports/outcome.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import { insertedTypesOf } from "../../model/column.js";
import { WEBHOOK_ENDPOINTS } from "../../model/webhooks.js";
import { etagOf } from "../../webhooks/etag.js";
import { RETRIES_MAX } from "../../webhooks/limits.js";
import type {
  AttemptFilter,
  EndpointAct,
  EndpointChange,
  EndpointUpdate,
  ListedAttempt,
  ListedEndpoint,
  MadeSecret,
  NewEndpoint,
  UndeliveredEvent,
  WebhookEndpoints,
} from "../../webhooks/ports/endpoints.js";
import type { Cell } from "../database.js";
import {
  BookChangedError,
  BookMovingError,
  bookRowWrites,
  ClockBehindError,
  lockBook,
  type LockedBook,
} from "../organizations/book-rows.js";
import type { OpenBook } from "../sql/book-directory.js";
import type { Session } from "../sql/engine.js";
import type { ReadEndpointRow } from "../sql/records/webhook-rows.js";
import { orStoreError } from "../sql/store-error.js";
import { attemptsOf, undeliveredOf } from "./attempts.js";
import { endpointStatements } from "./endpoint-statements.js";
import { deletedRowOf, rowOf, shownEndpointOf, writeLog } from "./rows.js";

type EndpointsCell = Pick<Cell, "engine" | "directory" | "transact"> & {
  readonly reader: Pick<Cell["reader"], "rows">;
};

/** A transaction that has locked the book of the organization. */
interface Locked {
  readonly session: Session;
  readonly book: LockedBook;
  /** The endpoints of the organization, with what is kept of their rows, newest first. */
  readonly stored: readonly StoredEndpoint[];
}

interface StoredEndpoint {
  readonly endpoint: Endpoint;
  readonly row: ReadEndpointRow;
}

/** What a change does with an endpoint. The kind is that of its row in the book, if it gets one. */
interface ChangedEndpoint {
  readonly endpoint: Endpoint;
  readonly kind?: BookKind;
  readonly retryAt?: number;
}

/** Implements the port `WebhookEndpoints` for one cell. */
export class StoredWebhookEndpoints implements WebhookEndpoints {
  readonly #cell: EndpointsCell;
  readonly #statements: ReturnType<typeof endpointStatements>;

  constructor(cell: EndpointsCell) {
    this.#cell = cell;
    this.#statements = endpointStatements(cell.engine);
  }

  async endpoints(organizationId: OrganizationId): Promise<readonly Endpoint[]> {
    const { engine, reader, directory } = this.#cell;
    const rows = await orStoreError(engine, reader.rows<ReadEndpointRow>(this.#statements.all, [organizationId]));
    if (rows.length === 0) return [];
    const finding = directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
    const { keys } = one(await orStoreError(engine, finding));
    return rows.map((row) => shownEndpointOf(row, keys));
  }

  async endpoint(organizationId: OrganizationId, id: WebhookEndpointId): Promise<Endpoint | undefined> {
    return (await this.endpoints(organizationId)).find((endpoint) => endpoint.id === id);
  }

  async create(given: NewEndpoint): Promise<Outcome<MadeSecret>> {
    return madeBy(given, await this.#locked(given, (all) => create(this.#cell, all, given)));
  }

  update(given: EndpointUpdate): Promise<Outcome<Endpoint>> {
    return this.#changing(given, async ({ endpoint }, { session, stored }) => {
      const changed = withValues(endpoint, given, { etag: etagOf(endpoint), all: endpointsOf(stored) });
      if (changed === undefined || "reason" in changed) return changed;
      const kind = "webhook_endpoint.updated";
      if (changed.status !== "ACTIVE" || endpoint.status === "ACTIVE") return { endpoint: changed, kind };
      // What waits for another try goes out at once.
      await session.read({ sql: this.#statements.retryNow, bindings: [given.now, endpoint.id] });
      return { endpoint: changed, kind, retryAt: given.now };
    });
  }

  remove(given: EndpointChange): Promise<Outcome<WebhookEndpointId>> {
    return this.#locked(given, (all) => remove(this.#cell, all, given));
  }

  async rotate(given: Parameters<WebhookEndpoints["rotate"]>[0]): Promise<Outcome<MadeSecret>> {
    const outcome = await this.#changing(given, ({ endpoint }, { stored }) => {
      const changed = withSecret(endpoint, given, endpointsOf(stored));
      if (changed === undefined || "reason" in changed) return changed;
      return { endpoint: changed, kind: "webhook_endpoint.updated" };
    });
    return madeBy(given, outcome);
  }

  resend({ seq, ...given }: Parameters<WebhookEndpoints["resend"]>[0]): Promise<Outcome<Endpoint>> {
    return this.#changing(given, async ({ endpoint }, { session, book }) => {
      const { id } = endpoint;
      if (seq >= book.nextSeq) return { reason: "EVENT_NOT_FOUND", sequence: seq };
      const [row] = await counted(session, this.#statements.retries, [id, seq]);
      if (row.known === 0 && row.all >= RETRIES_MAX) return { reason: "WEBHOOK_ENDPOINT_BUSY", endpointId: id };
      await session.read({ sql: this.#statements.resend, bindings: [id, seq, given.now] });
      return { endpoint, retryAt: given.now };
    });
  }

  replay(given: Parameters<WebhookEndpoints["replay"]>[0]): Promise<Outcome<Endpoint>> {
    return this.#changing(given, ({ endpoint }, { book }) => {
      const changed = withReplay(endpoint, given, book.nextSeq);
      return changed === undefined || "reason" in changed ? changed : { endpoint: changed };
    });
  }

  async log(id: WebhookEndpointId, attempt: Attempt): Promise<void> {
    const { engine, transact } = this.#cell;
    const add = async (session: Session): Promise<void> => {
      const found = await session.read({ sql: this.#statements.countLogged, bindings: [id] });
      const [row] = found as readonly { readonly logged: number }[];
      if (row !== undefined) await writeLog(engine, session, { id, attempts: [attempt], logged: row.logged });
    };
    await orStoreError(engine, transact(add));
  }

  attempts(endpoint: ListedEndpoint, filter: AttemptFilter, page: PageRequest): Promise<Page<ListedAttempt>> {
    return attemptsOf(this.#cell, { endpoint, filter, page });
  }

  undelivered(endpoint: ListedEndpoint, page: PageRequest): Promise<Page<UndeliveredEvent>> {
    return undeliveredOf(this.#cell, { endpoint, page });
  }

  /** Runs a change with the book locked, so changes of one organization come one after another. */
  async #locked<Result>(
    { organizationId, actor, now }: EndpointAct,
    work: (locked: Locked) => Promise<Outcome<Result>>,
  ): Promise<Outcome<Result>> {
    const { engine, transact } = this.#cell;
    const run = async (session: Session): Promise<Outcome<Result>> => {
      const book = await lockBook(this.#cell, session, { organizationId, now });
      // A suspension stops no operator.
      if (book.isSuspended && !isOfOperators(actor)) return refused({ reason: "ORGANIZATION_SUSPENDED" });
      const sql = `${this.#statements.all} ${engine.forUpdate}`;
      const rows = await session.read<ReadEndpointRow>({ sql, bindings: [organizationId] });
      return work({ session, book, stored: rows.map((row) => ({ row, endpoint: shownEndpointOf(row, book.keys) })) });
    };
    try {
      return await orStoreError(engine, transact(run));
    } catch (error) {
      if (error instanceof BookChangedError) return refused({ reason: "ROW_CHANGED", resourceId: organizationId });
      if (error instanceof BookMovingError) return refused({ reason: "BOOK_MOVING" });
      if (error instanceof ClockBehindError) {
        return refused({ reason: "CLOCK_BEHIND", behindMillis: error.behindMillis });
      }
      throw error;
    }
  }

  /** Changes one endpoint. `change` returns what is to be stored, a refusal, or nothing. */
  #changing(given: EndpointChange, change: ChangeEndpoint): Promise<Outcome<Endpoint>> {
    return this.#locked(given, async (all) => {
      const { session, book } = all;
      const stored = all.stored.find(({ endpoint }) => endpoint.id === given.id);
      if (stored === undefined) return refused({ reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId: given.id });
      if (stored.endpoint.disabledReason === "CHANGED") {
        return refused({ reason: "WEBHOOK_ENDPOINT_CHANGED", endpointId: given.id });
      }
      const changed = await change(stored, all);
      if (changed === undefined) return { kind: "done", resource: stored.endpoint, replayed: true };
      if ("reason" in changed) return refused(changed);
      const endpoint: Endpoint = {
        ...changed.endpoint,
        revision: stored.endpoint.revision + 1,
        updatedAt: changed.kind === undefined ? stored.endpoint.updatedAt : book.recordedAt,
      };
      const { logged, retry_at: retryAt, changed_seq: changedSeq } = stored.row;
      const row = rowOf(endpoint, book.keys, {
        logged,
        retry_at: changed.retryAt ?? retryAt,
        changed_seq: changed.kind === undefined ? changedSeq : book.nextSeq,
      });
      await session.write([
        { sql: this.#statements.update, rows: [row] },
        ...(changed.kind === undefined ? [] : eventWrites(this.#cell, book, given, changed.kind)),
      ]);
      return { kind: "done", resource: endpoint, replayed: false };
    });
  }
}

type ChangeEndpoint = (
  stored: StoredEndpoint,
  locked: Locked,
) => Promise<ChangedEndpoint | Refusal | undefined> | ChangedEndpoint | Refusal | undefined;

async function create(
  cell: EndpointsCell,
  { session, book, stored }: Locked,
  given: NewEndpoint,
): Promise<Outcome<Endpoint>> {
  const created = createdEndpoint(given, endpointsOf(stored), book);
  if ("reason" in created) return refused(created);
  const { endpoint, isNew } = created;
  if (!isNew) return { kind: "done", resource: endpoint, replayed: true };
  const { table, insertInto } = cell.engine;
  await session.write([
    ...eventWrites(cell, book, given, "webhook_endpoint.created"),
    {
      sql: insertInto(table("webhook_endpoints"), insertedTypesOf(WEBHOOK_ENDPOINTS)),
      rows: [rowOf(endpoint, book.keys, { logged: 0, retry_at: null, changed_seq: book.nextSeq })],
    },
  ]);
  return { kind: "done", resource: endpoint, replayed: false };
}

/** Adds the secret that the call has made. A replay gets one only by its idempotency key. */
function madeBy({ secret }: { readonly secret: EndpointSecret }, outcome: Outcome<Endpoint>): Outcome<MadeSecret> {
  if (outcome.kind === "refused") return outcome;
  const { resource: endpoint, replayed } = outcome;
  const made = { endpoint, secret: replayed ? keyedSecretOf(endpoint, secret) : secret };
  return { kind: "done", resource: made, replayed };
}

function endpointsOf(stored: readonly StoredEndpoint[]): readonly Endpoint[] {
  return stored.map(({ endpoint }) => endpoint);
}

/** Removes the secrets, the url and the log of an endpoint. Its row stays, without them. */
async function remove(
  cell: EndpointsCell,
  { session, book, stored }: Locked,
  given: EndpointChange,
): Promise<Outcome<WebhookEndpointId>> {
  const statements = endpointStatements(cell.engine);
  const row = stored.find(({ endpoint }) => endpoint.id === given.id)?.row;
  if (row === undefined) {
    const [deleted] = await session.read({ sql: statements.deleted, bindings: [given.id, given.organizationId] });
    if (deleted !== undefined) return { kind: "done", resource: given.id, replayed: true };
    return refused({ reason: "WEBHOOK_ENDPOINT_NOT_FOUND", endpointId: given.id });
  }
  const deleted = deletedRowOf(row, book.keys, { seq: book.nextSeq, at: book.recordedAt });
  await session.read({ sql: statements.removeRetries, bindings: [given.id] });
  await session.read({ sql: statements.removeLog, bindings: [given.id] });
  await session.write([
    { sql: statements.update, rows: [deleted] },
    ...eventWrites(cell, book, given, "webhook_endpoint.deleted"),
  ]);
  return { kind: "done", resource: given.id, replayed: false };
}

function eventWrites(
  cell: Pick<Cell, "engine">,
  book: LockedBook,
  { id, actor }: Pick<EndpointChange, "id" | "actor">,
  kind: BookKind,
): ReturnType<typeof bookRowWrites> {
  return bookRowWrites(cell, book, { kind, detail: id, created: [id, "", ""], actor });
}

function refused(refusal: Refusal): { readonly kind: "refused"; readonly refusal: Refusal } {
  return { kind: "refused", refusal };
}

function one([book]: readonly OpenBook[]): OpenBook {
  if (book === undefined) throw new Error("the organization has no book");
  return book;
}

async function counted(
  session: Session,
  sql: string,
  [id, seq]: readonly [WebhookEndpointId, number],
): Promise<readonly [{ readonly all: number; readonly known: number }]> {
  const rows = await session.read({ sql, bindings: [seq, id] });
  return rows as unknown as readonly [{ readonly all: number; readonly known: number }];
}
