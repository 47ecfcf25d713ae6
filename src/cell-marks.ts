import type { Logger } from "pino";

import { wait } from "../runtime/wait.js";
import { cellLease } from "./cell-lease.js";
import { failureFacts } from "./startup/failure-facts.js";
import { Marker } from "./statements/marker.js";
import type { Cell } from "./storage/database.js";
import { markStore } from "./storage/statements/marks.js";

/** The worker that writes the marks of one cell. */
interface RunningMarks {
  start(): Promise<void>;
  stop(graceMillis: number): Promise<void>;
}

/** Puts the worker of the marks together, with a lease of its own. */
export function cellMarks(cell: Cell, logger: Logger): RunningMarks {
  const timing = { monotonicMillis: () => performance.now(), wait };
  const onError = (error: unknown): void => {
    logger.error({ cell: cell.number, ...failureFacts(error) }, "the marks were not written, and are tried again");
  };
  const lease = cellLease(cell, { name: "marks", timing, onError, logger });
  const marker = new Marker({ store: markStore(cell), lease, timing, onError });
  return {
    start() {
      lease.start();
      marker.start();
      return Promise.resolve();
    },
    async stop() {
      await marker.stop();
      await lease.stop();
    },
  };
}
