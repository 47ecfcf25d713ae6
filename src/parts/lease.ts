import { randomUUID } from "node:crypto";

import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import { Lease } from "../leases/lease.js";
import type { Cell } from "../storage/database.js";
import { leases } from "../storage/rails/leases.js";

interface CellLeaseOptions {
  readonly name: "settlement" | "webhooks" | "seals" | "marks" | "payouts" | "checks";
  readonly onError: (error: unknown) => void;
  readonly logger: Logger;
}

/** Makes a lease of one cell for this server. Logs a lease that it takes before its end. */
export function cellLease(cell: Cell, { name, onError, logger }: CellLeaseOptions): Lease {
  const store = leases(cell, ({ leftMillis, because }) => {
    const facts = { cell: cell.number, lease: name, left_seconds: Math.ceil(leftMillis / 1_000), because };
    logger.warn(facts, "a lease was taken before its end");
  });
  return new Lease({ name, holder: randomUUID(), store, timing: SYSTEM_TIMING, onError });
}

/** A part of the server that must be started and stopped. */
export interface Part {
  start(): Promise<void>;
  /** Starts no more work. Waits for the running work, at most for this time. */
  stop(graceMillis: number): Promise<void>;
}

interface Worker {
  start(): void;
  stop(graceMillis: number): Promise<void>;
}

/** Makes a part of workers that ask the lease before each step. It is given back after the last. */
export function underLease(lease: Lease, ...workers: readonly Worker[]): Part {
  return {
    start() {
      lease.start();
      for (const worker of workers) worker.start();
      return Promise.resolve();
    },
    async stop(graceMillis) {
      await Promise.all(workers.map((worker) => worker.stop(graceMillis)));
      await lease.stop();
    },
  };
}
