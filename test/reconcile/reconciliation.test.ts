import { expect } from "chai";

import { toCents } from "../../src/domain/values/cents.js";
import type { AccountId, TransactionId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import {
  type BookedMovement,
  type NamedTransaction,
  type RailMovementRow,
  Reconciliation,
} from "../../src/reconcile/reconciliation.js";

const PERIOD = { from: toUnixMillis(1_000), to: toUnixMillis(2_000) };
const ID = "txn_1" as TransactionId;

function onRail(receipt: string, given: Partial<RailMovementRow> = {}): RailMovementRow {
  const completedAt = toUnixMillis(1_500);
  const of = { kind: "pay_in", linkedReceipt: undefined, transaction: undefined } as const;
  return { receipt, completedAt, direction: "in", amountCents: 100, ...of, ...given };
}

function booked(receipt: string | undefined, given: Partial<BookedMovement> = {}): BookedMovement {
  const [acceptedAt, recordedAt] = [toUnixMillis(1_400), toUnixMillis(1_600)];
  const of = { transactionId: ID, accountId: "acc_1" as AccountId };
  return { receipt, ...of, direction: "in", amountCents: 100, acceptedAt, recordedAt, isTransfer: false, ...given };
}

function named(given: Partial<NamedTransaction> = {}): NamedTransaction {
  return {
    id: ID,
    accountId: "acc_1" as AccountId,
    type: "MINT",
    status: "COMPLETED",
    amountCents: toCents(100),
    failure: undefined,
    railReceipt: undefined,
    openFlags: [],
    createdAt: toUnixMillis(1_400),
    updatedAt: toUnixMillis(1_600),
    ...given,
  };
}

/** Compares, and returns the kinds of the breaks with their receipts. */
function compare(
  rail: readonly (readonly [RailMovementRow, BookedMovement?])[],
  book: readonly BookedMovement[],
  adjusted: Readonly<Record<string, number>> = {},
  tieAt?: number,
): { readonly breaks: readonly string[]; readonly reconciliation: Reconciliation } {
  const reconciliation = new Reconciliation(
    new Map(Object.entries(adjusted)),
    tieAt === undefined ? undefined : toUnixMillis(tieAt),
  );
  for (const [row, found] of rail) reconciliation.addRail(row, found);
  for (const each of book) reconciliation.addBooked(each, PERIOD);
  const breaks = reconciliation.breaks.map((each) => `${each.kind} ${String((each.rail ?? each.booked)?.receipt)}`);
  return { breaks, reconciliation };
}

describe("Reconciliation", () => {
  it("matches a movement that both have, and sums what each says", () => {
    const paid = booked("B", { direction: "out", amountCents: 30 });
    const { breaks, reconciliation } = compare(
      [
        [onRail("A"), booked("A")],
        [onRail("B", { direction: "out", amountCents: 30 }), paid],
      ],
      [booked("A"), paid],
    );
    expect(breaks).to.deep.equal([]);
    const sums = { count: 2, inCents: 100n, outCents: 30n };
    expect(reconciliation).to.deep.include({ matched: sums, onRail: sums, booked: sums, atTheEdge: 0 });
  });

  it("sums what the book has of the rail's rows, also of those that it recorded later", () => {
    const late = booked("A", { recordedAt: toUnixMillis(2_001) });
    const differs = booked("B", { amountCents: 90 });
    const early = booked("C", { acceptedAt: toUnixMillis(999) });
    const rail = [[onRail("A"), late], [onRail("B"), differs], [onRail("D")]] as const;
    const { breaks, reconciliation } = compare(rail, [differs, early, booked("E"), booked("F")], { E: -40, F: -100 });
    expect(breaks).to.deep.equal(["amount_differs B", "missing_in_ledger D", "missing_on_rail E"]);
    expect(reconciliation).to.deep.include({
      onRail: { count: 3, inCents: 300n, outCents: 0n },
      booked: { count: 3, inCents: 250n, outCents: 0n },
    });
    expect(reconciliation.breaks.at(-1)?.booked).to.include({ direction: "in", amountCents: 60 });
  });

  // The rail has a movement at 1,500, and the book at 1,600.
  for (const [what, rail, book, tieAt, byTimeCents, byBreaksCents] of [
    ["the rail has it, and the book not yet", [[onRail("A"), booked("A")]], [booked("A")], 1_550, 100n, 0n],
    ["both have it", [[onRail("A"), booked("A")]], [booked("A")], 1_600, 0n, 0n],
    ["neither has it", [[onRail("A"), booked("A")]], [booked("A")], 1_499, 0n, 0n],
    ["the book has another amount", [[onRail("A"), booked("A", { amountCents: 90 })]], [], 1_600, 0n, 10n],
    ["the book will never have it", [[onRail("A")]], [], 1_600, 0n, 100n],
    ["the rail will never have it", [], [booked("A")], 1_600, 0n, -100n],
    ["it went to another place", [[onRail("A"), booked("A", { isTransfer: true })]], [], 1_550, 0n, 0n],
    [
      "the rail has it twice",
      [
        [onRail("A"), booked("A")],
        [onRail("A"), booked("A")],
      ],
      [],
      1_600,
      0n,
      100n,
    ],
  ] as const) {
    it(`says by what the rail is ahead at the moment of the tie, when ${what}`, () => {
      const { early } = compare(rail, book, {}, tieAt).reconciliation;
      expect(early).to.deep.equal({ byTimeCents, byBreaksCents });
    });
  }

  it("finds what only one side has", () => {
    expect(compare([[onRail("A")]], [booked("B")]).breaks).to.deep.equal(["missing_in_ledger A", "missing_on_rail B"]);
  });

  it("finds another amount, and another direction", () => {
    expect(compare([[onRail("A"), booked("A", { amountCents: 99 })]], []).breaks).to.deep.equal(["amount_differs A"]);
    expect(compare([[onRail("A"), booked("A", { direction: "out" })]], []).breaks).to.deep.equal(["amount_differs A"]);
  });

  it("adds what operators have corrected, by the receipt or by the transaction", () => {
    const less = onRail("A", { amountCents: 90 });
    expect(compare([[less, booked("A")]], [], { A: -10 }).breaks).to.deep.equal([]);
    expect(compare([[less, booked("A")]], [], { A: -9 }).breaks).to.deep.equal(["amount_differs A"]);
    const unnamed = onRail("A", { amountCents: 150, transaction: named() });
    expect(compare([[unnamed]], [booked(undefined)], { [ID]: 50 }).breaks).to.deep.equal([]);
    expect(compare([[onRail("A", { direction: "out" }), booked("A")]], [], { A: -200 }).breaks).to.deep.equal([]);
    // Nothing has moved under a receipt that was mistyped.
    expect(compare([], [booked("B")], { B: -100 }).breaks).to.deep.equal([]);
    expect(compare([[onRail("C")]], [], { C: 100 }).breaks, "the book has no such movement").to.have.length(1);
  });

  it("finds a receipt that the rail has twice", () => {
    const twice = [onRail("A"), booked("A")] as const;
    expect(compare([twice, twice], [booked("A")]).breaks).to.deep.equal(["double A"]);
  });

  it("matches a completion without a receipt by its transaction, once", () => {
    const row = onRail("A", { transaction: named() });
    expect(compare([[row]], [booked(undefined)]).breaks).to.deep.equal([]);
    expect(compare([[row]], []).breaks, "the book recorded it after the period").to.deep.equal([]);
    const again = onRail("B", { transaction: named() });
    expect(compare([[row], [again]], [booked(undefined)]).breaks).to.deep.equal(["missing_in_ledger B"]);
    const other = onRail("A", { transaction: named({ amountCents: toCents(99) }) });
    expect(compare([[other]], []).breaks).to.deep.equal(["amount_differs A"]);
  });

  it("does not take a receipt for an open or failed transaction, nor for one that has another", () => {
    const others = [{ status: "PROCESSING" }, { status: "FAILED" }, { railReceipt: "Z" as never }] as const;
    for (const other of others) {
      expect(compare([[onRail("A", { transaction: named(other) })]], []).breaks).to.deep.equal(["missing_in_ledger A"]);
    }
  });

  it("does not compare what may stand in the statement before", () => {
    const early = booked("A", { acceptedAt: toUnixMillis(999) });
    const { breaks, reconciliation } = compare([], [early]);
    expect(breaks).to.deep.equal([]);
    expect(reconciliation.atTheEdge).to.equal(1);
  });
});
