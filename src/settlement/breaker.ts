import { DESTINATION_KINDS, type DestinationKind } from "../domain/destination.js";
import type { RailAccountId } from "../domain/payment.js";
import { toUnixMillis } from "../domain/values/time.js";
import { toldCodeOf } from "../rails/told-code.js";
import { watchOf } from "./balances.js";
import type { SettlementLine } from "./ledger-line.js";
import { BEGIN_MILLIS_MAX, BLOCKED_MILLIS, BREAKER_READ_MILLIS, UNKNOWN_PAYOUTS_NAMED_MAX } from "./limits.js";
import type { Payments } from "./ports/payments.js";
import type { RailAccount } from "./ports/rail-accounts.js";
import type { SubmitWatch } from "./ports/runtime.js";
import type { OnEvent, SettlementTiming } from "./ports/runtime.js";
import { countOf, tooManyUnknown } from "./unknown-payouts.js";

interface AccountReading {
  readonly readAt: number;
  readonly payOutTo: readonly DestinationKind[];
  /** The payouts of unknown outcome to the kinds that are not among them. */
  readonly unknown: number;
  /** Whether the ledger knows that payouts are held. Undefined if nobody has told it. */
  readonly toldHeld: boolean | undefined;
}

/** What the breaker holds back. */
export interface Stopped {
  readonly railAccounts: number;
  /** The payouts of unknown outcome for which it does. */
  readonly unknownPayouts: number;
}

interface BreakerOptions {
  readonly payments: Payments;
  readonly line: SettlementLine;
  readonly submitWatch: SubmitWatch;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/**
 * Decides whether new payouts of a rail account begin. Where many outcomes are unknown, something
 * is wrong, and more payouts make more harm. It keeps no state of its own: payouts begin again as
 * soon as the outcomes are known. It flags the payouts for which it holds others back, because a
 * person may find out what the rail does not tell, and the ledger warns the organization.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #readings = new Map<RailAccountId, AccountReading>();

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  /** What it holds back. A server without the lease reads nothing, so it holds nothing. */
  get stopped(): Stopped {
    const since = this.#options.timing.monotonicMillis() - 2 * BLOCKED_MILLIS;
    const stopped = this.holding.flatMap((id) => this.#readings.get(id) ?? []).filter(({ readAt }) => readAt >= since);
    return { railAccounts: stopped.length, unknownPayouts: stopped.reduce((sum, { unknown }) => sum + unknown, 0) };
  }

  /** The accounts to look at although no payment is due, because payouts may begin again. */
  get holding(): readonly RailAccountId[] {
    return [...this.#readings].flatMap(([id, { payOutTo }]) =>
      payOutTo.length < DESTINATION_KINDS.length ? [id] : [],
    );
  }

  /** Returns the kinds to which new payouts begin. */
  async payOutTo(account: RailAccount): Promise<readonly DestinationKind[]> {
    const { id, payouts, rail } = account;
    // A person takes its payouts in files, and no outcome is told before the bank's statement.
    if (rail.writeFile !== undefined) return [];
    if (payouts !== "auto" || rail.isSandbox === true) {
      this.#readings.delete(id);
      return payouts === "closed" ? [] : DESTINATION_KINDS;
    }
    const { payments, timing } = this.#options;
    const readAt = timing.monotonicMillis();
    const last = this.#readings.get(id);
    if (last !== undefined && readAt - last.readAt < BREAKER_READ_MILLIS) return last.payOutTo;
    const stopping = await tooManyUnknown(payments, account, timing.now());
    const payOutTo = DESTINATION_KINDS.filter((kind) => stopping.every((each) => each.kind !== kind));
    const unknown = countOf(stopping);
    if (stopping.length > 0) await this.#tell(account, { payOutTo, unknown });
    const isHeld = stopping.length > 0;
    const isTold = last?.toldHeld === isHeld || (await this.#warn(account, unknown));
    this.#readings.set(id, { readAt, payOutTo, unknown, toldHeld: isTold ? isHeld : undefined });
    return payOutTo;
  }

  async #warn(account: RailAccount, unknown: number): Promise<boolean> {
    const { submitWatch, timing, onEvent } = this.#options;
    try {
      const watch = watchOf(account, { unknownPayouts: unknown });
      return (await submitWatch(watch, toUnixMillis(timing.now() + BEGIN_MILLIS_MAX))).kind === "done";
    } catch (error) {
      onEvent({ kind: "error", error });
      return false;
    }
  }

  /** Flags the payouts that stop others and are not flagged yet, and names them once. */
  async #tell(
    account: RailAccount,
    { payOutTo, unknown }: Pick<AccountReading, "payOutTo" | "unknown">,
  ): Promise<void> {
    const { payments, line, onEvent } = this.#options;
    const { id: railAccountId } = account;
    const listed = await payments.listUnknownPayouts(railAccountId, UNKNOWN_PAYOUTS_NAMED_MAX);
    const named = listed.filter(({ isFlagged, numberKind }) => !isFlagged && !payOutTo.includes(numberKind));
    const flagged = await Promise.all(
      named.map((payment) => line.flagUnknown({ payment, account }, toldCodeOf(payment.lastCode ?? ""))),
    );
    const transactionIds = named
      .filter((_, index) => flagged[index]?.kind === "done")
      .map(({ transactionId }) => transactionId);
    if (transactionIds.length > 0) onEvent({ kind: "payouts stopped", railAccountId, unknown, transactionIds });
  }
}
