import type { Audit } from "./audit.js";
import type { Account } from "./clients.js";

/** The result of one service that was killed again and again. */
export interface Result {
  readonly kills: number;
  readonly commands: number;
  readonly retries: number;
  readonly audit: Audit;
  /** Violations: a client or a server met something that must never happen. */
  readonly violations: readonly string[];
  /** The times of a failover, from the end of the primary on. */
  readonly failover?: Failover;
}

export interface Failover {
  /** Whether the connections of the server went silent, and were not closed. */
  readonly silent: boolean;
  readonly millisToPromotion: number;
  /** Until the first good reply to a call that began after the end of the primary. */
  readonly millisToGoodAnswer: number;
}

export function resultOf(
  kills: number,
  { clients, audit, died }: { clients: Account; audit: Audit; died: string | undefined },
): Result {
  const violations = died === undefined ? clients.violations : [...clients.violations, died];
  return { kills, commands: clients.acknowledged.length, retries: clients.retries, audit, violations };
}

/** Lists everything that went wrong. */
export function problemsIn({ audit, violations }: Result): readonly string[] {
  return [...violations, ...audit.lost, ...audit.doubled, ...audit.wrong];
}
