import type { Transaction } from "../domain/transaction.js";
import type { TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";

/** A movement of shillings as the rail has it. */
export interface RailMovementRow {
  readonly receipt: string;
  /** Undefined if the rail wrote a time that cannot be read for certain. */
  readonly completedAt: UnixMillis | undefined;
  readonly direction: "in" | "out";
  readonly amountCents: number;
  /** The transaction that the rail names, if it names one that the book has. */
  readonly transaction: NamedTransaction | undefined;
}

export type NamedTransaction = Pick<
  Transaction,
  | "id"
  | "accountId"
  | "type"
  | "status"
  | "amountCents"
  | "railReceipt"
  | "failure"
  | "openFlags"
  | "createdAt"
  | "updatedAt"
>;

/** A movement of shillings as the book has it. */
export interface BookedMovement {
  /** Undefined if the rail has told the outcome without a receipt. */
  readonly receipt: string | undefined;
  /** Undefined for a correction of the book by an operator. */
  readonly transactionId: TransactionId | undefined;
  readonly direction: "in" | "out";
  readonly amountCents: number;
  /** When the service accepted the transaction. */
  readonly acceptedAt: UnixMillis;
  /** When the book recorded the movement. */
  readonly recordedAt: UnixMillis;
}

export type BreakKind = "missing_in_ledger" | "missing_on_rail" | "amount_differs" | "double";

/** A movement on which the rail and the book differ. */
export interface Break {
  readonly kind: BreakKind;
  readonly rail: RailMovementRow | undefined;
  readonly booked: BookedMovement | undefined;
}

/** The period of the comparison. Both ends belong to it. */
export interface Period {
  readonly from: UnixMillis;
  readonly to: UnixMillis;
}

export interface Totals {
  count: number;
  inCents: bigint;
  outCents: bigint;
}

/**
 * Compares the movements of a rail with those of one book, by receipt. First takes every row of the
 * rail, each with what the book has under its receipt, and then every movement that the book
 * recorded in the period. Keeps the receipts of the rail in memory, some 100 bytes each.
 */
export class Reconciliation {
  readonly matched = totals();
  /** What the rail says moved, and what the book says, within the period. */
  readonly onRail = totals();
  readonly booked = totals();
  /** Movements of the book that may stand in the statement before this one. Not compared. */
  atTheEdge = 0;
  readonly breaks: Break[] = [];
  readonly #receipts = new Set<string>();
  /** The transactions without a receipt for which the rail has a row. */
  readonly #named = new Set<string>();

  /** Takes a row of the rail. `booked` is what the book has under the receipt, at any time. */
  addRail(rail: RailMovementRow, booked: BookedMovement | undefined): void {
    if (this.#receipts.has(rail.receipt)) {
      this.breaks.push({ kind: "double", rail, booked });
      return;
    }
    this.#receipts.add(rail.receipt);
    count(this.onRail, rail);
    const { transaction } = rail;
    if (booked !== undefined) this.#compare(rail, booked);
    else if (isWithoutReceipt(transaction) && !this.#named.has(transaction.id)) {
      this.#named.add(transaction.id);
      this.#compare(rail, bookedBy(transaction));
    } else this.breaks.push({ kind: "missing_in_ledger", rail, booked: undefined });
  }

  /** Takes a movement that the book recorded within the period. */
  addBooked(booked: BookedMovement, { from }: Period): void {
    count(this.booked, booked);
    const { receipt, transactionId } = booked;
    const isCompared =
      receipt === undefined
        ? transactionId !== undefined && this.#named.has(transactionId)
        : this.#receipts.has(receipt);
    if (isCompared) return;
    if (booked.acceptedAt < from) this.atTheEdge += 1;
    else this.breaks.push({ kind: "missing_on_rail", rail: undefined, booked });
  }

  #compare(rail: RailMovementRow, booked: BookedMovement): void {
    const isSame = rail.direction === booked.direction && rail.amountCents === booked.amountCents;
    if (isSame) count(this.matched, rail);
    else this.breaks.push({ kind: "amount_differs", rail, booked });
  }
}

/** Whether the rail has told that the transaction is completed, but not its receipt. */
function isWithoutReceipt(transaction: NamedTransaction | undefined): transaction is NamedTransaction {
  return transaction?.status === "COMPLETED" && transaction.railReceipt === undefined;
}

function bookedBy({ id, type, amountCents, createdAt, updatedAt }: NamedTransaction): BookedMovement {
  return {
    receipt: undefined,
    transactionId: id,
    direction: type === "MINT" ? "in" : "out",
    amountCents,
    acceptedAt: createdAt,
    recordedAt: updatedAt,
  };
}

function totals(): Totals {
  return { count: 0, inCents: 0n, outCents: 0n };
}

function count(sums: Totals, { direction, amountCents }: Pick<RailMovementRow, "direction" | "amountCents">): void {
  sums.count += 1;
  if (direction === "in") sums.inCents += BigInt(amountCents);
  else sums.outCents += BigInt(amountCents);
}
