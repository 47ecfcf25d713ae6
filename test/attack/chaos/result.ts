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
  /** From the end of a primary on. */
  readonly failover?: Failover;
}

export interface Failover {
  /** Whether nobody told the server that its connections were gone. */
  readonly silent: boolean;
  readonly millisToPromotion: number;
  /** To the first good answer to a call that began after the primary's end. */
  readonly millisToGoodAnswer: number;
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
