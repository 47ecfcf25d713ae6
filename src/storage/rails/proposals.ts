import type { OperatorName } from "../../domain/proposal.js";
import type { Cell } from "../database.js";

/** Returns who has proposed it, if it waits for a second person. */
export async function standingProposer(
  { engine, reader }: Pick<Cell, "engine" | "reader">,
  subject: string,
): Promise<OperatorName | undefined> {
  const [row] = await reader.rows<{ readonly person: string }>(
    `SELECT person FROM ${engine.table("proposals")} WHERE subject = ? AND done_at IS NULL`,
    [subject],
  );
  return row?.person as OperatorName | undefined;
}
