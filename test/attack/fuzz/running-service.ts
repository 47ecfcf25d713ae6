import { pino } from "pino";

import { startGateway } from "../../../gateway/server.js";
import { SCOPES } from "../../../src/domain/api-key.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { type RunningServer, startServer } from "../../../src/server.js";
import { keys } from "../../../src/storage/keys.js";
import { verify } from "../../../src/verify/verify.js";
import { configOf } from "../../support/config.js";
import { type ENGINES, openTestDatabase } from "../../support/databases.js";
import { RestCaller } from "../../support/rest-caller.js";
import { RpcCaller } from "../../support/rpc-caller.js";

/** An organization with a key that may do everything. */
export interface Tenant {
  readonly organizationId: OrganizationId;
  readonly key: string;
}

/**
 * All that money hangs on, in a few numbers: how long the journal is, what each organization holds
 * and owes, and what the rows of its accounts add up to.
 */
export type Books = Readonly<Record<string, string | number>>;

/**
 * The server and the gateway on real sockets and a real database, in this process: what they log
 * and leave behind is in reach.
 */
export interface RunningService {
  readonly a: Tenant;
  readonly b: Tenant;
  readonly grpc: RpcCaller;
  readonly rest: RestCaller;
  readonly ledger: RunningServer["ledger"];
  /** What both programs have logged. */
  readonly lines: readonly Record<string, unknown>[];
  books(): Promise<Books>;
  /** Stops all, after `kesc verify` has found nothing. */
  dispose(): Promise<void>;
}

const CALL_SECONDS_MAX = 5;

export async function startInProcess(
  engine: (typeof ENGINES)[number],
  now: () => UnixMillis = () => toUnixMillis(Date.now()),
): Promise<RunningService> {
  const opened = await openTestDatabase(engine);
  const { database } = opened;
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const server = await startServer(configOf({ KESC_GRPC_ADDRESS: "127.0.0.1:0" }), { database, logger, now });
  const gateway = await startGateway(
    {
      listen: { host: "127.0.0.1", port: 0 },
      target: server.address,
      logLevel: "info",
      bodyBytesMax: 262_144,
      bulkBytesMax: 1_048_576,
      connectionsMax: 1_000,
      requestsMax: 1_000,
      callSecondsMax: CALL_SECONDS_MAX,
      shutdownGraceSeconds: CALL_SECONDS_MAX,
    },
    logger,
  );
  const grpc = new RpcCaller(server.address);
  const rest = new RestCaller(gateway.address);

  const tenant = async (name: string): Promise<Tenant> => {
    const own = keys(database, now);
    const { id: organizationId } = await own.createOrganization(name);
    const { secret } = await own.createApiKey({ organizationId, name, scopes: SCOPES, expiresAt: undefined });
    return { organizationId, key: secret };
  };
  return {
    a: await tenant("A"),
    b: await tenant("B"),
    grpc,
    rest,
    ledger: server.ledger,
    lines,
    books: async () => (await database.reader.rows<Books>(BOOKS))[0] ?? {},
    async dispose() {
      grpc.close();
      rest.close();
      await gateway.stop();
      await server.stop();
      const { findingsCount, firstFindings } = await verify(database);
      await opened.dispose();
      if (findingsCount > 0) throw new Error(`the books do not hold: ${JSON.stringify(firstFindings)}`);
    },
  };
}

const BOOKS = `
  SELECT (SELECT max(seq) FROM journal) AS seq,
         (SELECT sum(reserve_cents) FROM supply) AS reserve,
         (SELECT sum(available_cents + held_cents) FROM supply) AS owed,
         (SELECT sum(available_cents) FROM accounts) AS available,
         (SELECT sum(held_cents) FROM accounts) AS held,
         (SELECT count(*) FROM accounts) AS accounts,
         (SELECT count(*) FROM transactions) AS transactions`;
