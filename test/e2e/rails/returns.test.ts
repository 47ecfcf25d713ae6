import { expect } from "chai";

import type { DepositId } from "../../../src/domain/values/ids.js";
import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { returnThroughRail, reverseDeposit } from "../../support/operations/deposits.js";
import { type Business, RailWorld } from "./world.js";

const SECOND_MILLIS = 1_000;
const HOUR_MILLIS = 3_600_000;
const AMOUNT_CENTS = 100_00;
const TWO_PERSONS = ["amina", "brian"];

interface DepositRow {
  readonly id: DepositId;
  readonly status: string;
  readonly reason: string | null;
}

for (const engine of ENGINES_OF_STAGE) {
  describe(`a deposit that M-Pesa returns (${engine})`, () => {
    let world: RailWorld;
    let business: Business;
    before(async () => {
      world = await RailWorld.start(engine, 1, { c2bVersion: 1 });
      business = world.business(0);
      await world.takeDeposits(business);
    });
    after(() => world.dispose());
    afterEach(async () => {
      expect(await world.findings()).to.deep.equal([]);
    });

    async function depositOf(receipt: string): Promise<DepositRow> {
      const [row] = await world.rows<DepositRow>("SELECT id, status, reason FROM deposits WHERE receipt = ?", [
        receipt,
      ]);
      if (row === undefined) throw new Error(`${receipt} is no deposit`);
      return row;
    }

    /** Two persons want M-Pesa to return a payment. */
    async function wantReturn(receipt: string): Promise<void> {
      const { id } = await depositOf(receipt);
      for (const person of TWO_PERSONS) {
        await world.commit(returnThroughRail(business.organizationId, id, { person }));
      }
      expect((await depositOf(receipt)).status).to.equal("RETURNING");
    }

    /** A payer names no account. */
    async function paid(ending = "00"): Promise<string> {
      const { shortcode } = business;
      const payer = { shortcode, msisdn: `2547000000${ending}`, accountReference: "rent", amountCents: AMOUNT_CENTS };
      const end = await world.payByHand(payer);
      if (end.kind !== "paid") throw new Error(`the payment is ${end.kind}`);
      const { number } = end.receipt;
      const isThere = async (): Promise<boolean> =>
        (await world.rows("SELECT id FROM deposits WHERE receipt = ?", [number])).length > 0;
      await eventually(isThere, { what: () => `${number} is no deposit` });
      return number;
    }

    /** What left M-Pesa's account of the business for the payment, as the receipts of that. */
    const reversalsOf = (receipt: string): readonly string[] =>
      world
        .movedFor(business)
        .filter(({ reversedReceipt }) => reversedReceipt === receipt)
        .map(({ number }) => number);

    const receiptsInBook = async (id: DepositId): Promise<readonly (string | null)[]> => {
      const sql = "SELECT kind, rail_receipt FROM journal WHERE detail LIKE ? AND kind = 'deposit.returned'";
      const rows = await world.rows<{ rail_receipt: string | null }>(sql, [`${id}%`]);
      return rows.map(({ rail_receipt: receipt }) => receipt);
    };

    for (const [what, ending, millis, requests] of [
      ["is booked with the receipt of the reversal", "00", 5 * SECOND_MILLIS, 1],
      ["is sent again after a lost answer, and moves once", "08", 3 * 60 * SECOND_MILLIS, 2],
    ] as const) {
      it(what, async () => {
        const receipt = await paid(ending);
        const before = await world.book(business);
        await wantReturn(receipt);
        await world.pass(millis);
        const { id, status } = await depositOf(receipt);
        expect(status).to.equal("RETURNED");
        const reversals = reversalsOf(receipt);
        expect(reversals).to.have.lengthOf(1);
        expect(await receiptsInBook(id)).to.deep.equal(reversals);
        const after = await world.book(business);
        expect([before.reserve - after.reserve, before.unallocated - after.unallocated]).to.deep.equal([
          AMOUNT_CENTS,
          AMOUNT_CENTS,
        ]);
        const sql = "SELECT id FROM rail_messages WHERE transaction_id = ? AND purpose = 'return'";
        expect(await world.rows(sql, [id])).to.have.lengthOf(requests);
      });
    }

    it("waits again if M-Pesa refuses it, and can be returned later", async () => {
      const receipt = await paid();
      const { utilityCents } = world.organizationOf(business);
      world.setMpesa(business, { utilityCents: 0 });
      await wantReturn(receipt);
      await world.pass(5 * SECOND_MILLIS);
      const { id, ...refused } = await depositOf(receipt);
      expect(refused).to.deep.equal({ status: "UNALLOCATED", reason: "RETURN_FAILED" });
      world.setMpesa(business, { utilityCents });
      await wantReturn(receipt);
      await world.pass(5 * SECOND_MILLIS);
      expect((await depositOf(receipt)).status).to.equal("RETURNED");
      expect(await receiptsInBook(id)).to.deep.equal(reversalsOf(receipt));
      const { json } = await world.rest.send("GET", "/events?types=deposit.*", { key: business.key });
      const events = json["events"] as readonly {
        readonly type: string;
        readonly deposit: Readonly<Record<string, unknown>>;
      }[];
      const own = events.filter(({ deposit }) => deposit["id"] === id);
      expect(own.map(({ type, deposit: { status, reason } }) => [type, status, reason])).to.deep.equal([
        ["deposit.received", "unallocated", "unknown_reference"],
        ["deposit.returning", "returning", null],
        ["deposit.return_failed", "unallocated", "return_failed"],
        ["deposit.returning", "returning", null],
        ["deposit.returned", "returned", null],
      ]);
    });

    for (const [what, ending, isByHand] of [
      ["if somebody has reversed it by hand", "00", true],
      ["if the result of its own reversal is lost", "15", false],
    ] as const) {
      it(`stays RETURNING ${what}, until the statement says with which receipt`, async () => {
        const receipt = await paid(ending);
        const byHand = isByHand ? [world.reverse(receipt)] : [];
        await wantReturn(receipt);
        // M-Pesa says that it was reversed before. Nothing asks it again.
        await world.pass(2 * HOUR_MILLIS);
        const { id, status } = await depositOf(receipt);
        expect(status).to.equal("RETURNING");
        const [reversal = "", ...others] = reversalsOf(receipt);
        expect(others).to.deep.equal([]);
        if (isByHand) expect(byHand).to.deep.equal([reversal]);
        for (const person of TWO_PERSONS) {
          await world.commit(reverseDeposit(business.organizationId, id, { receipt: reversal, person }));
        }
        expect((await depositOf(receipt)).status).to.equal("RETURNED");
        expect(await receiptsInBook(id)).to.deep.equal([reversal]);
        await world.pass(HOUR_MILLIS);
        expect(reversalsOf(receipt)).to.deep.equal([reversal]);
      });
    }
  });
}
