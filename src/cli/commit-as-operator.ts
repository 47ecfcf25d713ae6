import type { Command, ResourceOf } from "../domain/operations.js";
import { toUnixMillis } from "../domain/values/time.js";
import { Ledger } from "../ledger/ledger.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import type { StoreError } from "../ledger/ports/store.js";
import { now } from "../startup/clock.js";
import type { Cell } from "../storage/database.js";

const NO_DEADLINE = toUnixMillis(Number.MAX_SAFE_INTEGER);

/**
 * Returns a ledger for the commands of the operator in the database, beside the servers. It takes
 * one command at a time. It rejects with a StoreError if the database fails.
 */
export function machineLedger({ committer }: Pick<Cell, "committer">): Pick<Ledger, "submit"> {
  let storeError: StoreError | undefined;
  const ledger = new Ledger({
    committer,
    now,
    batchMax: 1,
    queueMax: 1,
    onStoreError: (error) => (storeError = error),
  });
  return {
    async submit(command, deadline, options) {
      const outcome = await ledger.submit(command, deadline, options);
      if (storeError !== undefined) throw storeError;
      return outcome;
    },
  };
}

/** Commits one command so. */
export function commitAsOperator<C extends Command>(
  cell: Pick<Cell, "committer">,
  command: C,
): Promise<Outcome<ResourceOf<C>>> {
  return machineLedger(cell).submit(command, NO_DEADLINE);
}
