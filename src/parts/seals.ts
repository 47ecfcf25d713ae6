import type { Logger } from "pino";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { SealKeySource } from "../seals/key-file.js";
import { SealMemoryFile } from "../seals/seal-memory.js";
import { Sealer } from "../seals/sealer.js";
import { failureFacts, failureLog } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { sealStore } from "../storage/seals/seal-store.js";
import { cellLease, type Part, underLease } from "./lease.js";

interface SealsOptions {
  readonly origin: string;
  readonly keyFile: string;
  readonly keys: SealKeySource;
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

/** Puts the sealer of one cell together. */
export function cellSeals(cell: Cell, { origin, keyFile, keys, now, logger }: SealsOptions): Part {
  const onError = failureLog(logger, cell.number, "the sealer failed at a step, and tries it again");
  const lease = cellLease(cell, { name: "seals", onError, logger });
  const sealer = new Sealer({
    store: sealStore(cell),
    lease,
    timing: { now, ...SYSTEM_TIMING },
    origin,
    privateKey: () => keys().privateKey,
    memory: new SealMemoryFile(keyFile, (error) => {
      const facts = { cell: cell.number, ...failureFacts(error) };
      logger.warn(facts, "the newest seals cannot be noted beside the seal key file: a restart forgets them");
    }),
    onError,
    onAlarm: ({ organizationId }, { size, firstSeq, lastSeq, problem }) => {
      logger.error(
        { cell: cell.number, organization_id: organizationId, size, first_seq: firstSeq, last_seq: lastSeq, problem },
        "ALARM: sealed rows of a book were changed; the book gets no more seals until somebody has looked",
      );
    },
  });
  return underLease(lease, sealer);
}
