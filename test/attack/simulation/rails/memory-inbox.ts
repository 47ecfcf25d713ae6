import type { DepositId, TransactionId } from "../../../../src/domain/values/ids.js";
import type { UnixMillis } from "../../../../src/domain/values/time.js";
import type { InboxMessage, RailInbox, StoredMessage } from "../../../../src/settlement/ports/inbox.js";

interface Kept extends InboxMessage {
  readonly dueAt: UnixMillis;
  readonly isSettled: boolean;
}

const TEXTS_MAX = 50;
const RESULTS_MAX = 1_000;

/** The messages of rails, in memory. */
export class MemoryInbox implements RailInbox {
  readonly #messages: Kept[] = [];

  add(
    { transactionId, purpose, body }: Omit<InboxMessage, "id" | "tries" | "receivedAt">,
    now: UnixMillis,
  ): Promise<"stored" | "known" | "full"> {
    const own = this.#messages.filter((message) => message.transactionId === transactionId);
    if (own.some((message) => message.purpose === purpose && message.body === body)) return Promise.resolve("known");
    const ofKind = own.filter((message) => (message.purpose === "status") === (purpose === "status"));
    if (ofKind.length >= (purpose === "status" ? RESULTS_MAX : TEXTS_MAX)) return Promise.resolve("full");
    const at = { receivedAt: now, dueAt: now };
    this.#messages.push({ id: this.#messages.length, transactionId, purpose, body, tries: 0, isSettled: false, ...at });
    return Promise.resolve("stored");
  }

  due({ now, limit }: { now: UnixMillis; limit: number }): Promise<readonly InboxMessage[]> {
    const due = this.open.filter(({ dueAt }) => dueAt <= now);
    return Promise.resolve(due.toSorted((left, right) => left.dueAt - right.dueAt).slice(0, limit));
  }

  postpone(id: number, { dueAt, tries }: { dueAt: UnixMillis; tries: number }): Promise<void> {
    this.#change(id, { dueAt, tries });
    return Promise.resolve();
  }

  settle(id: number): Promise<void> {
    this.#change(id, { isSettled: true });
    return Promise.resolve();
  }

  messages(transactionId: TransactionId): Promise<readonly StoredMessage[]> {
    const own = this.#messages.filter((message) => message.transactionId === transactionId);
    const last = own.findLast(({ purpose, isSettled }) => purpose === "status" && isSettled);
    return Promise.resolve(own.filter((each) => each.purpose !== "status" || !each.isSettled || each === last));
  }

  readonly #returns: { readonly id: DepositId; readonly body: string }[] = [];

  addAboutReturn(id: DepositId, body: string): Promise<"stored" | "known"> {
    if (this.#returns.some((each) => each.id === id && each.body === body)) return Promise.resolve("known");
    this.#returns.push({ id, body });
    return Promise.resolve("stored");
  }

  aboutReturn(id: DepositId): Promise<readonly string[]> {
    return Promise.resolve(this.#returns.filter((each) => each.id === id).map(({ body }) => body));
  }

  /** Every message about one transaction. */
  of(transactionId: TransactionId): readonly Kept[] {
    return this.#messages.filter((message) => message.transactionId === transactionId);
  }

  /** The messages that were not settled. */
  get open(): readonly Kept[] {
    return this.#messages.filter(({ isSettled }) => !isSettled);
  }

  #change(id: number, changes: Partial<Kept>): void {
    const message = this.#messages[id];
    if (message !== undefined) this.#messages[id] = { ...message, ...changes };
  }
}
