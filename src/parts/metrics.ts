import type { Logger } from "pino";

import type { AdminServer } from "../../runtime/metrics/admin-server.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { GrpcServer } from "../grpc/server.js";
import type { Ledger } from "../ledger/ledger.js";
import type { ServerMetrics } from "../metrics/server-metrics.js";
import type { Config } from "../startup/config.js";
import { failureFacts } from "../startup/failure-facts.js";
import { OperatorError } from "../startup/operator-error.js";
import { cellOf, type Database } from "../storage/database.js";
import { cellState } from "../storage/gauges/cell-state.js";
import type { RunningRails } from "./rails.js";

/** What the gauges show of the rails of a cell. */
export type GaugedRails = Pick<RunningRails, "payoutsStopped" | "unreadableRows">;

interface MetricsOptions {
  readonly metrics: ServerMetrics | undefined;
  readonly database: Database;
  /** Cell n has the index n. */
  readonly cells: readonly (GaugedRails & { readonly ledger: Pick<Ledger, "queueState"> })[];
  readonly server: Pick<GrpcServer, "isServing" | "listsWaiting">;
  /** Whether this server seals the books. */
  readonly seals: boolean;
  readonly logger: Logger;
  readonly now: () => UnixMillis;
}

/**
 * Serves the metrics of the server, if they are on. Throws an OperatorError if their address cannot
 * be used.
 */
export async function startAdmin(
  { adminAddress: listen }: Pick<Config, "adminAddress">,
  { metrics, database, cells, server, seals, logger, now }: MetricsOptions,
): Promise<AdminServer | undefined> {
  if (listen === undefined || metrics === undefined) return undefined;
  const gauged = cells.map(({ ledger, payoutsStopped, unreadableRows }, number) => {
    const readState = cellState(cellOf(database, { cell: number }), database.cells[0]);
    return { number, queue: () => ledger.queueState(), payoutsStopped, unreadableRows, readState };
  });
  try {
    return await metrics.serve({
      listen,
      cells: gauged,
      seals,
      listsWaiting: () => server.listsWaiting(),
      isServing: () => server.isServing(),
      now,
      onError: (error) => {
        logger.error(failureFacts(error), "the metrics could not be read, and are tried again");
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The metrics cannot be served on KESC_ADMIN_ADDRESS: ${reason}. Set it to another address.`;
    throw new OperatorError(message, { cause: error });
  }
}
