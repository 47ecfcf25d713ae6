import type { RailAccountId } from "../../../src/domain/payment.js";
import type { DepositId, OrganizationId, TransactionId } from "../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../src/domain/values/time.js";
import type {
  BookedReceipt,
  Deposits,
  DueList,
  DueReturn,
  NextReading,
  PossibleOrder,
} from "../../../src/settlement/ports/deposits.js";

/** What the settlement must know of deposits, as a test says it. */
export class MemoryDeposits implements Deposits {
  readonly lists = new Map<RailAccountId, DueList>();
  readonly booked = new Set<string>();
  readonly orders = new Map<string, TransactionId>();
  readonly possible: PossibleOrder[] = [];
  hasOrder = false;
  readonly forgotten: { readonly before: UnixMillis; readonly limit: number }[] = [];
  readonly erasedLooks: UnixMillis[] = [];
  nextErased: UnixMillis | undefined;
  /** What `forgetTyped` returns. */
  typed = 0;

  add(list: DueList): void {
    this.lists.set(list.railAccountId, list);
  }

  list(id: RailAccountId): DueList {
    const list = this.lists.get(id);
    if (list === undefined) throw new Error(`there is no list ${id}`);
    return list;
  }

  /** As a confirmation does. */
  confirm(id: RailAccountId, now: UnixMillis): void {
    this.add({ ...this.list(id), dueAt: now });
  }

  dueLists(now: UnixMillis): Promise<readonly DueList[]> {
    return Promise.resolve([...this.lists.values()].filter(({ dueAt }) => dueAt <= now));
  }

  /** What the book tells of those that are `booked`, if a test says it. */
  readonly told = new Map<string, BookedReceipt>();

  bookedReceipts(_id: OrganizationId, receipts: readonly string[]): Promise<ReadonlyMap<string, BookedReceipt>> {
    const known = receipts.filter((receipt) => this.booked.has(receipt));
    const unsaid = { learnedAt: toUnixMillis(Number.MAX_SAFE_INTEGER), orderedAt: undefined };
    return Promise.resolve(new Map(known.map((receipt) => [receipt, this.told.get(receipt) ?? unsaid])));
  }

  orderEndingWith(_id: RailAccountId, idEnd: string): Promise<TransactionId | undefined> {
    return Promise.resolve(this.orders.get(idEnd));
  }

  hasOrderWithoutReceipt(order: PossibleOrder): Promise<boolean> {
    this.possible.push(order);
    return Promise.resolve(this.hasOrder);
  }

  postpone({ railAccountId, dueAt }: Pick<DueList, "railAccountId" | "dueAt">, next: UnixMillis): Promise<void> {
    const list = this.list(railAccountId);
    if (list.dueAt === dueAt) this.add({ ...list, dueAt: next });
    return Promise.resolve();
  }

  noteRead({ railAccountId, dueAt }: Pick<DueList, "railAccountId" | "dueAt">, next: NextReading): Promise<void> {
    const list = this.list(railAccountId);
    this.add({ ...list, ...next, dueAt: list.dueAt === dueAt ? next.dueAt : list.dueAt });
    return Promise.resolve();
  }

  /** The deposits that are RETURNING. */
  readonly returns = new Map<DepositId, DueReturn>();

  dueReturns(now: UnixMillis, limit: number): Promise<readonly DueReturn[]> {
    return Promise.resolve([...this.returns.values()].filter(({ dueAt }) => dueAt <= now).slice(0, limit));
  }

  noteReturn(read: DueReturn, { requests, dueAt }: Pick<DueReturn, "requests" | "dueAt">): Promise<boolean> {
    const own = this.returns.get(read.depositId);
    const isSame = own?.begunAt === read.begunAt && JSON.stringify(own.requests) === JSON.stringify(read.requests);
    if (own === undefined || !isSame) return Promise.resolve(false);
    this.returns.set(own.depositId, { ...own, requests, dueAt: own.dueAt === read.dueAt ? dueAt : own.dueAt });
    return Promise.resolve(true);
  }

  /** As a message about the return does. */
  report(id: DepositId, now: UnixMillis): void {
    const own = this.returns.get(id);
    if (own !== undefined) this.returns.set(id, { ...own, dueAt: now });
  }

  forgetTyped(given: { readonly before: UnixMillis; readonly limit: number }): Promise<number> {
    this.forgotten.push(given);
    return Promise.resolve(this.typed);
  }

  forgetErased({ from }: { readonly from: UnixMillis }): Promise<UnixMillis | undefined> {
    this.erasedLooks.push(from);
    return Promise.resolve(this.nextErased);
  }
}
