import { expect } from "chai";

import type { ReserveFigure } from "../../../src/domain/reserve.js";
import type { TransactionId } from "../../../src/domain/values/ids.js";
import { bankFacts } from "../../../src/reconcile/banks/bank-facts.js";
import { comparedClosing } from "../../../src/reconcile/banks/closing.js";
import { readBankFile } from "../../../src/reconcile/banks/read-bank-file.js";
import type { OpenPayout } from "../../../src/reconcile/lost-night.js";
import type { BookedMovements } from "../../../src/reconcile/ports.js";
import type { BookedMovement } from "../../../src/reconcile/reconciliation.js";
import type { StatementFacts } from "../../../src/reconcile/statement-movements.js";
import { camt053, detail, entry, formOf, mt940 } from "../../support/bank-files.js";
import { depositReference } from "../../support/names.js";

/** What the book has, in cents by receipt. What went out is negative. */
type Booked = Readonly<Record<string, number>>;

/** Stands for the book: a map from receipts to movements. */
function bookOf(
  booked: Booked,
  open: readonly TransactionId[] = [],
): Pick<BookedMovements, "withReceipts" | "openPayouts"> {
  const movements = Object.entries(booked).map(([receipt, cents]) => ({
    receipt,
    direction: cents < 0 ? "out" : "in",
    amountCents: Math.abs(cents),
  }));
  return {
    withReceipts: (receipts) =>
      Promise.resolve(
        movements.filter(({ receipt }) => receipts.includes(receipt)) as (BookedMovement & { receipt: string })[],
      ),
    openPayouts: () => Promise.resolve(open.map((id) => ({ transaction: { id } }) as OpenPayout)),
  };
}

async function factsOf(
  file: string,
  booked: Booked = {},
  open: readonly TransactionId[] = [],
): Promise<StatementFacts> {
  const joined = await readBankFile(Buffer.from(file), formOf({}));
  return bankFacts(joined, { source: "kcb", book: bookOf(booked, open) });
}

/** The rows as texts: kind, receipt, what moved, and the receipt that they are about. */
async function rowsOf(file: string, booked?: Booked): Promise<readonly string[]> {
  const { rows } = await factsOf(file, booked);
  return rows.map(({ kind, receipt, direction, amountCents, linkedReceipt }) =>
    [kind, receipt, direction, amountCents, linkedReceipt].filter((each) => each !== undefined).join(" "),
  );
}

const ofLines = (...lines: readonly string[]): string => mt940({ lines: lines.map((line) => `:61:2611271127${line}`) });

describe("the receipts of a bank's entries", () => {
  it("are the bank's numbers, unless the book has another number of the entry", async () => {
    const file = ofLines("D10,NTRFOURS//FT1");
    expect(await rowsOf(file)).to.deep.equal(["payout kcb:FT1 out 1000"]);
    expect(await rowsOf(file, { "kcb:OURS": -1_000 })).to.deep.equal(["payout kcb:OURS out 1000"]);
    expect(await rowsOf(ofLines("C10,NTRFTHEIRS//FT1"), { "kcb:THEIRS": 1_000 })).to.deep.equal([
      "pay_in kcb:FT1 in 1000",
    ]);
  });

  it("leave a payment out its open payout, by our reference or its first 16 characters", async () => {
    const [one, other] = ["txn_01jd2r6p5vf8ksw3xhb1z7q4ye", "txn_01jd2r6p5vf8ksw3xhb1z7q4yf"] as TransactionId[];
    const whole = "F8KSW3XHB1Z7Q4YE01JD2R6P5V";
    const cut = whole.slice(0, 16);
    const namedIn = async (file: string, open = [one, other] as TransactionId[]) =>
      (await factsOf(file, {}, open)).rows.map(({ transactionId }) => transactionId);
    const inCamt = camt053({ entries: [entry("DBIT 10.00", { details: [detail({ endToEnd: whole })] })] });
    expect(await namedIn(inCamt)).to.deep.equal([one]);
    // Payments of one commit share the first characters of their ids, and so not of our reference.
    expect(await namedIn(ofLines(`D10,NTRF${cut}//FT1`))).to.deep.equal([one]);
    expect(await namedIn(ofLines(`D10,NTRF${cut}//FT1`), [other as TransactionId])).to.deep.equal([undefined]);
    // What a payer writes names no payout, nor does the bank's number of a pay-in.
    expect(await namedIn(ofLines(`C10,NTRF${cut}//FT1`), [one as TransactionId])).to.deep.equal([undefined]);
    expect(await namedIn(ofLines(`C10,NTRFBACK//${cut}`), [one as TransactionId])).to.deep.equal([undefined]);
    // A person finds out which of two it is.
    expect(await namedIn(ofLines(`D10,NTRF${cut}//${cut.replace(/E$/, "F")}`))).to.deep.equal([undefined]);
  });

  it("leave a payment in the account's reference that the payer has typed as a whole field", async () => {
    const typedIn = async (file: string) => (await factsOf(file)).rows.map(({ reference }) => reference);
    const reference = depositReference(5);
    const remitted = (...texts: readonly string[]): string =>
      `<TxDtls><RmtInf>${texts.map((text) => `<Ustrd>${text}</Ustrd>`).join("")}</RmtInf></TxDtls>`;
    const inCamt = (...texts: readonly string[]) =>
      camt053({ entries: [entry("CRDT 10.00", { details: [remitted(...texts)] })] });
    expect(await typedIn(inCamt("rent", reference))).to.deep.equal([reference]);
    expect(await typedIn(inCamt(`rent ${reference}`))).to.deep.equal([`rent ${reference}`]);
    expect(await typedIn(inCamt())).to.deep.equal([undefined]);
    expect(await typedIn(ofLines(`C10,NTRF${reference}//FT1`, `D10,NTRF${reference}//FT2`))).to.deep.equal([
      reference,
      undefined,
    ]);
  });

  it("are in the text of a table, too, where it has our reference", async () => {
    const whole = "F8KSW3XHB1Z7Q4YE01JD2R6P5V";
    const columns = { date: "Date", amount: "Amount", text: "Text" };
    const file = `Date,Text,Amount\n2026-11-27,PAID ${whole} JANE,-10\n2026-11-27,${depositReference(5)},20\n`;
    const joined = await readBankFile(Buffer.from(file), formOf({ columns }));
    const open = ["txn_01jd2r6p5vf8ksw3xhb1z7q4ye" as TransactionId];
    const { rows } = await bankFacts(joined, { source: "kcb", book: bookOf({}, open) });
    const shown = rows.map(({ receipt, transactionId, reference, isUnnumbered = false }) => {
      return [receipt, transactionId, reference, isUnnumbered];
    });
    expect(shown).to.deep.equal([
      [`kcb:${whole}`, open[0], undefined, false],
      ["kcb:20261127.2", undefined, depositReference(5), true],
    ]);
  });

  it("are the day and the place in it for an entry without a number, or with one that is no receipt", async () => {
    const lines = ["C1,NTRFNONREF", "C2,NTRFA//FT1", "D3,NTRFRENT  MAY"];
    expect(await rowsOf(ofLines(...lines))).to.deep.equal([
      "pay_in kcb:20261127.1 in 100",
      "pay_in kcb:FT1 in 200",
      "payout kcb:20261127.3 out 300",
    ]);
  });

  it("tell a charge from its payment, also where the payment stands in an earlier statement", async () => {
    const charge = "D50,NCHGNONREF//FT1";
    for (const file of [ofLines("D1000,NTRFX//FT1", charge), ofLines(charge, "D1000,NTRFX//FT1")]) {
      const { rows, charges } = await factsOf(file);
      expect(rows.map(({ receipt, amountCents }) => [receipt, amountCents])).to.deep.equal([["kcb:FT1", 100_000]]);
      expect([...charges].map(([receipt, { cents }]) => [receipt, cents])).to.deep.equal([["kcb:FT1", -5_000]]);
    }
    expect((await factsOf(ofLines(charge), { "kcb:FT1": -100_000 })).charges.size).to.equal(1);
    // A fee for the month has no payment.
    expect(await rowsOf(ofLines(charge))).to.deep.equal(["payout kcb:FT1 out 5000"]);
  });

  it("tell a reversal from its payment, and name the payment", async () => {
    const reversal = "RC10,NTRFNONREF//FT1";
    const reversed = "reversal kcb:FT1.reversal out 1000 kcb:FT1";
    expect(await rowsOf(ofLines("C10,NTRFNONREF//FT1", reversal))).to.deep.equal(["pay_in kcb:FT1 in 1000", reversed]);
    expect(await rowsOf(ofLines(reversal), { "kcb:FT1": 1_000 })).to.deep.equal([reversed]);
    // It has a number of its own, booked or not.
    expect(await rowsOf(ofLines(reversal), { "kcb:FT1": -1_000 })).to.deep.equal(["reversal kcb:FT1 out 1000"]);
    expect(await rowsOf(ofLines(reversal))).to.deep.equal(["reversal kcb:FT1 out 1000"]);
    expect(await rowsOf(ofLines("RC10,NTRFNONREF"))).to.deep.equal(["reversal kcb:20261127.1 out 1000"]);
  });

  it("are those of a batch's payments, unless the book has the batch", async () => {
    const parts = [detail({ amount: "1.00", bank: "D1" }), detail({ amount: "2.00" })];
    const file = camt053({ entries: [entry("DBIT 3.00", { bank: "B1", details: parts })] });
    expect(await rowsOf(file)).to.deep.equal(["payout kcb:D1 out 100", "payout kcb:20261127.1.2 out 200"]);
    expect(await rowsOf(file, { "kcb:B1": -300 })).to.deep.equal(["payout kcb:B1 out 300"]);
  });

  it("are of whole days in Nairobi", async () => {
    const { period, rows } = await factsOf(ofLines("C1,NTRFNONREF"));
    expect(period).to.deep.equal({
      from: Date.parse("2026-11-27T00:00:00+03:00"),
      to: Date.parse("2026-11-27T23:59:59.999+03:00"),
    });
    expect(rows[0]?.completedAt).to.equal(period?.from);
  });
});

describe("the closing balance of a bank", () => {
  const of = (amountCents: number, asOfDay: string): ReserveFigure => ({ amountCents, asOfDay }) as never;
  for (const [why, cents, figures, state] of [
    ["recorded", 100, [of(100, "2026-11-27")], "agrees"],
    ["recorded otherwise", 100, [of(99, "2026-11-27")], "differs"],
    ["recorded before a later day", 100, [of(100, "2026-11-27"), of(3, "2026-11-28")], "agrees"],
    ["not recorded yet", 100, [of(100, "2026-11-26")], "unrecorded"],
    ["of a new place", 100, [], "unrecorded"],
    ["not recorded, and older than the last figure", 100, [of(100, "2026-11-26"), of(3, "2026-11-28")], "later"],
    ["below zero", -1, [], "overdrawn"],
  ] as const) {
    it(`is ${state} if it is ${why}`, () => {
      const known = figures.find(({ asOfDay }) => asOfDay <= "2026-11-27");
      const compared = comparedClosing({ cents, day: "2026-11-27" as never }, { known, last: figures.at(-1) });
      expect(compared.state).to.equal(state);
    });
  }
});
