import { Loop } from "../../../runtime/loop.js";
import type { RailAccountId } from "../../domain/payment.js";
import { toUnixMillis } from "../../domain/values/time.js";
import type { RailPeriod, ReceivedPayments, UncreditedRow, UnreadableRow } from "../../rails/rail.js";
import {
  CALL_MILLIS_MAX,
  FRUITLESS_MILLIS,
  FRUITLESS_READINGS_MAX,
  LIST_AGAIN_MILLIS,
  LIST_MILLIS,
  LIST_MILLIS_MAX,
  LISTS_MAX,
  LOOP_MILLIS,
  UNREADABLE_NAMED_MAX,
} from "../limits.js";
import type { DueList } from "../ports/deposits.js";
import type { RailAccount, SettledAccounts } from "../ports/rail-accounts.js";
import type { HeldLease } from "../ports/runtime.js";
import { UnderWay } from "../under-way.js";
import { DepositChores, type DepositChoresOptions } from "./chores.js";
import { ListBooker, type ListBookerOptions, type NotCredited } from "./list-booker.js";
import { DepositReturns, type DepositReturnsOptions } from "./returns.js";
import { causeOf, periodOf, waitAfter } from "./schedule.js";

interface SweeperOptions extends ListBookerOptions, DepositChoresOptions, DepositReturnsOptions {
  readonly railAccounts: Pick<SettledAccounts, "account">;
  readonly lease: HeldLease;
}

/** What this server remembers of the list of a rail account. */
interface Remembered {
  /** The readings in a row that confirmations asked for, and that found nothing new. */
  readonly fruitless: number;
  /** By the monotonic clock: the list is not read before. */
  readonly restsUntil: number;
}

const NOTHING: Remembered = { fruitless: 0, restsUntil: 0 };

/**
 * Reads the lists of received payments, while this server has the lease, and books what came in.
 * Asks rails to return deposits, too. Every list is read from time to time. A confirmation of the
 * rail makes one due at once, and proves nothing. Nothing depends on the lease: the ledger books
 * each receipt once.
 */
export class DepositSweeper {
  readonly #options: SweeperOptions;
  readonly #loop: Loop;
  readonly #booker: ListBooker;
  readonly #chores: DepositChores;
  readonly #returns: DepositReturns;
  readonly #lists: UnderWay<RailAccountId>;
  readonly #remembered = new Map<RailAccountId, Remembered>();
  /** By the monotonic clock: how many rows of the last reading a person must look at. */
  readonly #unreadable = new Map<RailAccountId, { readonly rows: number; readonly readAt: number }>();
  /** The receipts of the rows of other kinds in the last reading. */
  readonly #others = new Map<RailAccountId, ReadonlySet<string>>();

  constructor(options: SweeperOptions) {
    this.#options = options;
    this.#booker = new ListBooker(options);
    this.#chores = new DepositChores(options);
    this.#returns = new DepositReturns(options);
    this.#lists = new UnderWay(options.timing.monotonicMillis);
    const step = async (): Promise<number> => {
      await this.#look().catch(this.#onError);
      return LOOP_MILLIS;
    };
    this.#loop = new Loop({ step, wait: options.timing.wait });
  }

  /**
   * The rows of the last readings that a person must look at. A reading that is older than two
   * rounds does not count: another server reads the list now, or nobody does.
   */
  get unreadableRows(): number {
    const since = this.#options.timing.monotonicMillis() - 2 * LIST_MILLIS;
    return [...this.#unreadable.values()].reduce((sum, { rows, readAt }) => (readAt < since ? sum : sum + rows), 0);
  }

  start(): void {
    this.#loop.start();
  }

  /** Aborts the readings under way. Their lists stay due, for the next holder of the lease. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all([this.#lists.idle(), this.#returns.stop()]);
  }

  async #look(): Promise<void> {
    const { deposits, railAccounts, lease, timing } = this.#options;
    if (lease.leftMillis() < CALL_MILLIS_MAX) return;
    for (const list of await deposits.dueLists(timing.now())) {
      const { railAccountId: id } = list;
      const account = railAccounts.account(id);
      if (this.#lists.size >= LISTS_MAX) break;
      if (account === undefined || this.#lists.has(id) || this.#rests(id)) continue;
      if (this.#options.faults.blocks(account)) continue;
      this.#lists.run(id, () => this.#sweep(list, account), this.#onError);
    }
    await this.#returns.look();
    await this.#chores.look();
  }

  #rests(id: RailAccountId): boolean {
    return (this.#remembered.get(id) ?? NOTHING).restsUntil > this.#options.timing.monotonicMillis();
  }

  async #sweep(list: DueList, account: RailAccount): Promise<boolean> {
    const { deposits, timing, onEvent } = this.#options;
    const { railAccountId } = list;
    const from = timing.monotonicMillis();
    const readAt = timing.now();
    const period = periodOf(list, readAt);
    const received = await this.#read(period, account);
    if (this.#loop.isStopped) return true;
    if (received.kind === "failed") {
      onEvent({ kind: "no list", railAccountId, code: received.code });
      await this.#options.faults.note(account, received.fault);
      return this.#postpone(list);
    }
    const { payments } = received;
    const read = { list, account, period, received };
    const { notCredited, ...booked } = await this.#booker.book(read, this.#loop.signal);
    if (booked.booked + booked.heldBack > 0) onEvent({ kind: "payments found", railAccountId, ...booked });
    this.#tell(list, notCredited);
    if (booked.undecided > 0) return this.#postpone(list);
    const isFruitful = booked.booked > 0;
    const waitMillis = waitAfter(list, isFruitful);
    await deposits.noteRead(list, { readAt, dueAt: toUnixMillis(readAt + waitMillis) });
    const fruitless = this.#remember(list, { isFruitful, millis: timing.monotonicMillis() - from });
    const isInVain = fruitless >= FRUITLESS_READINGS_MAX || (causeOf(list) === "a lag" && waitMillis === LIST_MILLIS);
    if (payments.length === 0 && isInVain) onEvent({ kind: "empty list", railAccountId });
    return true;
  }

  #read(period: RailPeriod, { rail }: RailAccount): Promise<ReceivedPayments> {
    if (rail.receivedPayments === undefined) return Promise.resolve({ kind: "failed", code: "NO_LIST" });
    return rail.receivedPayments(period, AbortSignal.any([this.#loop.signal, AbortSignal.timeout(LIST_MILLIS_MAX)]));
  }

  #tell({ railAccountId }: DueList, { unreadable, unclear, others }: NotCredited): void {
    const { timing, onEvent } = this.#options;
    const unknown = others.filter(({ isKnown }) => !isKnown);
    const rows = [...unreadable, ...unclear, ...unknown];
    this.#unreadable.set(railAccountId, { rows: rows.length, readAt: timing.monotonicMillis() });
    if (rows.length > 0) {
      onEvent({
        kind: "rows not credited",
        railAccountId,
        unreadable: unreadable.length,
        unclear: unclear.length,
        unknownKinds: kindsOf(unknown),
        receipts: receiptsOf(rows),
      });
    }
    const told = this.#others.get(railAccountId);
    const known = others.filter(({ isKnown }) => isKnown);
    this.#others.set(railAccountId, new Set(known.map(({ receipt }) => receipt ?? "")));
    const fresh = known.filter(({ receipt }) => told?.has(receipt ?? "") !== true);
    if (fresh.length === 0) return;
    onEvent({ kind: "other rows", railAccountId, kinds: kindsOf(fresh), receipts: receiptsOf(fresh) });
  }

  async #postpone(list: DueList): Promise<boolean> {
    const { deposits, timing } = this.#options;
    const { fruitless } = this.#remembered.get(list.railAccountId) ?? NOTHING;
    const restsUntil = timing.monotonicMillis() + LIST_AGAIN_MILLIS;
    this.#remembered.set(list.railAccountId, { fruitless, restsUntil });
    await deposits.postpone(list, toUnixMillis(timing.now() + LIST_AGAIN_MILLIS));
    return true;
  }

  /**
   * Lets the list rest for as long as it took, and longer after many readings that found nothing
   * new. Returns their number.
   */
  #remember(list: DueList, { isFruitful, millis }: { isFruitful: boolean; millis: number }): number {
    const before = (this.#remembered.get(list.railAccountId) ?? NOTHING).fruitless;
    const cause = causeOf(list);
    const isOver = isFruitful || cause === "the time";
    const fruitless = isOver ? 0 : before + (cause === "a confirmation" ? 1 : 0);
    const restMillis = fruitless >= FRUITLESS_READINGS_MAX ? FRUITLESS_MILLIS : millis;
    const restsUntil = this.#options.timing.monotonicMillis() + restMillis;
    this.#remembered.set(list.railAccountId, { fruitless, restsUntil });
    return fruitless;
  }

  readonly #onError = (error: unknown): void => {
    this.#options.onEvent({ kind: "error", error });
  };
}

function kindsOf(rows: readonly UncreditedRow[]): readonly string[] {
  return [...new Set(rows.map(({ kind }) => kind))].slice(0, UNREADABLE_NAMED_MAX);
}

function receiptsOf(rows: readonly UnreadableRow[]): readonly string[] {
  return rows.flatMap(({ receipt }) => receipt ?? []).slice(0, UNREADABLE_NAMED_MAX);
}
