import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { statementOf } from "../../../daraja/api/statement.js";
import { applyCharges } from "../../../src/cli/reconcile/apply-charges.js";
import type { Rail } from "../../../src/domain/transaction.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { DepositId, TransactionId } from "../../../src/domain/values/ids.js";
import type { NairobiDay } from "../../../src/domain/values/nairobi-day.js";
import { STATEMENT } from "../../../src/rails/mpesa/reconciliation/statement.js";
import { recordsIn } from "../../../src/reconcile/files/tables.js";
import { reconcile, type Reconciled } from "../../../src/reconcile/reconcile.js";
import { readStatement, statementMovements } from "../../../src/reconcile/statement-movements.js";
import { type ExplainedTie, explainedTie, readTie } from "../../../src/reconcile/tie.js";
import type { InTurn } from "../../../src/statements/ports.js";
import { bookedMovements } from "../../../src/storage/rails/booked-movements.js";
import { historyReads } from "../../../src/storage/statements/history.js";
import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { recordReserve } from "../../support/operations/book.js";
import { correctBook } from "../../support/operations/corrections.js";
import { reverseDeposit } from "../../support/operations/deposits.js";
import { type Business, RailWorld } from "./world.js";

const MPESA = "mpesa" as Rail;
const DAY_MILLIS = 86_400_000;
const BALANCE_MILLIS = 10_000;
const CHARGE_MAX_CENTS = toCents(200_00);
const TWO_PERSONS = ["amina", "brian"];

for (const engine of ENGINES_OF_STAGE) {
  describe(`a month at M-Pesa (${engine})`, () => {
    let world: RailWorld;
    let business: Business;
    let folder: string;
    before(async () => {
      world = await RailWorld.start(engine, 1, { workingCents: 0, utilityCents: 0, c2bVersion: 1 });
      business = world.business(0);
      await world.takeDeposits(business);
      folder = mkdtempSync(join(tmpdir(), "kesc-month-"));
    });
    after(async () => {
      rmSync(folder, { recursive: true });
      await world.dispose();
    });

    async function send(path: string, body: object): Promise<string> {
      const reply = await world.rest.send("POST", path, { key: business.key, body });
      expect(reply.status, reply.text).to.equal(201);
      return String(reply.json["id"]);
    }

    /** Two persons want the same, so that it is done at any amount. */
    async function correct(
      name: "explainTransfer" | "fundCharges" | "bookReceipt",
      given: { readonly receipt: string; readonly amountCents: number; readonly direction?: "in" | "out" },
    ): Promise<void> {
      const { receipt: target, ...rest } = given;
      for (const person of TWO_PERSONS) {
        await world.commit(correctBook(name, business.organizationId, { ...rest, target, key: target, person }));
      }
    }

    /** A month with every movement that a business has, and two that nobody explains. */
    async function live(): Promise<void> {
      const { shortcode, organizationId } = business;
      const funded = world.settle(business, "IN", 500_00);
      await correct("fundCharges", { receipt: funded, amountCents: 500_00, direction: "in" });
      const accounts: { readonly id: string; readonly number: string }[] = [];
      for (const index of [0, 1, 2]) {
        const phone = `+25471234${String(index)}000`;
        const id = await send("/accounts", { user_id: `user-${String(index)}`, phone_number: phone });
        const sql = "SELECT deposit_reference AS number FROM accounts WHERE id = ?";
        const [row] = await world.rows<{ readonly number: string }>(sql, [id]);
        accounts.push({ id, number: row?.number ?? "" });
      }
      const receipts: string[] = [];
      for (let day = 0; day < 10; day += 1) {
        const { id, number } = accounts[day % accounts.length] ?? { id: "", number: "" };
        const payer = { shortcode, msisdn: "254700000000", accountReference: day === 7 ? "rent" : number };
        const end = await world.payByHand({ ...payer, amountCents: (1_000 + day) * 100 });
        if (end.kind !== "paid") throw new Error(`the payment is ${end.kind}`);
        const { number: receipt } = end.receipt;
        receipts.push(receipt);
        await eventually(
          async () => (await world.rows("SELECT id FROM deposits WHERE receipt = ?", [receipt])).length > 0,
          { what: () => `${receipt} is no deposit` },
        );
        await send("/transactions/mint", { account_id: id, amount: 300 + day, reference: `push-${String(day)}` });
        await world.pass(DAY_MILLIS);
        const amount = 120 + day;
        await send("/transactions/redeem", { account_id: id, amount, reference: `payout-${String(day)}` });
        await world.pass(2 * DAY_MILLIS);
      }
      const settled = world.settle(business, "OUT", 2_000_00);
      await correct("explainTransfer", { receipt: settled, amountCents: 2_000_00, direction: "out" });
      const figure = { amountCents: toCents(2_000_00), asOfDay: "2026-02-04" as NairobiDay };
      await world.commit(recordReserve(organizationId, "KCB 1234", figure));
      const sql = "SELECT id, transaction_id FROM deposits WHERE receipt = ?";
      const [first] = await world.rows<{ readonly id: DepositId; readonly transaction_id: TransactionId }>(sql, [
        receipts[0] ?? "",
      ]);
      const receipt = world.reverse(receipts[0] ?? "");
      for (const person of TWO_PERSONS) {
        if (first === undefined) throw new Error("the first payment is no deposit");
        const of = { transactionId: first.transaction_id, receipt, person };
        await world.commit(reverseDeposit(organizationId, first.id, of));
      }
      // Nobody explains these: money that M-Pesa alone has moved, and a receipt that it never had.
      world.settle(business, "OUT", 77_00);
      await correct("bookReceipt", { receipt: "RKTQDM7W33", amountCents: 33_00 });
      await world.pass(DAY_MILLIS);
      await world.askBalance(business, randomUUID());
      await world.pass(BALANCE_MILLIS);
      const isTold = async (): Promise<boolean> =>
        (await world.rows("SELECT id FROM rail_accounts WHERE balance IS NOT NULL")).length > 0;
      await eventually(isTold, { what: () => "M-Pesa has not told the balance" });
    }

    async function compare(): Promise<{ readonly reconciled: Reconciled; readonly tie: ExplainedTie | undefined }> {
      const { organizationId } = business;
      const file = join(folder, "statement.csv");
      writeFileSync(file, statementOf(world.organizationOf(business), world.movedFor(business)));
      const records = () => recordsIn(readFileSync(file), STATEMENT);
      const facts = await readStatement({ name: file, format: STATEMENT, numbers: [], records });
      const owner = await world.owner(business);
      const { cell } = owner;
      const book = await bookedMovements(cell, { organizationId, rail: MPESA });
      const booking = { cell, organizationId, rail: MPESA, book, chargeMaxCents: CHARGE_MAX_CENTS };
      expect(await applyCharges(facts.charges, booking)).to.equal(10);
      expect(await applyCharges(facts.charges, booking)).to.equal(0);
      const inTurn: InTurn = async (read) => (await read()).result;
      const tie = await readTie({ organizationId, reads: historyReads(cell), inTurn }, MPESA);
      const reconciled = await reconcile(statementMovements(facts), book, {
        period: () => facts.period && { ...facts.period, to: tie?.at ?? facts.period.to },
        tieAt: tie?.at,
      });
      return { reconciled, tie: tie && explainedTie(tie, reconciled) };
    }

    it("closes with the breaks that somebody planted, and with no other difference", async () => {
      await live();
      await eventually(async () => (await world.book(business)).held === 0, { what: () => "payouts are under way" });
      const { reconciled, tie } = await compare();
      const breaks = [...reconciled.movements.breaks, ...reconciled.charges.breaks];
      const words = breaks.map(({ kind, rail, booked }) => `${kind} ${String((rail ?? booked)?.amountCents)}`);
      expect(words.sort()).to.deep.equal(["missing_in_ledger 7700", "missing_on_rail 3300"]);
      expect(reconciled.charges.matched).to.deep.equal({ count: 10, inCents: 0n, outCents: 224_00n });
      expect(tie).to.deep.include({ differenceCents: 166_00n, byBreaksCents: -110_00n, unexplainedCents: 0n });
      const { reserve, shortfall, charges, available, held, unallocated } = await world.book(business);
      expect(reserve + shortfall + charges).to.equal(available + held + unallocated);
      expect(charges).to.equal(224_00 - 500_00);
      expect(await world.findings()).to.deep.equal([]);
    });
  });
}
