import { expect } from "chai";

import { toCents } from "../../src/domain/values/cents.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { type LostNight, lostNight, type NightRow, type OpenPayout } from "../../src/reconcile/lost-night.js";
import type { Break, NamedTransaction } from "../../src/reconcile/reconciliation.js";

const NOW = toUnixMillis(1_764_000_000_000);
const PARTY = "254******678";

function row(receipt: string, given: Partial<NightRow> = {}): NightRow {
  return {
    receipt: receipt as NightRow["receipt"],
    direction: "out",
    amountCents: toCents(1_000),
    kind: "payout",
    reference: undefined,
    phone: PARTY as NightRow["phone"],
    linkedReceipt: undefined,
    completedAt: NOW,
    ...given,
  };
}

const payIn = (receipt: string, given: Partial<NightRow> = {}): NightRow =>
  row(receipt, { direction: "in", kind: "pay_in", reference: "48213374", ...given });

const payout = (id: string, given: Partial<OpenPayout> & { openFlags?: readonly string[]; cents?: number } = {}) => {
  const { openFlags = ["OUTCOME_UNKNOWN"], cents = 1_000, ...others } = given;
  const transaction = { id, amountCents: cents, openFlags } as unknown as OpenPayout["transaction"];
  return { transaction, maskedNumber: PARTY, begunAt: toUnixMillis(NOW - 3_000), ...others };
};

/** All rows are missing in the book. `named` has the transactions that rows name. */
function nightOf(
  rows: readonly NightRow[],
  given: {
    open?: readonly OpenPayout[];
    named?: Readonly<Record<string, Partial<NamedTransaction>>>;
    inBook?: readonly string[];
  } = {},
): { payIns: readonly string[]; results: readonly string[]; doubtful: readonly string[] } {
  const { open = [], named = {}, inBook = [] } = given;
  const seen = new Set<string>();
  const breaks = rows.flatMap(({ receipt, ...rail }): Break[] => {
    const isDouble = seen.has(receipt);
    seen.add(receipt);
    const { [receipt as string]: transaction } = named;
    if (inBook.includes(receipt)) return [];
    const side = { ...rail, receipt, transaction: transaction as NamedTransaction | undefined };
    return [{ kind: isDouble ? "double" : "missing_in_ledger", rail: side, booked: undefined }];
  });
  const night: LostNight = lostNight({ rows, breaks, open });
  return {
    payIns: night.payIns.map(({ receipt }) => receipt),
    results: night.results.map(({ transactionId, receipt }) => `${transactionId} ${receipt}`),
    doubtful: night.doubtful.map(({ receipt, doubt }) => `${receipt} ${doubt}`),
  };
}

const NOTHING = { payIns: [], results: [], doubtful: [] };

describe("the pay-ins of a lost night", () => {
  it("are those of customers that the book lacks, with what the payer typed", () => {
    const rows = [payIn("A1"), payIn("A2"), row("A3", { kind: "charge" })];
    expect(nightOf(rows, { inBook: ["A2"] })).to.deep.equal({ ...NOTHING, payIns: ["A1"] });
    const [found] = lostNight({
      rows: [payIn("A1", { reference: undefined })],
      breaks: [{ kind: "missing_in_ledger", rail: { ...payIn("A1"), transaction: undefined }, booked: undefined }],
      open: [],
    }).payIns;
    expect(found).to.deep.equal({ receipt: "A1", amountCents: 1_000, reference: "", paidAt: NOW });
  });

  for (const [what, rows, doubt] of [
    ["a receipt that the file has twice", [payIn("A1"), payIn("A1", { amountCents: toCents(1) })], "A1 TWICE"],
    [
      "one that the rail took back",
      [payIn("A1"), row("A2", { kind: "reversal", linkedReceipt: "A1" as never })],
      "A1 REVERSED",
    ],
    ["one of unknown kind", [payIn("A1", { kind: "unknown" })], "A1 UNKNOWN_KIND"],
    ["shillings of an own account", [payIn("A1", { kind: "own_transfer" })], "A1 OWN_TRANSFER"],
  ] as const) {
    it(`leave ${what} to a person`, () => {
      expect(nightOf(rows)).to.deep.equal({ ...NOTHING, doubtful: [doubt] });
    });
  }

  const mint = { id: "txn_1", status: "PROCESSING", amountCents: toCents(1_000), openFlags: [] } as never;
  const named = (given: object) => ({ named: { A1: { ...(mint as object), ...given } } });
  it("end the order that they name, if they fit it", () => {
    expect(nightOf([payIn("A1")], named({}))).to.deep.equal({ ...NOTHING, results: ["txn_1 A1"] });
  });
  for (const [what, given] of [
    ["of another amount", { amountCents: 1_001 }],
    ["that has ended", { status: "FAILED" }],
    ["of which the rail has said something else", { openFlags: ["REPORT_DIFFERS"] }],
  ] as const) {
    it(`leave one that names an order ${what} to a person`, () => {
      const doubtful = ["A1 NAMES_AN_ORDER"];
      expect(nightOf([payIn("A1")], named(given))).to.deep.equal({ ...NOTHING, doubtful });
    });
  }
});

describe("a pay-in without a number", () => {
  it("waits for a person: another file may name another one alike", () => {
    const rows = [{ ...payIn("D1"), isUnnumbered: true } as const, payIn("D2")];
    expect(nightOf(rows)).to.deep.include({ payIns: nightOf([payIn("D2")]).payIns, doubtful: ["D1 WITHOUT_NUMBER"] });
  });
});

describe("the results of a lost night", () => {
  it("are the rows that fit one payout alone, by amount, masked party and time", () => {
    const open = [payout("txn_1"), payout("txn_2", { cents: 2_000 })];
    const rows = [row("B1"), row("B2", { amountCents: toCents(2_000) })];
    expect(nightOf(rows, { open })).to.deep.equal({ ...NOTHING, results: ["txn_1 B1", "txn_2 B2"] });
  });

  it("leave a row that fits two payouts, and two rows that fit one, to a person", () => {
    const both = [payout("txn_1"), payout("txn_2")];
    expect(nightOf([row("B1")], { open: both })).to.deep.equal({ ...NOTHING, doubtful: ["B1 FITS_SEVERAL"] });
    const two = [row("B1"), row("B2")];
    const doubtful = ["B1 FITS_SEVERAL", "B2 FITS_SEVERAL"];
    expect(nightOf(two, { open: [payout("txn_1")] })).to.deep.equal({ ...NOTHING, doubtful });
    // One row names the payout, and another one fits it.
    const named = { B1: { id: "txn_1", status: "PROCESSING", amountCents: toCents(1_000), openFlags: [] } } as never;
    expect(nightOf(two, { open: [payout("txn_1")], named })).to.deep.equal({ ...NOTHING, doubtful });
  });

  for (const [what, given, order] of [
    ["another amount", {}, { cents: 1_001 }],
    ["another party", { phone: "254******679" as never }, {}],
    ["no party", { phone: undefined }, {}],
    ["no certain time", { completedAt: undefined }, {}],
    ["a time before the rail was asked", { completedAt: toUnixMillis(NOW - 123_001) }, {}],
    ["a time more than a day later", { completedAt: toUnixMillis(NOW + 86_400_000) }, {}],
    ["the kind of another row", { kind: "own_transfer" }, {}],
    ["an order of which the rail has said something else", {}, { openFlags: ["RECEIPT_ALREADY_USED"] }],
  ] as const) {
    it(`are no row with ${what}`, () => {
      expect(nightOf([row("B1", given)], { open: [payout("txn_1", order)] })).to.deep.equal(NOTHING);
    });
  }

  for (const [what, millis] of [
    ["two minutes before the rail was asked", -123_000],
    ["a day after that", 86_397_000],
  ] as const) {
    it(`are rows up to ${what}`, () => {
      const rows = [row("B1", { completedAt: toUnixMillis(NOW + millis) })];
      expect(nightOf(rows, { open: [payout("txn_1")] }).results).to.deep.equal(["txn_1 B1"]);
    });
  }
});
