import type { UnixMillis } from "../../src/domain/values/time.js";
import type { Cell } from "../../src/storage/database.js";

/** Commits the commands in one batch. Rejects unless each of them is done. */
export async function commitAll(
  { committer }: Pick<Cell, "committer">,
  commands: Parameters<Cell["committer"]["commit"]>[0],
  now: UnixMillis,
): Promise<void> {
  const results = await committer.commit(commands, now);
  const others = results.filter(({ kind }) => kind !== "done");
  if (others.length > 0) throw new Error(`not done: ${JSON.stringify(others)}`);
}
