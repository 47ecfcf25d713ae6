import type { RailAccountId } from "../domain/payment.js";
import { BLOCKED_MILLIS, BREAKER_READ_MILLIS, UNKNOWN_PAYOUT_MILLIS_MAX, UNKNOWN_PAYOUTS_MAX } from "./limits.js";
import type { Payments } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { OnEvent, Timing } from "./ports/runtime.js";

interface Reading {
  readonly readAt: number;
  readonly beginsPayouts: boolean;
}

interface BreakerOptions {
  readonly payments: Payments;
  readonly timing: Timing;
  readonly onEvent: OnEvent;
}

/**
 * Decides whether new payouts of a rail account begin. Where many outcomes are unknown, something
 * is wrong, and more payouts make more harm. It keeps no state of its own: payouts begin again as
 * soon as the outcomes are known.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #readings = new Map<RailAccountId, Reading>();

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /**
   * The rail accounts for which a payout was lately not begun. A payout that waits is due again
   * after BLOCKED_MILLIS, so an older reading means that none waits.
   */
  get stopped(): number {
    const since = this.#options.timing.monotonicMillis() - 2 * BLOCKED_MILLIS;
    const readings = [...this.#readings.values()];
    return readings.filter(({ readAt, beginsPayouts }) => !beginsPayouts && readAt >= since).length;
  }

  async beginsPayouts({ id, payouts }: RailAccount): Promise<boolean> {
    if (payouts !== "auto") {
      // A person has decided: the breaker holds nothing back.
      this.#readings.delete(id);
      return payouts === "open";
    }
    const readAt = this.#options.timing.monotonicMillis();
    const last = this.#readings.get(id);
    if (last !== undefined && readAt - last.readAt < BREAKER_READ_MILLIS) return last.beginsPayouts;
    const beginsPayouts = await this.#read(id);
    this.#readings.set(id, { readAt, beginsPayouts });
    return beginsPayouts;
  }

  async #read(railAccountId: RailAccountId): Promise<boolean> {
    const { payments, timing, onEvent } = this.#options;
    const { count, oldestBegunAt } = await payments.unknownPayouts(railAccountId);
    const isOld = oldestBegunAt !== undefined && timing.now() - oldestBegunAt >= UNKNOWN_PAYOUT_MILLIS_MAX;
    if (count < UNKNOWN_PAYOUTS_MAX && !isOld) return true;
    onEvent({ kind: "payouts stopped", railAccountId, unknown: count });
    return false;
  }
}
