import { DESTINATION_KINDS, type DestinationKind } from "../domain/destination.js";
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
  readonly payOutTo: readonly DestinationKind[];
  /** The payouts of unknown outcome to the kinds that are not among them. */
  readonly unknown: number;
}

/** What the breaker holds back. */
export interface Stopped {
  readonly railAccounts: number;
  /** The payouts of unknown outcome for which it does. */
  readonly unknownPayouts: number;
}

/**
 * Returns the unknown outcomes that hold new payouts to the same kind back, where no person has
 * decided. Each kind counts apart: a lost answer about a till says nothing about phones.
 */
export function tooManyUnknown(unknown: readonly UnknownPayouts[], now: UnixMillis): readonly UnknownPayouts[] {
  return unknown.filter(({ count, oldestBegunAt }) => {
    const isOld = oldestBegunAt !== undefined && now - oldestBegunAt >= UNKNOWN_PAYOUT_MILLIS_MAX;
    return count >= UNKNOWN_PAYOUTS_MAX || isOld;
  });
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
      ({ readAt, payOutTo }) => payOutTo.length < DESTINATION_KINDS.length && readAt >= since,
    );
    return {
      railAccounts: stopped.length,
      unknownPayouts: stopped.reduce((sum, { unknown }) => sum + unknown, 0),
    };
  }

  /** Returns the kinds to which new payouts begin. */
  async payOutTo(account: RailAccount): Promise<readonly DestinationKind[]> {
    const { id, payouts } = account;
    if (payouts !== "auto") {
      // A person has decided: the breaker holds nothing back.
      this.#readings.delete(id);
      return payouts === "open" ? DESTINATION_KINDS : [];
    }
    const { payments, timing } = this.#options;
    const readAt = timing.monotonicMillis();
    const last = this.#readings.get(id);
    if (last !== undefined && readAt - last.readAt < BREAKER_READ_MILLIS) return last.payOutTo;
    const stopping = tooManyUnknown(await payments.unknownPayouts(id), timing.now());
    const payOutTo = DESTINATION_KINDS.filter((kind) => stopping.every((each) => each.kind !== kind));
    const unknown = stopping.reduce((sum, { count }) => sum + count, 0);
    this.#readings.set(id, { readAt, payOutTo, unknown });
    if (stopping.length > 0) await this.#tell(account, { payOutTo, unknown });
    return payOutTo;
  }

  /** Flags the payouts that stop others and are not flagged yet, and names them once. */
  async #tell(account: RailAccount, { payOutTo, unknown }: Omit<AccountReading, "readAt">): Promise<void> {
    const { payments, line, onEvent } = this.#options;
    const { id: railAccountId } = account;
    const listed = await payments.listUnknownPayouts(railAccountId, UNKNOWN_PAYOUTS_NAMED_MAX);
    const named = listed.filter(({ isFlagged, numberKind }) => !isFlagged && !payOutTo.includes(numberKind));
    const flagged = await Promise.all(
      named.map((payment) => line.flagUnknown({ payment, account }, payment.lastCode ?? "")),
    );
    const transactionIds = named
      .filter((_, index) => flagged[index]?.kind === "done")
      .map(({ transactionId }) => transactionId);
    if (transactionIds.length > 0) onEvent({ kind: "payouts stopped", railAccountId, unknown, transactionIds });
  }
}
