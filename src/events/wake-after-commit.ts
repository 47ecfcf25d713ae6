import type { Committer } from "../ledger/ports/committer.js";
import type { Follower } from "./follower.js";

/** Tells the follower of each commit, so that watchers need not wait for its next look. */
export function wakingAfterCommit(committer: Committer, follower: Pick<Follower, "wake">): Committer {
  return {
    batchesMax: committer.batchesMax,
    batchUsual: committer.batchUsual,
    commit: async (commands, now) => {
      const results = await committer.commit(commands, now);
      follower.wake(commands);
      return results;
    },
  };
}
