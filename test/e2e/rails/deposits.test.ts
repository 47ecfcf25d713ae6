import { expect } from "chai";

import type { HandPaymentEnd } from "../../../daraja/api/c2b.js";
import { MAX_CENTS } from "../../../src/domain/values/cents.js";
import { ENGINES_OF_STAGE } from "../../support/databases.js";
import { eventually } from "../../support/eventually.js";
import { type Business, RailWorld } from "./world.js";

const MINUTE_MILLIS = 60_000;
/** Longer than the service waits between two readings of a list. */
const READ_AGAIN_MILLIS = 11 * MINUTE_MILLIS;
const AMOUNT_CENTS = 100_00;

interface DepositRow {
  readonly receipt: string;
  readonly status: string;
  readonly reason: string | null;
  readonly amount_cents: number;
  readonly account_id: string | null;
  readonly has_typed: number;
}

interface MintRow {
  readonly account_id: string;
  readonly rail_receipt: string | null;
  readonly is_deposit: number;
  readonly status: string;
  readonly amount_cents: number;
}

interface Account {
  readonly id: string;
  readonly number: string;
}

for (const engine of ENGINES_OF_STAGE) {
  describe(`payments by hand at M-Pesa (${engine})`, () => {
    let world: RailWorld;
    let business: Business;
    let users = 0;
    before(async () => {
      world = await RailWorld.start(engine, 1, { isValidationActive: true, c2bVersion: 1 });
      business = world.business(0);
      await world.takeDeposits(business);
    });
    after(() => world.dispose());

    async function send(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
      const reply = await world.rest.send(method, path, { key: business.key, ...(body && { body }) });
      expect(reply.status, reply.text).to.be.within(200, 201);
      return reply.json;
    }

    /** The ending of the phone number chooses what becomes of a push. */
    async function newAccount(ending = "00"): Promise<Account> {
      users += 1;
      const phone = `+2547${String(users).padStart(6, "0")}${ending}`;
      const { id } = await send("POST", "/accounts", { user_id: `user-${String(users)}`, phone_number: phone });
      const [row] = await world.rows<{ number: string }>(
        "SELECT deposit_reference AS number FROM accounts WHERE id = ?",
        [String(id)],
      );
      return { id: String(id), number: row?.number ?? "" };
    }

    /** The ending of the phone number chooses what becomes of the confirmation. */
    function pay(accountReference: string, ending = "00", amountCents = AMOUNT_CENTS): Promise<HandPaymentEnd> {
      const msisdn = `2547000000${ending}`;
      return world.payByHand({ shortcode: business.shortcode, msisdn, amountCents, accountReference });
    }

    async function paid(accountReference: string, ending = "00"): Promise<string> {
      const end = await pay(accountReference, ending);
      if (end.kind !== "paid") throw new Error(`the payment is ${end.kind}`);
      return end.receipt.number;
    }

    async function refusal(accountReference: string, amountCents = AMOUNT_CENTS): Promise<string | undefined> {
      const end = await pay(accountReference, "00", amountCents);
      return end.kind === "refused" ? end.payment.code : undefined;
    }

    const deposits = (): Promise<readonly DepositRow[]> =>
      world.rows(`
        SELECT receipt, status, reason, amount_cents, account_id,
          CASE WHEN typed_reference IS NULL THEN 0 ELSE 1 END AS has_typed FROM deposits`);
    const depositOf = async (receipt: string): Promise<DepositRow | undefined> =>
      (await deposits()).find((row) => row.receipt === receipt);
    const mintsOf = ({ id }: Account): Promise<readonly MintRow[]> =>
      world.rows(
        `SELECT account_id, rail_receipt, CASE WHEN deposit_id IS NULL THEN 0 ELSE 1 END AS is_deposit, status,
           amount_cents FROM transactions WHERE account_id = ? ORDER BY seq`,
        [id],
      );
    const isCredited = async (receipt: string): Promise<boolean> => (await depositOf(receipt))?.status === "CREDITED";
    const credited = (receipt: string): Promise<void> =>
      eventually(() => isCredited(receipt), { what: () => `${receipt} was not credited` });

    it("credits the account whose number the payer typed, also with blanks in it", async () => {
      const account = await newAccount();
      const receipt = await paid(`${account.number.slice(0, 4)} ${account.number.slice(4)}`);
      await credited(receipt);
      expect(await mintsOf(account)).to.deep.equal([
        {
          account_id: account.id,
          rail_receipt: receipt,
          is_deposit: 1,
          status: "COMPLETED",
          amount_cents: AMOUNT_CENTS,
        },
      ]);
      expect(await send("GET", `/accounts/${account.id}`)).to.include({ available_balance: 100 });
    });

    it("credits a payment whose confirmation comes twice once", async () => {
      const account = await newAccount();
      await credited(await paid(account.number, "06"));
      await world.pass(READ_AGAIN_MILLIS);
      expect(await mintsOf(account)).to.have.lengthOf(1);
    });

    it("finds a payment whose confirmation is lost at the next reading of the list", async () => {
      const account = await newAccount();
      const receipt = await paid(account.number, "05");
      await world.pass(READ_AGAIN_MILLIS);
      await credited(receipt);
    });

    it("finds a payment that the list shows only some time after its confirmation", async () => {
      world.setMpesa(business, { pullLagMillis: 20_000 });
      const account = await newAccount();
      const receipt = await paid(account.number);
      await isRead();
      expect(await depositOf(receipt)).to.equal(undefined);
      for (let waits = 0; waits < 2; waits += 1) {
        await world.pass(MINUTE_MILLIS / 2);
        await isRead();
      }
      world.setMpesa(business, { pullLagMillis: 0 });
      await credited(receipt);
    });

    /** Resolves once no list is due. */
    function isRead(): Promise<void> {
      return eventually(async () => {
        const [row] = await world.rows<{ due: number; read: number | null }>(
          "SELECT deposits_due_at AS due, deposits_read_at AS read FROM rail_accounts",
        );
        return row !== undefined && row.due > (row.read ?? Infinity);
      });
    }

    it("keeps a payment with a number of no account as a deposit that waits", async () => {
      // M-Pesa asks about the references of orders, too. The service lets each such text pass.
      const receipt = await paid("A1B2C3D4E5F6");
      await eventually(async () => (await depositOf(receipt)) !== undefined);
      expect(await depositOf(receipt)).to.deep.equal({
        receipt,
        status: "UNALLOCATED",
        reason: "UNKNOWN_REFERENCE",
        amount_cents: AMOUNT_CENTS,
        account_id: null,
        has_typed: 1,
      });
    });

    for (const [first, names] of [
      ["push", "a push, then a payment by hand"],
      ["hand", "a payment by hand, then a push"],
    ] as const) {
      it(`credits each once: ${names}`, async () => {
        const account = await newAccount();
        const push = async (): Promise<void> => {
          await send("POST", "/transactions/mint", { account_id: account.id, amount: 100, reference: `push-${first}` });
          await world.pass(MINUTE_MILLIS);
        };
        if (first === "push") await push();
        const receipt = await paid(account.number);
        if (first === "hand") await push();
        await credited(receipt);
        await world.pass(READ_AGAIN_MILLIS);
        await isRead();
        const mints = await mintsOf(account);
        expect(mints.map(({ status, is_deposit }) => `${status} ${String(is_deposit)}`).sort()).to.deep.equal([
          "COMPLETED 0",
          "COMPLETED 1",
        ]);
        expect(new Set(mints.map(({ rail_receipt }) => rail_receipt)).size).to.equal(2);
      });
    }

    it("gives a push whose callback is lost its receipt, and makes no deposit of it", async () => {
      const account = await newAccount("05");
      await send("POST", "/transactions/mint", { account_id: account.id, amount: 100, reference: "lost-callback" });
      await world.pass(READ_AGAIN_MILLIS);
      const [receipt] = world.movedFor(business).filter(({ order }) => order?.msisdn.endsWith("05") === true);
      await eventually(async () => (await mintsOf(account))[0]?.status === "COMPLETED");
      expect(await depositOf(receipt?.number ?? "")).to.equal(undefined);
      expect(await mintsOf(account)).to.have.lengthOf(1);
    });

    it("books nothing for a forged confirmation", async () => {
      const account = await newAccount();
      const before = (await deposits()).length;
      expect((await pay(account.number, "07")).kind).to.equal("forged");
      await world.pass(READ_AGAIN_MILLIS);
      await isRead();
      expect(await deposits()).to.have.lengthOf(before);
      expect(await mintsOf(account)).to.deep.equal([]);
    });

    it("refuses what no account could get, before it moves", async () => {
      const frozen = await newAccount();
      await send("POST", `/accounts/${frozen.id}/freeze`, { reason: "fraud" });
      const closed = await newAccount();
      await send("POST", `/accounts/${closed.id}/close`, {});
      expect(await refusal(frozen.number)).to.equal("C2B00012");
      expect(await refusal(closed.number)).to.equal("C2B00012");
      expect(await refusal("20000000")).to.equal("C2B00012");
      expect(await refusal("")).to.equal("C2B00012");
      const { number } = await newAccount();
      expect(await refusal(number, MAX_CENTS + 1)).to.equal("C2B00013");
    });
  });
}
