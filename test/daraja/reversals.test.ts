import { expect } from "chai";

import { Client } from "./client.js";

const PAYMENT = { msisdn: "254700000049", amountCents: 1_000, accountReference: "acc" };
const BALANCE_CENTS = 100_000_000;

describe("a payer's reversal at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  it("sends the money back with a receipt of its own, and tells nobody", async () => {
    await client.registerUrls();
    const { number } = await client.daraja.deposit(PAYMENT);
    const reversal = await client.control("/reversals", { receipt: number });
    expect(reversal).to.include({
      status: 201,
      direction: "out",
      shortcode: "174379",
      phone_number: PAYMENT.msisdn,
      amount: 10,
      fee: 0,
      account_reference: "",
      reversed_receipt: number,
    });
    expect(reversal["receipt"]).not.to.equal(number);
    expect(client.daraja.receipts.at(-1)).to.include({ number: reversal["receipt"], balanceCents: BALANCE_CENTS });
    expect(client.daraja.organization).to.include({ utilityCents: BALANCE_CENTS, chargesCents: 0 });
    expect(client.daraja.mpesa.subscriber(PAYMENT.msisdn).balanceCents).to.equal(20_000_000);
    expect(client.received.map(({ path }) => path)).to.deep.equal(["/confirmations"]);
    expect(await (await fetch(client.daraja.url)).text()).to.contain(`<td>${number}</td></tr>`);
  });

  it("shows in the status of its own receipt, and not in that of the payment, nor in a list", async () => {
    const statusOf = async (TransactionID: unknown): Promise<Record<string, unknown>> => {
      await client.queryStatus({ TransactionID, OriginalConversationID: undefined });
      await client.clock.advance(2_000);
      const { Result } = client.lastAt("/callbacks/c0") as {
        Result: { ResultParameters: { ResultParameter: { Key: string; Value?: unknown }[] } };
      };
      return Object.fromEntries(Result.ResultParameters.ResultParameter.map(({ Key, Value }) => [Key, Value]));
    };
    const { number } = await client.daraja.deposit(PAYMENT);
    await client.registerPull();
    const listed = (await client.pull()).body?.["Response"];
    const before = await statusOf(number);
    const reversal = await client.control("/reversals", { receipt: number });
    expect((await client.pull()).body?.["Response"]).to.deep.equal(listed);
    expect(await statusOf(number)).to.deep.equal(before);
    expect(await statusOf(reversal["receipt"])).to.include({
      DebitPartyName: "174379 - Simulated Business",
      CreditPartyName: `${PAYMENT.msisdn} - JANE SIMULATED DOE`,
      DebitPartyCharges: "",
      ReasonType: "Reversal",
      TransactionStatus: "Completed",
      Amount: "10",
    });
  });

  it("refuses an unknown receipt, a payout, a second reversal, and money that has left the account", async () => {
    await client.payOut("254110000000");
    await client.clock.advance(5_000);
    const payout = client.daraja.receipts[0]?.number;
    const { number: first } = await client.daraja.deposit(PAYMENT);
    const { number: second } = await client.daraja.deposit(PAYMENT);
    await client.control("/reversals", { receipt: first });
    client.daraja.organization.utilityCents = 999;
    for (const [receipt, status, error] of [
      [7, 400, "receipt must be a text: the receipt of a customer's payment"],
      ["SA50000000", 404, "receipt SA50000000 is not that of a customer's payment"],
      [payout, 404, `receipt ${String(payout)} is not that of a customer's payment`],
      [first, 409, `receipt ${first} was reversed already`],
      [second, 409, `receipt ${second} has more money than its account holds now`],
    ] as const) {
      expect(await client.control("/reversals", { receipt })).to.include({ status, error });
    }
    expect(client.daraja.organization.utilityCents).to.equal(999);
  });
});

describe("a reversal by API at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  /** Asks for a reversal, and returns the result that comes as a callback. */
  async function resultOf(receipt: string, differing: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const answer = await client.reverse(receipt, { ...differing });
    expect(answer).to.deep.include({ status: 200 });
    expect(answer.body).to.include({ ResponseCode: "0" });
    await client.clock.advance(2_000);
    const { Result } = client.lastAt("/callbacks/e0") as { Result: Readonly<Record<string, unknown>> };
    expect(Result["ConversationID"]).to.equal(answer.body?.["ConversationID"]);
    return Result;
  }

  it("moves the money once, and tells its receipt", async () => {
    const { number } = await client.daraja.deposit(PAYMENT);
    const result = await resultOf(number);
    const reversal = client.daraja.receipts.at(-1);
    expect(reversal).to.include({ direction: "OUT", reversedReceipt: number, balanceCents: BALANCE_CENTS });
    expect(result).to.include({ ResultCode: 0, TransactionID: reversal?.number });
    const { ResultParameter } = result["ResultParameters"] as { ResultParameter: readonly object[] };
    expect(ResultParameter).to.deep.include.members([
      { Key: "Amount", Value: 10 },
      { Key: "OriginalTransactionID", Value: number },
    ]);
    expect(await resultOf(number)).to.include({ ResultCode: "R000001" });
    expect(client.daraja.receipts).to.have.lengthOf(2);
  });

  it("refuses an unknown receipt, another amount, an account that is short, and a wrong password", async () => {
    const { number } = await client.daraja.deposit(PAYMENT);
    expect(await resultOf("SA50000000")).to.include({ ResultCode: "R000002" });
    expect(await resultOf(number, { Amount: "9" })).to.include({ ResultCode: "R000002" });
    client.daraja.organization.utilityCents = 999;
    expect(await resultOf(number)).to.include({ ResultCode: 1 });
    expect(await resultOf(number, { Initiator: "other" })).to.include({ ResultCode: 2001 });
    expect(client.daraja.receipts).to.have.lengthOf(1);
  });

  for (const [ending, what] of [
    ["08", "answer"],
    ["15", "result"],
  ] as const) {
    it(`loses the ${what} for a payer with the ending ${ending}`, async () => {
      const { number } = await client.daraja.deposit({ ...PAYMENT, msisdn: `2547000000${ending}` });
      const answered = await client.reverse(number).then(
        () => true,
        () => false,
      );
      await client.clock.advance(2_000);
      expect(client.daraja.mpesa.isReversed(number)).to.equal(true);
      const isTold = client.received.some(({ path }) => path === "/callbacks/e0");
      expect([answered, isTold]).to.deep.equal(what === "answer" ? [false, true] : [true, false]);
    });
  }

  for (const field of ["CommandID", "TransactionID", "Amount", "ReceiverParty", "RecieverIdentifierType", "Remarks"]) {
    it(`refuses a request without ${field}`, async () => {
      const { status, body } = await client.reverse("SA50000000", { [field]: undefined });
      expect(status).to.equal(400);
      expect(body?.["errorMessage"]).to.equal(`Bad Request - Invalid ${field}`);
    });
  }
});
