import type { Logger } from "pino";

import type { Command } from "../domain/operations.js";
import type { Committer } from "../ledger/ports/committer.js";
import { failureLog } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { payments } from "../storage/rails/payments.js";

/** The commands that end a wait of `BEGIN_HELD_REASONS`. */
const ENDING: readonly Command["name"][] = ["unfreezeAccount", "resumeOrganization"];

/**
 * Makes payouts due as soon as a commit has ended what they wait for. If this fails, the settlement
 * looks at them some minutes later by itself.
 */
export function wakingHeldPayouts(committer: Committer, cell: Cell, logger: Logger): Committer {
  const stored = payments(cell);
  const onError = failureLog(logger, cell.number, "payouts were not woken, and begin some minutes later");
  return {
    batchesMax: committer.batchesMax,
    batchUsual: committer.batchUsual,
    commit: async (commands, now) => {
      const results = await committer.commit(commands, now);
      const ended = commands.filter(({ name }, index) => ENDING.includes(name) && results[index]?.kind === "done");
      // Nearly every commit ends here.
      if (ended.length === 0) return results;
      const ids = new Set(ended.map(({ organizationId }) => organizationId));
      await Promise.all([...ids].map((id) => stored.wakeHeld(id, now).catch(onError)));
      return results;
    },
  };
}
