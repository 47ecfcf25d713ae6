import { problemsInBooks, problemsInJournal, type Service } from "../service.js";
import type { Stage } from "./stage.js";

/**
 * Compares what the service remembers with what it acknowledged, and has its journal verified. The
 * server must run.
 */
export async function checkBooks(stage: Stage, service: Service): Promise<void> {
  const problems = [...(await problemsInBooks(service)), ...(await problemsInJournal(service))];
  for (const problem of problems) stage.blame(problem);
}
