import type { OrganizationId, WebhookEndpointId } from "../../domain/values/ids.js";
import type { Attempt, Endpoint } from "../../domain/webhook-endpoint.js";
import type { Page, PageRequest } from "../../ledger/ports/reads.js";
import type {
  AttemptFilter,
  ListedAttempt,
  ListedEndpoint,
  UndeliveredEvent,
  WebhookEndpoints,
} from "../../webhooks/ports/endpoints.js";
import type { Cell } from "../database.js";
import type { Session } from "../sql/engine.js";
import { endpointsSelect, type ReadEndpointRow, shownEndpointOf } from "../sql/records/webhook-endpoint-rows.js";
import { orStoreError } from "../sql/store-error.js";
import { attemptsOf, undeliveredOf } from "./attempts.js";
import { writeLog } from "./log.js";

type EndpointsCell = Pick<Cell, "engine" | "directory" | "transact"> & {
  readonly reader: Pick<Cell["reader"], "rows">;
};

/** Implements the port `WebhookEndpoints` for one cell. */
export class StoredWebhookEndpoints implements WebhookEndpoints {
  readonly #cell: EndpointsCell;

  constructor(cell: EndpointsCell) {
    this.#cell = cell;
  }

  async endpoints(organizationId: OrganizationId): Promise<readonly Endpoint[]> {
    const { engine, reader, directory } = this.#cell;
    const sql = `
      ${endpointsSelect(engine)} WHERE e.organization_id = ? AND e.status <> 'DELETED'
      ORDER BY e.created_at DESC, e.id DESC`;
    const rows = await orStoreError(engine, reader.rows<ReadEndpointRow>(sql, [organizationId]));
    if (rows.length === 0) return [];
    const book = await orStoreError(
      engine,
      directory.book(organizationId, ({ sql, bindings }) => reader.rows(sql, bindings)),
    );
    return rows.map((row) => shownEndpointOf(row, book));
  }

  async endpoint(organizationId: OrganizationId, id: WebhookEndpointId): Promise<Endpoint | undefined> {
    return (await this.endpoints(organizationId)).find((endpoint) => endpoint.id === id);
  }

  async log(id: WebhookEndpointId, attempt: Attempt): Promise<void> {
    const { engine, transact } = this.#cell;
    const count = `
      UPDATE ${engine.table("webhook_endpoints")} SET logged = logged + 1 WHERE id = ? AND status <> 'DELETED'
      RETURNING logged`;
    const add = async (session: Session): Promise<void> => {
      const [row] = await session.read<{ readonly logged: number }>({ sql: count, bindings: [id] });
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
}
