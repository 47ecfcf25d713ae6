import { expect } from "chai";

import { newOrganization } from "../../daraja/mpesa/organization.js";
import { Client, type Differing, encrypted } from "./client.js";

const RESULT = "/callbacks/c0";

interface Result {
  Result: Record<string, unknown> & { ResultParameters: { ResultParameter: unknown } };
}

describe("the queries at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  /** The result that the last query got, two seconds later. */
  async function result(): Promise<Result["Result"]> {
    await client.clock.advance(2_000);
    return (client.lastAt(RESULT) as Result).Result;
  }

  describe("transaction status", () => {
    it("tells everything about a payout, by the id that the request gave it", async () => {
      const { body } = await client.payOut("254110000000");
      await client.clock.advance(5_000);
      const { body: acceptance } = await client.queryStatus();
      expect(acceptance).to.include({ ResponseCode: "0" });
      expect(acceptance?.["ConversationID"]).to.match(/^AG_20260105_/);
      const { ResultParameters, ...rest } = await result();
      expect(rest).to.include({ ResultType: 0, ResultCode: 0, ConversationID: acceptance?.["ConversationID"] });
      expect(rest["OriginatorConversationID"]).to.equal(acceptance?.["OriginatorConversationID"]);
      expect(ResultParameters.ResultParameter).to.deep.equal([
        { Key: "DebitPartyName", Value: "174379 - Simulated Business" },
        { Key: "CreditPartyName", Value: "254110000000 - JANE SIMULATED DOE" },
        { Key: "OriginatorConversationID", Value: "txn_1" },
        { Key: "InitiatedTime", Value: "20260105090000" },
        { Key: "DebitAccountType", Value: "Utility Account" },
        { Key: "DebitPartyCharges", Value: "Fee For B2C Payment|KES|22.40" },
        { Key: "TransactionReason" },
        { Key: "ReasonType", Value: "Business Payment to Customer via API" },
        { Key: "TransactionStatus", Value: "Completed" },
        { Key: "FinalisedTime", Value: "20260105090005" },
        { Key: "Amount", Value: "100" },
        { Key: "ConversationID", Value: body?.["ConversationID"] },
        { Key: "ReceiptNo", Value: client.daraja.receipts[0]?.number },
      ]);
    });

    it("accepts a query with an empty TransactionID beside the other id by nothing, and no result comes", async () => {
      await client.payOut("254110000000");
      await client.clock.advance(5_000);
      const { status, body } = await client.queryStatus({ TransactionID: "" });
      const names = ["OriginatorConversationID", "ConversationID", "ResponseCode", "ResponseDescription"];
      expect([status, body]).to.deep.equal([200, Object.fromEntries(names.map((name) => [name, ""]))]);
      const before = client.received.length;
      await client.clock.advance(60_000);
      expect(client.received).to.have.length(before);
    });

    it("finds a payout by the rail's id, and any payment by its receipt", async () => {
      const { body } = await client.payOut("254110000000");
      await client.push("254700000000", { Amount: 70 });
      await client.clock.advance(5_000);
      const deposit = await client.daraja.deposit({
        msisdn: "254700000000",
        amountCents: 5_000,
        accountReference: "x",
      });
      const amounts: unknown[] = [];
      for (const differing of [
        { OriginalConversationID: body?.["ConversationID"] },
        ...client.daraja.receipts.map(({ number }) => ({ TransactionID: number, OriginalConversationID: undefined })),
      ]) {
        await client.queryStatus(differing);
        const parameters = (await result()).ResultParameters.ResultParameter as { Key: string; Value: unknown }[];
        amounts.push(parameters.find(({ Key }) => Key === "Amount")?.Value);
      }
      expect(client.daraja.receipts.at(-1)).to.equal(deposit);
      expect(amounts).to.deep.equal(["100", "100", "70", "50"]);
    });

    it("names the shortcode as the party that was credited or debited, order or none", async () => {
      await client.payOut("254110000000");
      await client.push("254700000000");
      await client.clock.advance(5_000);
      await client.daraja.deposit({ msisdn: "254700000049", amountCents: 5_000, accountReference: "x" });
      const parties: unknown[] = [];
      for (const { number } of client.daraja.receipts) {
        await client.queryStatus({ TransactionID: number, OriginalConversationID: undefined });
        const parameters = (await result()).ResultParameters.ResultParameter as { Key: string; Value: unknown }[];
        parties.push(parameters.slice(0, 2).map(({ Value }) => Value));
      }
      const business = "174379 - Simulated Business";
      expect(parties).to.have.deep.members([
        [business, "254110000000 - JANE SIMULATED DOE"],
        ["254700000000 - JANE SIMULATED DOE", business],
        ["254700000049 - JANE SIMULATED DOE", business],
      ]);
    });

    it("has a code that is a text, and one parameter as an object, where nothing is found", async () => {
      await client.queryStatus();
      const { ResultCode, ResultParameters } = await result();
      expect(ResultCode).to.equal("R000002");
      expect(ResultParameters.ResultParameter).to.deep.equal({
        Key: "BOCompletedTime",
        Value: client.clock.nowMillis(),
      });
    });

    it("says nothing of the payment when the initiator is wrong", async () => {
      await client.payOut("254110000000");
      await client.clock.advance(5_000);
      await client.queryStatus({ SecurityCredential: encrypted("wrong") });
      const { ResultCode, ResultParameters } = await result();
      expect(ResultCode).to.equal(2001);
      expect(ResultParameters.ResultParameter).to.have.property("Key", "BOCompletedTime");
    });

    for (const [field, value] of [
      ["CommandID", "TransactionStatus"],
      ["TransactionID", { id: 1 }],
      ["PartyA", "600000"],
      ["IdentifierType", "1"],
      ["Remarks", ""],
      ["Initiator", undefined],
      ["SecurityCredential", undefined],
      ["ResultURL", "http://example.com"],
      ["QueueTimeOutURL", undefined],
    ] as const) {
      it(`is refused with ${field} ${JSON.stringify(value)}`, async () => {
        const { status, body } = await client.queryStatus({ [field]: value });
        expect(status).to.equal(400);
        expect(body).to.include({ errorCode: "400.002.02", errorMessage: `Bad Request - Invalid ${field}` });
      });
    }

    it("is refused without any id", async () => {
      const { body } = await client.queryStatus({ OriginalConversationID: undefined });
      expect(body).to.include({ errorMessage: "Bad Request - Invalid TransactionID" });
    });
  });

  describe("account balance", () => {
    it("lists each account in one text, with texts as its codes", async () => {
      await client.payOut("254110000000");
      await client.clock.advance(5_000);
      expect((await client.queryBalance()).status).to.equal(200);
      const { ResultType, ResultCode, ResultParameters } = await result();
      expect([ResultType, ResultCode]).to.deep.equal(["0", "0"]);
      expect(ResultParameters.ResultParameter).to.deep.equal([
        {
          Key: "AccountBalance",
          Value:
            "Working Account|KES|700000.00|700000.00|0.00|0.00&Float Account|KES|0.00|0.00|0.00|0.00&" +
            "Utility Account|KES|999900.00|999900.00|0.00|0.00&Charges Paid Account|KES|-22.40|-22.40|0.00|0.00&" +
            "Organization Settlement Account|KES|0.00|0.00|0.00|0.00",
        },
        { Key: "BOCompletedTime", Value: client.clock.nowMillis() },
      ]);
    });

    it("fails with a wrong initiator, and is refused with another shortcode", async () => {
      await client.queryBalance({ Initiator: "somebody" });
      expect((await result())["ResultCode"]).to.equal("2001");
      expect((await client.queryBalance({ PartyA: "600000" })).status).to.equal(400);
    });
  });

  it("keep organizations apart, each with its own initiator", async () => {
    const one = newOrganization();
    const two = newOrganization({ shortcode: "600000", consumerKey: "two", initiatorName: "initiator-two" });
    const both = await Client.start({ organizations: [one, two] });
    try {
      await both.payOut("254110000000");
      await both.clock.advance(5_000);
      const deposit = { msisdn: "254700000049", amountCents: 100, accountReference: "x" };
      const { number: receiptOfTwo } = await both.daraja.deposit({ ...deposit, shortcode: "600000" });
      const { body } = await both.authorize({
        authorization: `Basic ${Buffer.from("two:simulated-consumer-secret").toString("base64")}`,
      });
      const askAsTwo = async (differing: Differing): Promise<unknown> => {
        const about = { PartyA: "600000", Initiator: "initiator-two", OriginalConversationID: undefined };
        const answer = await both.queryStatus({ ...about, ...differing }, String(body?.["access_token"]));
        expect(answer.status).to.equal(200);
        await both.clock.advance(2_000);
        return (both.lastAt(RESULT) as Result).Result["ResultCode"];
      };
      expect(await askAsTwo({ OriginalConversationID: "txn_1" })).to.equal("R000002");
      expect(await askAsTwo({ TransactionID: both.daraja.receipts[0]?.number })).to.equal("R000002");
      expect(await askAsTwo({ TransactionID: receiptOfTwo })).to.equal(0);
      expect(await askAsTwo({ TransactionID: receiptOfTwo, Initiator: one.initiatorName })).to.equal(2001);
      expect([one.utilityCents, two.utilityCents]).to.deep.equal([99_990_000, 100_000_100]);
    } finally {
      await both.close();
    }
  });
});
