import type { Logger } from "pino";

import type { Tracing } from "../runtime/tracing/tracing.js";
import type { UnixMillis } from "./domain/values/time.js";
import { Follower, wakingAfterCommit } from "./events/follower.js";
import { eventCodec } from "./grpc/messages/events/event.js";
import { type GrpcServerOptions, type Serving, startGrpcServer } from "./grpc/server.js";
import type { ServedCell } from "./grpc/services/served-cell.js";
import { Ledger } from "./ledger/ledger.js";
import { readsInTurns } from "./ledger/read-turns.js";
import { ServerMetrics } from "./metrics/server-metrics.js";
import { cellChecks } from "./parts/checks.js";
import { eventWriter } from "./parts/event-json.js";
import { wakingHeldPayouts } from "./parts/held-payouts.js";
import type { Part } from "./parts/lease.js";
import { cellMarks } from "./parts/marks.js";
import { type GaugedRails, startAdmin } from "./parts/metrics.js";
import { NEW_IDS, newTransactionId } from "./parts/new-ids.js";
import { startOperators } from "./parts/operators.js";
import { cellPayouts } from "./parts/payouts.js";
import { cellRails } from "./parts/rails.js";
import { cellSeals } from "./parts/seals.js";
import { cellWebhooks } from "./parts/webhooks.js";
import type { SealKeySource } from "./seals/key-file.js";
import { keysOfLog } from "./seals/note.js";
import { readCallbackSecrets } from "./startup/callbacks.js";
import { now as systemClock } from "./startup/clock.js";
import type { Config } from "./startup/config.js";
import { failureFacts, failureLog } from "./startup/failure-facts.js";
import { openServableDatabase } from "./startup/open-database.js";
import { OperatorError } from "./startup/operator-error.js";
import type { Callbacks } from "./startup/rails.js";
import { usableSealKeys } from "./startup/seal-keys.js";
import { usableTls } from "./startup/tls.js";
import { cellOf, type Database } from "./storage/database.js";
import { eventReads } from "./storage/events/event-reads.js";
import { keys } from "./storage/keys.js";
import { KeyUses } from "./storage/organizations/key-uses.js";
import { reads } from "./storage/reads.js";
import { unconfirmedRestore } from "./storage/restores.js";
import { sealReads } from "./storage/seals/seal-store.js";
import { historyReads } from "./storage/statements/history.js";
import { WriteCheck } from "./storage/write-check.js";
import { type Sender, senderTo } from "./webhooks/deliver.js";

// The share of the grace period for answering calls. The rest is for closing the ledger and the
// database.
const DRAIN_SHARE = 0.9;

export interface ServerDependencies {
  readonly logger: Logger;
  /** The system's clock when omitted. */
  readonly now?: () => UnixMillis;
  /** An open, migrated database, which its owner closes. Opened from the config when omitted. */
  readonly database?: Database;
  /** Records calls. Its owner stops it. */
  readonly tracing?: Tracing | undefined;
}

export interface RunningServer {
  /** Where it listens, with its real port. */
  readonly address: string;
  /** Where its metrics are, with the real port. Undefined: they are off. */
  readonly adminAddress: string | undefined;
  /** Where operators call, with the real port. Undefined: the AdminService is off. */
  readonly operatorAddress: string | undefined;
  /** Cell n has the index n. */
  readonly cells: readonly ServedCell[];
  /** Takes the calls of a gateway in another thread of this process. */
  readonly takeCalls: Serving["takeCalls"];
  /** Returns when the certificate in use expires, in Unix milliseconds; undefined without TLS. */
  certificateNotAfter(): number | undefined;
  /**
   * Answers every call that was taken, and takes no more; then closes the ledger and the database.
   * Rejects if calls were cut at the end of the grace period.
   */
  stop(): Promise<void>;
}

const PLANS_REFUSED =
  "what stands before PostgreSQL keeps no prepared statements, so each is planned anew and a lone mint takes twice as " +
  "long: PgBouncer does from version 1.21, with max_prepared_statements (docs/run.md)";

/**
 * Starts the server: database, ledger, gRPC. Sets no signal handler and never ends the process.
 *
 * Throws an OperatorError when it cannot start: no database, an old schema, or an address that is
 * in use.
 */
export async function startServer(config: Config, dependencies: ServerDependencies): Promise<RunningServer> {
  const { logger, now = systemClock, tracing } = dependencies;
  const callbacks =
    config.callbacks === undefined
      ? undefined
      : { settings: config.callbacks, secrets: readCallbackSecrets(config.callbacks) };
  const tls = config.tls === undefined ? undefined : usableTls(config.tls, logger);
  const database =
    dependencies.database ??
    (await openServableDatabase(config.database, {
      onPlansRefused: () => {
        logger.warn(PLANS_REFUSED);
      },
    }));
  const closeDatabase = async (): Promise<void> => {
    if (dependencies.database === undefined) await database.close();
  };
  const sender = senderTo({ allowed: config.webhookHosts, now });
  const writeChecks = database.cells.map((cell) => new WriteCheck(cell));
  const sealKeys = usableSealKeys(config.seals, logger);
  const metrics = config.adminAddress === undefined ? undefined : new ServerMetrics();
  const shared = { metrics, config, callbacks, sealKeys, writeChecks, now, logger };
  const { cells, parts } = openCells(database, { ...shared, tracing, sender });
  const keyUses = new KeyUses(database, now);
  const closeAll = async (): Promise<void> => {
    tls?.close();
    sender.close();
    for (const { follower } of cells) follower.close();
    await Promise.all([keyUses.flush(), ...cells.map(({ ledger }) => ledger.close())]);
    await closeDatabase();
  };
  try {
    await warnOfRestore(database, logger);
    await Promise.all(parts.map((part) => part.start()));
    const given = { ...shared, database, cells, keyUses };
    const grpcOptions = { ...grpcOptionsOf(given), tls, meter: metrics?.calls, tracing };
    const { server, operators, admin } = await startListeners({ ...given, grpcOptions });
    return {
      address: server.address,
      adminAddress: admin?.address,
      operatorAddress: operators?.address,
      cells,
      takeCalls: server.takeCalls,
      certificateNotAfter: () => tls?.notAfter,
      stop: async () => {
        const graceMillis = config.shutdownGraceSeconds * 1_000 * DRAIN_SHARE;
        try {
          await Promise.all([
            server.stop(graceMillis),
            operators?.stop(graceMillis),
            ...parts.map((part) => part.stop(graceMillis)),
          ]);
        } finally {
          await admin?.close();
          await closeAll();
        }
      },
    };
  } catch (error) {
    await Promise.all(parts.map((part) => part.stop(0)));
    tls?.close();
    sender.close();
    await closeDatabase();
    throw addressError(config.grpcAddress, error) ?? error;
  }
}

async function warnOfRestore(database: Database, logger: Logger): Promise<void> {
  const at = await unconfirmedRestore(database);
  if (at === undefined) return;
  const facts = { restored_at: new Date(at).toISOString() };
  logger.warn(facts, "the database was restored: no key and no person is believed before kesc confirm-restore");
}

interface ListenersParts extends GrpcParts, Pick<CellsOptions, "metrics"> {
  readonly cells: readonly OpenCell[];
  readonly grpcOptions: GrpcServerOptions;
}

/** Starts everything that listens. Stops what it has started if one of them cannot start. */
async function startListeners(given: ListenersParts) {
  const { config, database, cells, metrics, sealKeys, grpcOptions, now, logger } = given;
  const server = await startGrpcServer(grpcOptions);
  let operators: Serving | undefined;
  try {
    operators = await startOperators(config, database, { ...grpcOptions, listTurns: server.listTurns });
    const seals = sealKeys !== undefined;
    const admin = await startAdmin(config, { metrics, database, cells, server, seals, logger, now });
    return { server, operators, admin };
  } catch (error) {
    await Promise.all([server.stop(0), operators?.stop(0)]);
    throw error;
  }
}

interface GrpcParts extends Pick<CellsOptions, "config" | "callbacks" | "sealKeys" | "writeChecks" | "now" | "logger"> {
  readonly database: Database;
  readonly cells: readonly ServedCell[];
  readonly keyUses: KeyUses;
}

function grpcOptionsOf(given: GrpcParts): GrpcServerOptions {
  const { config, database, cells, writeChecks, keyUses, sealKeys, callbacks, now, logger } = given;
  return {
    address: config.grpcAddress,
    cellOf: (organization) => cellOf({ cells }, organization),
    keys: keyUses.noting(
      keys(database, now, (id) => {
        logger.error({ key_id: id }, "the row of an API key was written or changed past the service: run kesc verify");
      }),
    ),
    restoreWaits: async () => (await unconfirmedRestore(database)) !== undefined,
    ping: async () => {
      await database.ping(now);
      await Promise.all(writeChecks.map((writes) => writes.check()));
    },
    now,
    ...NEW_IDS,
    webhookHosts: config.webhookHosts,
    phoneCoolingMillis: config.phoneCoolingMillis,
    destinationCoolingMillis: config.destinationCoolingMillis,
    sealPublicKeys: (log) => (sealKeys === undefined ? [] : keysOfLog(sealKeys(), log)),
    callbackSecrets: () => callbacks?.secrets ?? [],
    logger,
    limits: config.grpcLimits,
    listsMax: database.listsMax,
  };
}

interface CellsOptions {
  readonly metrics: ServerMetrics | undefined;
  readonly tracing: Tracing | undefined;
  readonly logger: Logger;
  readonly config: Config;
  readonly callbacks: Callbacks | undefined;
  /** Undefined: no book is sealed. */
  readonly sealKeys: SealKeySource | undefined;
  readonly writeChecks: readonly WriteCheck[];
  readonly sender: Sender;
  readonly now: () => UnixMillis;
}

type OpenCell = ServedCell & GaugedRails & { readonly ledger: Ledger };

/** Makes the parts of each cell. */
function openCells(
  database: Database,
  { metrics, tracing, config, callbacks, sealKeys, writeChecks, sender, now, logger }: CellsOptions,
): { readonly cells: readonly OpenCell[]; readonly parts: readonly Part[] } {
  const parts: Part[] = [];
  const writeEvent = eventWriter();
  const cells = database.cells.map((cell) => {
    const { number } = cell;
    const reading = eventReads(cell);
    const onError = failureLog(logger, number, "the events were not read, and are tried again");
    const follower = new Follower({ reads: reading, codec: eventCodec, onError });
    const waking = wakingHeldPayouts(wakingAfterCommit(cell.committer, follower), cell, logger);
    const committer = metrics?.metered(waking, number) ?? waking;
    const ledger = new Ledger({
      committer,
      now,
      batchMax: config.batchMax,
      queueMax: config.queueMax,
      traceCommit:
        tracing && ((calls, size) => tracing.beginCommit(calls, { "kesc.cell": number, "kesc.batch_size": size })),
      onStoreError: (error, batchSize) => {
        const facts = { cell: number, kind: error.kind, batch_size: batchSize, ...failureFacts(error) };
        logger.error(facts, "a batch was not committed");
        writeChecks[number]?.failed(error);
      },
      onRowChanged: onceForEach((id) => {
        logger.error({ cell: number, resource_id: id }, "a row was changed past the service: run kesc verify");
      }),
    });
    const { railHosts: hosts, payerMillis: typedMillisMax } = config;
    const own = cellRails(cell, { ledger, newTransactionId, typedMillisMax, callbacks, hosts, now, logger });
    const webhooks = cellWebhooks(cell, { reads: reading, sender, writeEvent, ledger, now, logger });
    const { phoneCoolingMillis } = config;
    const payouts = cellPayouts(cell, { ledger, rails: own, phoneCoolingMillis, now, logger });
    const onDecided = metrics?.checkDecisions(number) ?? (() => undefined);
    const checks = cellChecks(cell, { ledger, sender, onDecided, now, logger });
    parts.push(own, webhooks, payouts, checks, cellMarks(cell, logger));
    if (sealKeys !== undefined) parts.push(cellSeals(cell, { ...config.seals, keys: sealKeys, now, logger }));
    const byId = readsInTurns(reads(cell), database.readsMax);
    const past = { history: historyReads(cell), eventReads: reading, follower, seals: sealReads(cell) };
    return { ...own, ...past, ledger, reads: byId, webhooks };
  });
  return { cells, parts };
}

/** The callers of a refused account come back, and one line of the log is enough. */
function onceForEach(note: (id: string) => void): (id: string) => void {
  const noted = new Set<string>();
  return (id) => {
    if (noted.has(id)) return;
    noted.add(id);
    note(id);
  };
}

function addressError(address: string, error: unknown): OperatorError | undefined {
  if (error instanceof OperatorError) return error;
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  if (!/EADDRINUSE|EADDRNOTAVAIL|EACCES|ENOTFOUND|No address added/.test(reason)) return undefined;
  const what = reason.includes("EADDRINUSE") ? "the address is in use already" : "the address is not available";
  const advice = "Stop the program that listens there, or set KESC_GRPC_ADDRESS to another address";
  return new OperatorError(`The gRPC server cannot listen on ${address}: ${what}. ${advice}.`, { cause: error });
}
