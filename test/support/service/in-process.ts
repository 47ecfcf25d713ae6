import { MessageChannel } from "node:worker_threads";

import { pino } from "pino";

import { readConfig as readGatewayConfig } from "../../../gateway/config.js";
import { GatewayMetrics } from "../../../gateway/metrics/gateway-metrics.js";
import { startGateway } from "../../../gateway/server.js";
import { textOfSums } from "../../../runtime/metrics/metrics.js";
import type { Environment } from "../../../runtime/variables.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import { type RunningServer, startServer } from "../../../src/server.js";
import type { Database } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { GrpcCaller } from "../callers/grpc-caller.js";
import { RestCaller } from "../callers/rest-caller.js";
import { configOf } from "../config.js";
import { type ENGINES, openTestDatabase } from "../databases.js";
import { findingsIn } from "../findings.js";
import { NO_SEAL_KEY_FILE } from "../master-key.js";
import { expectDocumented } from "../openapi/expect-documented.js";
import { makeTenants, type Tenant } from "./tenants.js";

/**
 * Everything that money depends on, in a few numbers: the length of all books, the sums of the
 * books, and the sums of the accounts' rows.
 */
export type Books = Readonly<Record<string, string | number>>;

/**
 * The server and the gateway on real sockets and a real database, in this process: a test can read
 * their tables.
 */
export interface InProcess {
  readonly a: Tenant;
  readonly b: Tenant;
  /** Calls with no key, unless the call has one. */
  readonly grpc: GrpcCaller;
  /** Calls with no key, unless the call has one. */
  readonly rest: RestCaller;
  /** The address of the gateway: "host:port". */
  readonly address: string;
  /** The address of the server: "host:port". */
  readonly grpcAddress: string;
  readonly database: Database;
  /** Undefined unless KESC_OPERATOR_ADDRESS is set. */
  readonly operatorAddress: string | undefined;
  /** Undefined unless KESC_ADMIN_ADDRESS is set. */
  readonly adminAddress: string | undefined;
  /** Undefined unless KESC_ADMIN_ADDRESS is set. */
  readonly gatewayMetrics: { text(): Promise<string> } | undefined;
  readonly ledger: RunningServer["cells"][number]["ledger"];
  books(): Promise<Books>;
  /** Stops everything. Rejects when the books do not hold. */
  dispose(): Promise<void>;
}

const CALL_MILLIS_MAX = 10_000;

/** `fill` changes the database before the server starts, which reads settings at once only then. */
export async function startInProcess(
  engine: (typeof ENGINES)[number],
  now: () => UnixMillis = () => toUnixMillis(Date.now()),
  environment: Environment = {},
  fill: (database: Database) => Promise<void> = () => Promise.resolve(),
): Promise<InProcess> {
  const opened = await openTestDatabase(engine);
  const { database, cell } = opened;
  await fill(database);
  // Every line is formatted, as in production, and then dropped.
  const logger = pino({}, { write: () => undefined });
  const own = {
    KESC_GRPC_ADDRESS: "127.0.0.1:0",
    KESC_SEAL_KEY_FILE: NO_SEAL_KEY_FILE,
    // The fuzzers call as fast as they can.
    KESC_RATE_CALLS_PER_SECOND: "0",
    KESC_RATE_LISTS_PER_SECOND: "0",
  };
  const server = await startServer(configOf({ ...own, ...environment }), {
    database,
    logger,
    now,
  });
  const config = readGatewayConfig({ KESC_HTTP_ADDRESS: "127.0.0.1:0" }, { isBesideServer: true });
  if (!config.ok) throw new Error(config.problems.join("\n"));
  // As in `kesc serve`, where the gateway has a thread of its own.
  const { port1, port2: calls } = new MessageChannel();
  server.takeCalls(port1, "gateway");
  const gatewayMetrics = server.adminAddress === undefined ? undefined : new GatewayMetrics();
  const gateway = await startGateway(config.config, logger, { metrics: gatewayMetrics, calls });
  const grpc = new GrpcCaller(server.address, { deadlineMillis: CALL_MILLIS_MAX });
  const rest = new RestCaller(gateway.address, { check: expectDocumented });
  const [a, b] = await makeTenants(keys(database, now));
  const [served] = server.cells;
  if (served === undefined) throw new Error("the server has no cell");
  return {
    a,
    b,
    grpc,
    rest,
    address: gateway.address,
    grpcAddress: server.address,
    database,
    operatorAddress: server.operatorAddress,
    adminAddress: server.adminAddress,
    gatewayMetrics: gatewayMetrics && { text: async () => textOfSums([await gatewayMetrics.json()]) },
    ledger: served.ledger,
    books: async () => (await cell.reader.rows<Books>(BOOKS))[0] ?? {},
    async dispose() {
      grpc.close();
      rest.close();
      await gateway.stop();
      await server.stop();
      const findings = await findingsIn(database);
      await opened.dispose();
      if (findings.length > 0) throw new Error(`the books do not hold: ${JSON.stringify(findings)}`);
    },
  };
}

const BOOKS = `
  SELECT (SELECT sum(last_seq) FROM books) AS seq,
         (SELECT sum(reserve_cents) FROM books) AS reserve,
         (SELECT sum(available_cents + held_cents) FROM books) AS owed,
         (SELECT sum(available_cents) FROM accounts) AS available,
         (SELECT sum(held_cents) FROM accounts) AS held,
         (SELECT count(*) FROM accounts) AS accounts,
         (SELECT count(*) FROM transactions) AS transactions`;
