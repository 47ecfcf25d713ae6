import type { RailReceipt } from "../domain/payment.js";
import type { Transaction } from "../domain/transaction.js";
import type { AccountId, TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { RowKind } from "../rails/statement.js";

/** A movement of shillings as the rail has it. */
export interface RailMovementRow {
  readonly receipt: string;
  /** Undefined if the rail wrote a time that cannot be read for certain. */
  readonly completedAt: UnixMillis | undefined;
  readonly direction: "in" | "out";
  readonly amountCents: number;
  /** What the row is about. A list of what came in has payments of others only. */
  readonly kind: RowKind;
  /** The receipt of the payment that the row is about. */
  readonly linkedReceipt: RailReceipt | undefined;
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
  /** Undefined for a correction of the book by an operator, and for a deposit. */
  readonly transactionId: TransactionId | undefined;
  /** The account that got or gave the KESC. */
  readonly accountId: AccountId | undefined;
  readonly direction: "in" | "out";
  readonly amountCents: number;
  /** When the service accepted the transaction. */
  readonly acceptedAt: UnixMillis;
  /** When the book recorded the movement. */
  readonly recordedAt: UnixMillis;
  /** Shillings that went to another place, or came from there: they are still in the reserve. */
  readonly isTransfer: boolean;
}

export type BreakKind = "missing_in_ledger" | "missing_on_rail" | "amount_differs" | "double";

/** A movement on which the rail and the book differ. */
export interface Break {
  readonly kind: BreakKind;
  readonly rail: RailMovementRow | undefined;
  readonly booked: BookedMovement | undefined;
}

/** The period of the comparison. Both ends belong to it. */
export interface ReconciledPeriod {
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
  /** What the rail says moved. */
  readonly onRail = totals();
  /** What the book has of it, and what the rail lacks. The breaks are what both sums differ by. */
  readonly booked = totals();
  /** Movements of the book that may stand in the statement before this one. Not compared. */
  atTheEdge = 0;
  readonly breaks: Break[] = [];
  /** By how much the rail has more than the book at the moment of the tie, and by what. */
  readonly early = { byTimeCents: 0n, byBreaksCents: 0n };
  readonly #receipts = new Set<string>();
  readonly #adjusted: ReadonlyMap<string, number>;
  /** The transactions without a receipt for which the rail has a row. */
  readonly #named = new Set<string>();

  /** `tieAt` is the moment at which the sums of the rail and the book are compared. */
  constructor(
    adjusted: ReadonlyMap<string, number>,
    private readonly tieAt?: UnixMillis,
  ) {
    this.#adjusted = adjusted;
  }

  /** Takes a row of the rail. `booked` is what the book has under the receipt, at any time. */
  addRail(rail: RailMovementRow, booked: BookedMovement | undefined): void {
    if (this.#receipts.has(rail.receipt)) {
      this.#break({ kind: "double", rail, booked });
      return;
    }
    this.#receipts.add(rail.receipt);
    count(this.onRail, rail);
    const { transaction } = rail;
    if (booked !== undefined) this.#compare(rail, booked);
    else if (isWithoutReceipt(transaction) && !this.#named.has(transaction.id)) {
      this.#named.add(transaction.id);
      this.#compare(rail, bookedBy(transaction));
    } else this.#break({ kind: "missing_in_ledger", rail, booked: undefined });
  }

  /** Takes a movement that the book recorded within the period. */
  addBooked(booked: BookedMovement, { from }: ReconciledPeriod): void {
    const { receipt, transactionId } = booked;
    const isCompared =
      receipt === undefined
        ? transactionId !== undefined && this.#named.has(transactionId)
        : this.#receipts.has(receipt);
    // An operator has taken the whole movement back.
    if (isCompared || this.#netOf(booked) === 0) return;
    if (booked.acceptedAt < from) this.atTheEdge += 1;
    else {
      const asAdjusted = this.#asAdjusted(booked);
      count(this.booked, asAdjusted);
      this.#break({ kind: "missing_on_rail", rail: undefined, booked: asAdjusted });
    }
  }

  #compare(rail: RailMovementRow, booked: BookedMovement): void {
    const asAdjusted = this.#asAdjusted(booked);
    count(this.booked, asAdjusted);
    if (signed(asAdjusted) === signed(rail)) {
      count(this.matched, rail);
      this.early.byTimeCents += BigInt(this.#ahead(rail, booked));
    } else this.#break({ kind: "amount_differs", rail, booked: asAdjusted });
  }

  #asAdjusted(booked: BookedMovement): BookedMovement {
    const net = this.#netOf(booked);
    return { ...booked, direction: net < 0 ? "out" : "in", amountCents: Math.abs(net) };
  }

  #break(found: Break): void {
    this.breaks.push(found);
    // The book has the movement of a double row once, and that is compared already.
    const booked = found.kind === "double" ? undefined : found.booked;
    this.early.byBreaksCents += BigInt(this.#ahead(found.rail, booked));
  }

  /** By how much this movement makes the rail have more than the book at the moment of the tie. */
  #ahead(rail: RailMovementRow | undefined, booked: BookedMovement | undefined): number {
    const { tieAt } = this;
    if (tieAt === undefined || booked?.isTransfer === true) return 0;
    const onRail = rail === undefined || (rail.completedAt ?? 0) > tieAt ? 0 : signed(rail);
    return onRail - (booked === undefined || booked.recordedAt > tieAt ? 0 : signed(booked));
  }

  /** What the book has after all corrections of the movement. What went out is negative. */
  #netOf(booked: BookedMovement): number {
    const added = [booked.receipt, booked.transactionId].map((name) => this.#adjusted.get(name ?? "") ?? 0);
    return added.reduce((sum, cents) => sum + cents, signed(booked));
  }
}

/** What went out is negative. */
export function signed({ direction, amountCents }: Pick<RailMovementRow, "direction" | "amountCents">): number {
  return direction === "in" ? amountCents : -amountCents;
}

/** Whether the rail has told that the transaction is completed, but not its receipt. */
function isWithoutReceipt(transaction: NamedTransaction | undefined): transaction is NamedTransaction {
  return transaction?.status === "COMPLETED" && transaction.railReceipt === undefined;
}

function bookedBy({ id, accountId, type, amountCents, createdAt, updatedAt }: NamedTransaction): BookedMovement {
  return {
    receipt: undefined,
    transactionId: id,
    accountId,
    direction: type === "MINT" ? "in" : "out",
    amountCents,
    acceptedAt: createdAt,
    recordedAt: updatedAt,
    isTransfer: false,
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

/**
 * Whether the rail alone decides about a payment that the book lacks, and that names the
 * transaction. `listed` has the receipts that the rail lists. The book may have the same shillings
 * under a receipt that a person mistyped. To book them again would credit them twice, so a person
 * decides.
 */
export function railDecides(
  { type, status, railReceipt, failure }: NamedTransaction,
  listed: ReadonlySet<string>,
): boolean {
  // A payer may type any reference. What came in must not end a payout.
  if (type !== "MINT") return false;
  switch (status) {
    case "PENDING":
    case "CANCELED":
      return false;
    case "PROCESSING":
      return true;
    case "COMPLETED":
      return railReceipt === undefined || listed.has(railReceipt);
    case "FAILED":
      // An operator has booked what really moved.
      return failure !== "REPORT_DIFFERS";
  }
}
