import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import { failureLog } from "../startup/failure-facts.js";
import { Marker } from "../statements/marker.js";
import type { Cell } from "../storage/database.js";
import { markStore } from "../storage/statements/marks.js";
import { cellLease, type Part, underLease } from "./lease.js";

/** Puts the worker of the marks together, with a lease of its own. */
export function cellMarks(cell: Cell, logger: Logger): Part {
  const onError = failureLog(logger, cell.number, "the marks were not written, and are tried again");
  const lease = cellLease(cell, { name: "marks", onError, logger });
  return underLease(lease, new Marker({ store: markStore(cell), lease, timing: SYSTEM_TIMING, onError }));
}
