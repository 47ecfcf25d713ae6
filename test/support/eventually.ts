import { setTimeout as sleep } from "node:timers/promises";

const PAUSE_MILLIS = 5;

/**
 * Resolves once `condition` holds. Rejects when it does not hold in time; `what` then says what was
 * missing.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  { millisMax = 30_000, what = () => "the condition never held" }: { millisMax?: number; what?: () => string } = {},
): Promise<void> {
  const giveUpAt = Date.now() + millisMax;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(what());
    await sleep(PAUSE_MILLIS);
  }
}
