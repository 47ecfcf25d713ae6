import type { Command, ResourceOf } from "../domain/commands.js";
import { toUnixMillis } from "../domain/values/time.js";
import { Ledger } from "../ledger/ledger.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import type { StoreError } from "../ledger/ports/store.js";
import { now } from "../startup/clock.js";
import type { Cell } from "../storage/database.js";

const NO_DEADLINE = toUnixMillis(Number.MAX_SAFE_INTEGER);

/**
 * Commits a command of the operator in the database, beside the servers. Rejects with a StoreError
 * if the database fails.
 */
export async function commitAsOperator<C extends Command>(
  { committer }: Pick<Cell, "committer">,
  command: C,
): Promise<Outcome<ResourceOf<C>>> {
  let storeError: StoreError | undefined;
  const ledger = new Ledger({
    committer,
    now,
    batchMax: 1,
    queueMax: 1,
    onStoreError: (error) => (storeError = error),
  });
  const outcome = await ledger.submit(command, NO_DEADLINE);
  if (storeError !== undefined) throw storeError;
  return outcome;
}
