import type { Command, ResourceOf } from "../domain/operations.js";
import type { Ledger } from "../ledger/ledger.js";
import type { Outcome } from "../ledger/ports/outcome.js";
import { now } from "../startup/clock.js";
import type { Cell } from "../storage/database.js";
import { commitNow } from "../storage/organizations/commit-now.js";

/** Returns a ledger for the commands of the operator in the database, beside the servers. */
export function machineLedger(cell: Pick<Cell, "committer">): Pick<Ledger, "submit"> {
  return { submit: (command) => commitNow(cell, command, now()) };
}

/** Commits one command so. */
export function commitAsOperator<C extends Command>(
  cell: Pick<Cell, "committer">,
  command: C,
): Promise<Outcome<ResourceOf<C>>> {
  return commitNow(cell, command, now());
}
