import { begunByClock, type Payment, type RailAccountId } from "../../../../src/domain/payment.js";
import { BEGIN_HELD_REASONS } from "../../../../src/domain/rail-account.js";
import type { Transaction } from "../../../../src/domain/transaction.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import { isCalled, keptCode } from "../../../../src/rails/told-code.js";
import type { Payments, StoredPayment, UnknownPayouts } from "../../../../src/settlement/ports/payments.js";
import type { MemoryDisk } from "../disks/memory-disk.js";

/** What the settlement has noted about a payment. The ledger writes the rest. */
interface Note {
  /** The row to which `dueAt` belongs. The ledger's next row has a time of its own. */
  readonly row: Payment | undefined;
  readonly dueAt: UnixMillis | undefined;
  readonly checks: number;
  readonly code: string | undefined;
  readonly advances: number;
}

const NO_NOTE: Note = { row: undefined, dueAt: undefined, checks: 0, code: undefined, advances: 0 };

/** The payments of a memory disk, for the settlement. */
export class MemoryPayments implements Payments {
  readonly #disk: MemoryDisk;
  readonly #notes = new Map<TransactionId, Note>();

  constructor(disk: MemoryDisk) {
    this.#disk = disk;
  }

  accountsWithDue(now: UnixMillis): Promise<readonly RailAccountId[]> {
    const due = this.all().filter((payment) => isDue(payment, now));
    return Promise.resolve([...new Set(due.map(({ railAccountId }) => railAccountId))]);
  }

  due(
    railAccountId: RailAccountId,
    { now, limit, payOutTo }: Parameters<Payments["due"]>[1],
  ): Promise<readonly StoredPayment[]> {
    const due = this.all()
      .filter((payment) => payment.railAccountId === railAccountId && isDue(payment, now))
      .filter((each) => payOutTo.includes(each.numberKind) || each.state !== "READY" || each.direction === "MINT")
      .toSorted((left, right) => left.dueAt - right.dueAt);
    return Promise.resolve(due.slice(0, limit));
  }

  payment(id: TransactionId): Promise<StoredPayment | undefined> {
    return Promise.resolve(this.find(id));
  }

  reschedule(
    { transactionId, state, checks }: Pick<StoredPayment, "transactionId" | "state" | "checks">,
    next: { dueAt: UnixMillis; checks: number; code: string },
  ): Promise<void> {
    const row = this.#disk.payments.get(transactionId);
    const note = this.#notes.get(transactionId) ?? NO_NOTE;
    const code = keptCode(note.code, next.code);
    if (row?.state === state && note.checks === checks) this.#notes.set(transactionId, { ...note, ...next, code, row });
    return Promise.resolve();
  }

  advance(transactionId: TransactionId, now: UnixMillis): Promise<boolean> {
    const row = this.#disk.payments.get(transactionId);
    if (row === undefined || row.state === "ENDED") return Promise.resolve(false);
    const note = this.#notes.get(transactionId) ?? NO_NOTE;
    this.#notes.set(transactionId, { ...note, row, dueAt: now, advances: note.advances + 1 });
    return Promise.resolve(true);
  }

  forgetHeld({ transactionId, lastCode }: Pick<StoredPayment, "transactionId" | "lastCode">): Promise<void> {
    const note = this.#notes.get(transactionId);
    if (note?.code !== undefined && note.code === lastCode && isHeld(note.code)) {
      this.#notes.set(transactionId, { ...note, code: undefined });
    }
    return Promise.resolve();
  }

  wakeHeld(organizationId: OrganizationId, now: UnixMillis): Promise<void> {
    for (const { transactionId, lastCode, state, dueAt } of this.all()) {
      const [row, note] = [this.#disk.payments.get(transactionId), this.#notes.get(transactionId)];
      const isOwn = row?.organizationId === organizationId && row.direction === "REDEEM" && state === "READY";
      if (note !== undefined && isOwn && isHeld(lastCode) && dueAt > now) {
        this.#notes.set(transactionId, { ...note, row, dueAt: now });
      }
    }
    return Promise.resolve();
  }

  /** No rail of the simulation answers to a question by a message. */
  noteQuestion(): Promise<void> {
    return Promise.resolve();
  }

  endQuestion(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  listUnknownPayouts(railAccountId: RailAccountId, limit: number): Promise<readonly StoredPayment[]> {
    const unknown = this.all().filter(
      (payment) =>
        payment.railAccountId === railAccountId &&
        payment.direction === "REDEEM" &&
        (payment.state === "SENDING" || payment.state === "ACCEPTED") &&
        payment.checks > 0 &&
        !isCalled(payment.lastCode),
    );
    return Promise.resolve(unknown.toSorted((left, right) => left.dueAt - right.dueAt).slice(0, limit));
  }

  async unknownPayouts(railAccountId: RailAccountId): Promise<readonly UnknownPayouts[]> {
    const unknown = Map.groupBy(await this.listUnknownPayouts(railAccountId, Infinity), ({ numberKind }) => numberKind);
    return [...unknown].map(([kind, payments]) => {
      const begun = payments.flatMap(({ begunAt }) => begunAt ?? []).toSorted((left, right) => left - right);
      return { kind, count: payments.length, oldestBegunAt: begun[0] };
    });
  }

  find(id: TransactionId): StoredPayment | undefined {
    const [row, transaction] = [this.#disk.payments.get(id), this.#disk.transactions.get(id)];
    return row === undefined || transaction === undefined ? undefined : this.#stored(row, transaction);
  }

  all(): readonly StoredPayment[] {
    return [...this.#disk.payments.keys()].flatMap((id) => this.find(id as TransactionId) ?? []);
  }

  #stored(row: Payment, { amountCents, status, openFlags, createdAt }: Transaction): StoredPayment {
    const note = this.#notes.get(row.transactionId) ?? NO_NOTE;
    return {
      transactionId: row.transactionId,
      organizationId: row.organizationId,
      railAccountId: row.railAccountId,
      direction: row.direction,
      amountCents,
      status,
      isFlagged: openFlags.length > 0,
      acceptedAt: toUnixMillis(createdAt - row.aheadMillis),
      state: row.state,
      numberKind: row.numberKind,
      number: row.number,
      maskedNumber: row.maskedNumber,
      railReference: row.railReference,
      begunAt: begunByClock(row),
      sends: row.sends,
      turnedAway: row.turnedAway,
      dueAt: (note.row === row ? note.dueAt : undefined) ?? row.dueAt,
      checks: note.checks,
      advances: note.advances,
      lastCode: note.code,
    };
  }
}

function isDue({ state, dueAt }: StoredPayment, now: UnixMillis): boolean {
  return state !== "ENDED" && dueAt <= now;
}

function isHeld(code: string | undefined): boolean {
  return BEGIN_HELD_REASONS.some((reason) => reason === code);
}
