import type { Audit } from "./audit.js";
import type { Account } from "./clients.js";

/** What came of one service that was killed again and again. */
export interface Result {
  readonly kills: number;
  readonly commands: number;
  readonly retries: number;
  readonly audit: Audit;
  /** What must not happen to a client or a server. */
  readonly violations: readonly string[];
  /** After the kill of a primary; milliseconds. */
  readonly failover?: { readonly untilPromoted: number; readonly untilFirstGoodAnswer: number };
}

export function resultOf(
  kills: number,
  { clients, audit, died }: { clients: Account; audit: Audit; died: string | undefined },
): Result {
  const violations = died === undefined ? clients.violations : [...clients.violations, died];
  return { kills, commands: clients.acknowledged.length, retries: clients.retries, audit, violations };
}

/** Everything that went wrong; none when all held. */
export function problemsIn({ audit, violations }: Result): readonly string[] {
  return [...violations, ...audit.lost, ...audit.doubled, ...audit.wrong];
}
