import { expect } from "chai";

import { newOrganization } from "../../daraja/mpesa/organization.js";
import { Client, encrypted } from "./client.js";

const PHONE = "254110000000";
const CALLBACK = "/callbacks/b0";

interface Result {
  Result: { ResultCode: unknown; TransactionID: string; ResultParameters?: { ResultParameter: Parameters } };
}

/** Several, or one as an object. */
type Parameters = { Key: string; Value?: unknown }[] | { Key: string; Value?: unknown };

function resultCodesOf(client: Client, path = CALLBACK): unknown[] {
  return client.received
    .filter((callback) => callback.path === path)
    .map(({ body }) => (JSON.parse(body) as Result).Result.ResultCode);
}

describe("B2C at the simulator", () => {
  let client: Client;

  beforeEach(async () => {
    client = await Client.start();
  });

  afterEach(() => client.close());

  /** What a status query says of the payout, two seconds later. */
  async function statusOf(differing = {}): Promise<unknown> {
    expect((await client.queryStatus(differing)).status).to.equal(200);
    await client.clock.advance(2_000);
    const parameters = (client.lastAt("/callbacks/c0") as Result).Result.ResultParameters?.ResultParameter;
    return Array.isArray(parameters) ? parameters.find(({ Key }) => Key === "TransactionStatus")?.Value : parameters;
  }

  describe("a request", () => {
    it("is answered with the rail's id and ours, before anything has moved", async () => {
      const { status, body } = await client.payOut(PHONE);
      expect(status).to.equal(200);
      expect(body).to.include({ OriginatorConversationID: "txn_1", ResponseCode: "0" });
      expect(body?.["ConversationID"]).to.match(/^AG_20260105_2010[0-9a-f]{16}$/);
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    for (const [field, value] of [
      ["OriginatorConversationID", undefined],
      ["InitiatorName", ""],
      ["SecurityCredential", "plain text"],
      ["SecurityCredential", undefined],
      ["CommandID", "BusinessPayBill"],
      ["Amount", "10.50"],
      ["Amount", 0],
      ["PartyA", "600000"],
      ["PartyB", "254200000000"],
      ["Remarks", "x"],
      ["Remarks", "x".repeat(101)],
      ["QueueTimeOutURL", "https://example.com/sql"],
      ["ResultURL", "https://safaricom.example.com"],
      ["ResultURL", undefined],
      ["Occassion", "x".repeat(101)],
    ] as const) {
      it(`is refused with ${field} ${String(value)}`, async () => {
        const { status, body } = await client.payOut(PHONE, { [field]: value });
        expect(status).to.equal(400);
        expect(body).to.include({ errorCode: "400.002.02", errorMessage: `Bad Request - Invalid ${field}` });
        expect(client.daraja.orders).to.deep.equal([]);
      });
    }

    it("is refused as a duplicate when its id was seen before, whatever else it says", async () => {
      await client.payOut(PHONE);
      await client.clock.advance(86_400_000);
      await client.renewToken();
      const { status, body } = await client.payOut("254110000020", { Amount: 50 });
      expect(status).to.equal(500);
      expect(body).to.include({ errorCode: "500.002.1001", errorMessage: "Duplicate OriginatorConversationID." });
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("is executed again when the rail has forgotten its id, and both are counted", async () => {
      const forgetful = await Client.start({ idMemoryMillis: 60_000 });
      try {
        await forgetful.payOut(PHONE);
        await forgetful.clock.advance(60_000);
        expect((await forgetful.payOut(PHONE)).status).to.equal(200);
        await forgetful.clock.advance(5_000);
        expect(forgetful.daraja.orders).to.have.length(2);
        expect(forgetful.daraja.receipts).to.have.length(2);
      } finally {
        await forgetful.close();
      }
    });
  });

  describe("the initiator", () => {
    it("is refused by the result: its name, its password, or a credential for another key", async () => {
      const wrong = [
        { InitiatorName: "somebody" },
        { SecurityCredential: encrypted("wrong") },
        { SecurityCredential: Buffer.alloc(256, 255).toString("base64") },
      ];
      for (const [i, differing] of wrong.entries()) {
        client.daraja.organization.wrongPasswords = 0;
        const answer = await client.payOut(PHONE, { OriginatorConversationID: `txn_${String(i)}`, ...differing });
        expect(answer.status).to.equal(200);
      }
      await client.clock.advance(2_000);
      expect(resultCodesOf(client)).to.deep.equal([2001, 2001, 2001]);
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    it("is locked after three wrong passwords in a row, even for the right one", async () => {
      const wrong = { SecurityCredential: encrypted("wrong") };
      for (const id of ["1", "2", "3"]) await client.payOut(PHONE, { OriginatorConversationID: id, ...wrong });
      await client.payOut(PHONE, { OriginatorConversationID: "4" });
      await client.clock.advance(60_000);
      expect(resultCodesOf(client)).to.deep.equal([2001, 2001, 2001, 8006]);
    });

    it("has its count set back by a right password", async () => {
      const wrong = { SecurityCredential: encrypted("wrong") };
      for (const id of ["1", "2"]) await client.payOut(PHONE, { OriginatorConversationID: id, ...wrong });
      await client.payOut(PHONE, { OriginatorConversationID: "3" });
      expect(client.daraja.organization.wrongPasswords).to.equal(0);
    });
  });

  describe("M-Pesa's own rules", () => {
    for (const [name, amount, options, code] of [
      ["below 10", 9, {}, 2],
      ["above 250,000", 250_001, {}, 3],
      ["beyond the recipient's balance of 500,000", 100, { subscriberCents: 49_990_001 }, 8],
      ["beyond the utility account", 100, { organizations: [newOrganization({ utilityCents: 9_999 })] }, 1],
    ] as const) {
      it(`end an amount ${name} with ${String(code)}`, async () => {
        const other = await Client.start(options);
        try {
          await other.payOut(PHONE, { Amount: amount });
          await other.clock.advance(5_000);
          expect(resultCodesOf(other)).to.deep.equal([code]);
          expect(other.daraja.receipts).to.deep.equal([]);
        } finally {
          await other.close();
        }
      });
    }

    it("end more than 500,000 a day to one recipient with 4", async () => {
      client.daraja.mpesa.subscriber(PHONE).balanceCents = -100_000_000;
      for (const amount of [250_000, 249_990, 11, 10]) {
        await client.payOut(PHONE, { Amount: amount, OriginatorConversationID: String(amount) });
        await client.clock.advance(5_000);
      }
      expect(resultCodesOf(client)).to.deep.equal([0, 0, 4, 0]);
    });
  });

  describe("the phone's ending", () => {
    it("00: the recipient is paid", async () => {
      const { body } = await client.payOut(PHONE);
      const before = { ...client.daraja.organization };
      await client.clock.advance(5_000);
      const [receipt] = client.daraja.receipts;
      expect(receipt).to.include({ direction: "OUT", msisdn: PHONE, amountCents: 10_000, feeCents: 2_240 });
      expect(client.daraja.organization).to.include({
        utilityCents: before.utilityCents - 10_000,
        chargesCents: before.chargesCents - 2_240,
        workingCents: before.workingCents,
      });
      expect(client.daraja.mpesa.subscriber(PHONE).balanceCents).to.equal(20_000_000 + 10_000);
      expect(client.lastAt(CALLBACK)).to.deep.equal({
        Result: {
          ResultType: 0,
          ResultCode: 0,
          ResultDesc: "The service request is processed successfully.",
          OriginatorConversationID: "txn_1",
          ConversationID: body?.["ConversationID"],
          TransactionID: receipt?.number,
          ResultParameters: {
            ResultParameter: [
              { Key: "TransactionAmount", Value: 100 },
              { Key: "TransactionReceipt", Value: receipt?.number },
              { Key: "ReceiverPartyPublicName", Value: `${PHONE} - JANE SIMULATED DOE` },
              { Key: "TransactionCompletedDateTime", Value: "05.01.2026 09:00:05" },
              { Key: "B2CUtilityAccountAvailableFunds", Value: 999_900 },
              { Key: "B2CWorkingAccountAvailableFunds", Value: 700_000 },
              { Key: "B2CRecipientIsRegisteredCustomer", Value: "Y" },
              { Key: "B2CChargesPaidAccountAvailableFunds", Value: -22.4 },
            ],
          },
          ReferenceData: { ReferenceItem: { Key: "QueueTimeoutURL", Value: client.urlOf("/timeouts/b0") } },
        },
      });
      expect(await statusOf()).to.equal("Completed");
    });

    for (const [ending, code] of [
      ["01", 2040],
      ["02", 8],
      ["03", 1],
      ["04", 2001],
    ] as const) {
      it(`${ending}: fails with ${String(code)}, and has a transaction id all the same`, async () => {
        await client.payOut(`2541100000${ending}`);
        await client.clock.advance(5_000);
        expect(resultCodesOf(client)).to.deep.equal([code]);
        const { Result } = client.lastAt(CALLBACK) as Result;
        expect(Result.TransactionID).to.match(/^UA5[0-9A-Z]{7}$/);
        expect(Result).not.to.have.property("ResultParameters");
        expect(client.daraja.receipts).to.deep.equal([]);
        expect(await statusOf()).to.equal("Declined");
      });
    }

    it("05: the result is lost, and the status query knows", async () => {
      await client.payOut("254110000005");
      await client.clock.advance(600_000);
      expect(client.received).to.deep.equal([]);
      expect(await statusOf()).to.equal("Completed");
    });

    it("06: the result comes twice", async () => {
      await client.payOut("254110000006");
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0, 0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("07: the result comes before the answer", async () => {
      const { body } = await client.payOut("254110000007");
      expect(client.lastAt(CALLBACK)).to.have.nested.property("Result.ConversationID", body?.["ConversationID"]);
    });

    it("08: the answer is lost; a second request is a duplicate, and one is paid", async () => {
      const failure = await client.payOut("254110000008").catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(TypeError);
      expect((await client.payOut("254110000008")).body?.["errorCode"]).to.equal("500.002.1001");
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("09: a spike arrest once, after which the same id is new", async () => {
      const { status, body } = await client.payOut("254110000009");
      expect([status, body?.["errorCode"]]).to.deep.equal([500, "500.003.02"]);
      expect((await client.payOut("254110000009")).status).to.equal(200);
    });

    it("10: the token becomes invalid once, until it is renewed", async () => {
      const { status, body } = await client.payOut("254110000010");
      expect([status, body?.["errorCode"]]).to.deep.equal([401, "401.002.01"]);
      expect((await client.payOut("254110000010")).status).to.equal(401);
      await client.renewToken();
      expect((await client.payOut("254110000010")).status).to.equal(200);
    });

    it("11: open for three status queries, then paid", async () => {
      await client.payOut("254110000011");
      const statuses = [await statusOf(), await statusOf(), await statusOf(), await statusOf()];
      expect(statuses).to.deep.equal(["Initiated", "Authorized", "Initiated", "Completed"]);
      expect(client.daraja.receipts).to.have.length(1);
      await client.clock.advance(0);
      expect(resultCodesOf(client)).to.deep.equal([0]);
    });

    it("12: fails and expires, and is paid after three minutes", async () => {
      await client.payOut("254110000012");
      await client.clock.advance(5_000);
      expect(await statusOf()).to.equal("Expired");
      await client.clock.advance(180_000);
      expect(await statusOf()).to.equal("Completed");
      expect(resultCodesOf(client)).to.deep.equal([2006, 0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    it("13: only the queue's timeout comes, with the request's own body, and the money has moved", async () => {
      await client.payOut("254110000013");
      await client.clock.advance(5_000);
      expect(client.received.map(({ path }) => path)).to.deep.equal(["/timeouts/b0"]);
      expect(client.lastAt("/timeouts/b0")).to.include({ OriginatorConversationID: "txn_1", PartyB: "254110000013" });
      expect(await statusOf()).to.equal("Completed");
    });

    it("14: declined, which only the status query tells", async () => {
      await client.payOut("254110000014");
      await client.clock.advance(600_000);
      expect(client.received).to.deep.equal([]);
      expect(await statusOf()).to.equal("Declined");
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    it("15: the result is malformed, and the status query knows", async () => {
      await client.payOut("254110000015");
      await client.clock.advance(5_000);
      expect(() => client.lastAt(CALLBACK)).to.throw(SyntaxError);
      expect(await statusOf()).to.equal("Completed");
    });

    it("16: a forger claims success with a wrong token, and the payout fails", async () => {
      await client.payOut("254110000016");
      await client.clock.advance(5_000);
      expect(client.received.map(({ path }) => path)).to.deep.equal(["/callbacks/b1", CALLBACK]);
      expect([...resultCodesOf(client, "/callbacks/b1"), ...resultCodesOf(client)]).to.deep.equal([0, 2040]);
      expect(client.daraja.receipts).to.deep.equal([]);
    });

    it("17: the answer is malformed, and the result comes", async () => {
      expect(await client.payOut("254110000017")).to.deep.equal({ status: 200, body: undefined });
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
    });

    it("19: the answer is HTTP 500; a second request is a duplicate, and one is paid", async () => {
      const { status, body } = await client.payOut("254110000019");
      expect([status, body?.["errorCode"]]).to.deep.equal([500, "500.003.1001"]);
      expect((await client.payOut("254110000019")).body?.["errorCode"]).to.equal("500.002.1001");
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(client.daraja.receipts).to.have.length(1);
    });

    for (const [ending, statuses] of [
      ["20", [401, 401]],
      ["22", [403, 200]],
    ] as const) {
      it(`${ending}: the gateway answers ${statuses.join(", then ")}`, async () => {
        const answers = [await client.payOut(`2541100000${ending}`), await client.payOut(`2541100000${ending}`)];
        expect(answers.map(({ status }) => status)).to.deep.equal(statuses);
      });
    }

    it("26: nothing is ever paid or told, and a status query says 2033", async () => {
      await client.payOut("254110000026");
      await client.clock.advance(600_000);
      expect(resultCodesOf(client)).to.deep.equal([]);
      await client.queryStatus();
      await client.clock.advance(2_000);
      expect(client.lastAt("/callbacks/c0")).to.have.nested.property("Result.ResultCode", 2033);
    });

    it("29: the id was seen before", async () => {
      await client.payOut("254110000029");
      await client.clock.advance(5_000);
      expect(resultCodesOf(client)).to.deep.equal([15]);
    });

    it("24: too many requests once, after which the same id is new", async () => {
      expect((await client.payOut("254110000024")).status).to.equal(429);
      expect((await client.payOut("254110000024")).status).to.equal(200);
    });

    it("18: a forger with the right token claims success, and the status query knows better", async () => {
      await client.payOut("254110000018");
      await client.clock.advance(600_000);
      expect(resultCodesOf(client)).to.deep.equal([0]);
      expect(await statusOf()).to.equal("Declined");
      expect(client.daraja.receipts).to.deep.equal([]);
    });
  });
});
