import type { RailAccountId } from "../domain/payment.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { SettlementLine } from "./ledger-line.js";
import {
  BLOCKED_MILLIS,
  BREAKER_READ_MILLIS,
  UNKNOWN_PAYOUT_MILLIS_MAX,
  UNKNOWN_PAYOUTS_MAX,
  UNKNOWN_PAYOUTS_NAMED_MAX,
} from "./limits.js";
import type { Payments, UnknownPayouts } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { OnEvent, SettlementTiming } from "./ports/runtime.js";

interface AccountReading {
  readonly readAt: number;
  readonly beginsPayouts: boolean;
  /** The payouts of unknown outcome. */
  readonly unknown: number;
}

/** What the breaker holds back. */
export interface Stopped {
  readonly railAccounts: number;
  /** The payouts of unknown outcome for which it does. */
  readonly unknownPayouts: number;
}

/** Returns whether the unknown outcomes hold new payouts back, where no person has decided. */
export function areTooManyUnknown({ count, oldestBegunAt }: UnknownPayouts, now: UnixMillis): boolean {
  const isOld = oldestBegunAt !== undefined && now - oldestBegunAt >= UNKNOWN_PAYOUT_MILLIS_MAX;
  return count >= UNKNOWN_PAYOUTS_MAX || isOld;
}

interface BreakerOptions {
  readonly payments: Payments;
  readonly line: SettlementLine;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/**
 * Decides whether new payouts of a rail account begin. Where many outcomes are unknown, something
 * is wrong, and more payouts make more harm. It keeps no state of its own: payouts begin again as
 * soon as the outcomes are known. It flags the payouts for which it holds others back, because a
 * person may find out what the rail does not tell.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #readings = new Map<RailAccountId, AccountReading>();

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /**
   * The rail accounts for which a payout was lately not begun. A payout that waits is due again
   * after BLOCKED_MILLIS, so an older reading means that none waits.
   */
  get stopped(): Stopped {
    const since = this.#options.timing.monotonicMillis() - 2 * BLOCKED_MILLIS;
    const stopped = [...this.#readings.values()].filter(
      ({ readAt, beginsPayouts }) => !beginsPayouts && readAt >= since,
    );
    return {
      railAccounts: stopped.length,
      unknownPayouts: stopped.reduce((sum, { unknown }) => sum + unknown, 0),
    };
  }

  async beginsPayouts(account: RailAccount): Promise<boolean> {
    const { id, payouts } = account;
    if (payouts !== "auto") {
      // A person has decided: the breaker holds nothing back.
      this.#readings.delete(id);
      return payouts === "open";
    }
    const { payments, timing } = this.#options;
    const readAt = timing.monotonicMillis();
    const last = this.#readings.get(id);
    if (last !== undefined && readAt - last.readAt < BREAKER_READ_MILLIS) return last.beginsPayouts;
    const { count: unknown, oldestBegunAt } = await payments.unknownPayouts(id);
    const beginsPayouts = !areTooManyUnknown({ count: unknown, oldestBegunAt }, timing.now());
    this.#readings.set(id, { readAt, beginsPayouts, unknown });
    if (!beginsPayouts) await this.#tell(account, unknown);
    return beginsPayouts;
  }

  /** Flags the payouts that are not flagged yet, and names them once. */
  async #tell(account: RailAccount, unknown: number): Promise<void> {
    const { payments, line, onEvent } = this.#options;
    const { id: railAccountId } = account;
    const listed = await payments.listUnknownPayouts(railAccountId, UNKNOWN_PAYOUTS_NAMED_MAX);
    const named = listed.filter(({ isFlagged }) => !isFlagged);
    const flagged = await Promise.all(
      named.map((payment) => line.flagUnknown({ payment, account }, payment.lastCode ?? "")),
    );
    const transactionIds = named
      .filter((_, index) => flagged[index]?.kind === "done")
      .map(({ transactionId }) => transactionId);
    if (transactionIds.length > 0) onEvent({ kind: "payouts stopped", railAccountId, unknown, transactionIds });
  }
}
